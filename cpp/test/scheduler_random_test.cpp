// SPDX-License-Identifier: Apache-2.0
// The trace is the same for any number of workers, and whatever the order they work in.
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "check.hpp"
#include "program.hpp"
#include "random_program.hpp"
#include "reactorl/scheduler.hpp"

using namespace reactorl;

namespace {

struct Outcome {
  Status status;
  Tag last;
  std::vector<std::int64_t> words;
  std::vector<std::int64_t> numbers;
  auto operator==(const Outcome&) const -> bool = default;
};

auto outcome(RandomProgram& random, WorkerId workers, std::uint64_t shuffle, Time timeout,
             std::uint64_t& phases, bool one_at_a_time = false) -> Outcome {
  random.rewind();
  Session session(random.program, workers,
                  {.fast = true,
                   .trace = true,
                   .one_at_a_time = one_at_a_time,
                   .timeout = timeout,
                   .start = 0,
                   .shuffle = shuffle});
  const Status status = session.run();
  phases += session.scheduler.phases_shared();
  return {status, session.scheduler.tag(), session.trace(), session.traced_numbers()};
}

}  // namespace

TEST(any_number_of_workers_gives_the_same_trace) {
  std::size_t words = 0;
  std::uint64_t phases = 0;
  std::uint64_t unused = 0;
  for (int seed = 0; seed < check::scaled(40, 10); ++seed) {
    RandomProgram random(static_cast<std::uint64_t>(seed));
    const Outcome expected = outcome(random, 1, 0, 30, unused);
    CHECK(expected.status == Status::kFinished);
    words += expected.words.size();
    for (const WorkerId workers : {1U, 2U, 4U, 8U}) {
      for (std::uint64_t shuffle = 0; shuffle < (workers < 4 ? 4 : 2); ++shuffle) {
        const Outcome actual = outcome(random, workers, shuffle, 30, phases);
        if (actual == expected) continue;
        std::fprintf(stderr, "program %d, workers %u, shuffle %llu\n", seed, workers,
                     static_cast<unsigned long long>(shuffle));
        CHECK(actual == expected);
      }
    }
    CHECK(outcome(random, 3, 5, 30, phases, true) == expected);
    CHECK_EQ(Counted::live.load(), 0);
  }
  // Or the test says little.
  CHECK(words > 10'000);
  CHECK(phases > 1000);
}

TEST(the_same_program_can_run_at_once_in_two_places) {
  for (int seed = 1000; seed < 1000 + check::scaled(10, 4); ++seed) {
    const auto run = [&](Outcome& result) {
      RandomProgram random(static_cast<std::uint64_t>(seed));
      std::uint64_t phases = 0;
      result = outcome(random, 2, 3, 30, phases);
    };
    Outcome one;
    Outcome two;
    std::thread other([&] { run(two); });
    run(one);
    other.join();

    CHECK(one == two);
  }
}

TEST(helpers_come_when_work_is_worth_it) {
  // Each of 8 reactors works for 100 us at each of 200 tags.
  Program program;
  const auto timer = program.timer(0, 1);
  for (ReactorId r = 0; r < 8; ++r) {
    program.react({.reactor = r, .triggers = {program.of(timer)}, .body = [](Body&) {
                     const Time until = Clock::ticks_now() + 100'000;
                     while (Clock::ticks_now() < until) pause_briefly();
                   }});
  }
  Session session(program, 2, {.fast = true, .timeout = 199, .start = 0});

  CHECK(session.run() == Status::kFinished);
  CHECK(session.scheduler.phases_shared() > 1);
  CHECK_EQ(session.scheduler.events_delivered(), std::uint64_t{200});
}

TEST(a_long_reaction_does_not_hold_up_what_is_independent_of_it) {
  Program program;
  const auto timer = program.timer(0, 1);
  std::atomic<bool> long_runs{false};
  std::atomic<int> beside{0};  // tags whose chain ended while the long reaction ran
  int tags = 0;
  program.react({.reactor = 0, .triggers = {program.of(timer)}, .body = [&](Body&) {
                   // Longer at each tag: the other worker needs time on a busy machine.
                   const Time until = Clock::ticks_now() + (20'000'000LL << tags++);
                   long_runs = true;
                   do {
                     std::this_thread::sleep_for(std::chrono::milliseconds(20));
                   } while (beside.load() == 0 && Clock::ticks_now() < until);
                   long_runs = false;
                 }});
  for (int i = 0; i < 5; ++i) {
    program.react({.reactor = 1, .triggers = {program.of(timer)}, .body = [&, i](Body&) {
                     if (i == 4 && long_runs) ++beside;
                   }});
  }
  Session session(program, 2, {.fast = true, .timeout = 12, .start = 0});

  CHECK(session.run() == Status::kFinished);
  CHECK(beside.load() > 0);
}
