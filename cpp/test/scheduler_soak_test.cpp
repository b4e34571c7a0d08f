// SPDX-License-Identifier: Apache-2.0
// A million tags with eight workers: no event is lost, no value is left over.
#include <atomic>
#include <thread>
#include <vector>

#include "check.hpp"
#include "program.hpp"
#include "reactorl/scheduler.hpp"
#include "reactorl/worker_pool.hpp"

using namespace reactorl;

namespace {

constexpr ReactorId kClients = 8;

/// A server that sends a number to all clients at every tick and adds up what comes
/// back, at once from some and after a delay from the others; and a chain of events of
/// its own.
class Star {
 public:
  /// Every `busy` rounds the clients have enough work for helpers to be called.
  Star(std::int64_t rounds, std::int64_t busy) : rounds_(rounds) {
    const auto timer = program.timer(0, 10);
    const auto chain = program.action(10);
    const SlotId ask = program.slot();
    program.react({.triggers = {program.of(timer)},
                   .effects = {ask},
                   .body = [=](Body& b) { b.set(ask, b.tag().time / 10); }});
    std::vector<SlotId> answers;
    for (ReactorId c = 1; c <= kClients; ++c) {
      const SlotId answer = program.slot();
      program.react(
          {.reactor = c, .triggers = {ask}, .effects = {answer}, .body = [=](Body& b) {
             const std::int64_t round = b.get(ask);
             if (round % busy == 0) work();
             b.set(answer, round * c);
           }});
      answers.push_back(c % 2 == 0 ? answer : program.after(answer, 10));
    }
    program.react({.triggers = answers, .body = [=, this](Body& b) {
                     for (const SlotId slot : answers) {
                       if (b.present(slot)) sum += b.get(slot), ++received;
                     }
                     peak = std::max(peak, Counted::live.load());
                   }});
    program.at_start(kClients + 1, {}, [=](Body& b) { b.schedule(chain, 0, 1); });
    program.react({.reactor = kClients + 1,
                   .triggers = {program.of(chain)},
                   .body = [=, this](Body& b) {
                     const std::int64_t number = b.get(program.of(chain));
                     CHECK_EQ(number, b.tag().time / 10);
                     last_in_chain = number;
                     b.schedule(chain, 0, number + 1);
                   }});
  }
  Star(const Star&) = delete;
  auto operator=(const Star&) -> Star& = delete;

  void check() const {
    // Delayed answers of the last round come after the end.
    const std::int64_t last = rounds_ - 1;
    const std::int64_t now = last * (last + 1) / 2;
    const std::int64_t before = now - last;
    CHECK_EQ(sum, now * (2 + 4 + 6 + 8) + before * (1 + 3 + 5 + 7));
    CHECK_EQ(received, kClients / 2 * (rounds_ + last));
    CHECK_EQ(last_in_chain, last);
    CHECK(peak < 100);
  }

  Program program;
  std::int64_t sum = 0;
  std::int64_t received = 0;
  std::int64_t last_in_chain = 0;
  std::int64_t peak = 0;  // of values alive

 private:
  static void work() {
    for (int i = 0; i < 400; ++i) pause_briefly();
  }
  std::int64_t rounds_;
};

void soak(std::int64_t rounds, std::int64_t busy, std::uint64_t shuffle) {
  {
    Star star(rounds, busy);
    Session session(
        star.program, 8,
        {.fast = true, .timeout = 10 * (rounds - 1), .start = 0, .shuffle = shuffle});

    CHECK(session.run() == Status::kFinished);
    CHECK_EQ(session.scheduler.tags_run(), static_cast<std::uint64_t>(rounds));
    star.check();
  }
  CHECK_EQ(Counted::live.load(), 0);
}

}  // namespace

TEST(a_million_tags) { soak(check::scaled(1'000'000, 30'000), 200, 0); }

TEST(many_tags_with_all_workers_called_at_each) { soak(check::scaled(1000, 300), 50, 7); }

TEST(many_tags_among_events_from_other_threads) {
  const int each = check::scaled(20'000, 1000);
  const std::int64_t rounds = check::scaled(200'000, 10'000);
  Star star(rounds, 500);
  const auto action = star.program.physical();
  std::atomic<std::int64_t> arrived{0};
  star.program.react({.reactor = 90,
                      .triggers = {star.program.of(action)},
                      .body = [&](Body&) { ++arrived; }});
  Session session(
      star.program, 8,
      {.fast = true, .keepalive = true, .timeout = 10 * (rounds - 1), .start = 0});
  CHECK(session.scheduler.start() == Status::kRunning);
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < each; ++i) {
        session.scheduler.schedule_physical(action, 0, Value());
      }
    });
  }
  CHECK(session.scheduler.run() == Status::kFinished);
  for (std::thread& thread : threads) thread.join();

  // Stamps beyond the end are lost, as they must be; nothing else is.
  star.check();
  CHECK(arrived.load() <= 2 * each);
}
