// SPDX-License-Identifier: Apache-2.0
// Bodies that fail, runs that are broken off, deadlines that are missed.
#include <atomic>
#include <chrono>
#include <set>
#include <thread>
#include <vector>

#include "check.hpp"
#include "program.hpp"
#include "reactorl/scheduler.hpp"

using namespace reactorl;

namespace {

void sleep_ms(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

}  // namespace

TEST(the_failure_to_report_does_not_depend_on_timing) {
  // Two levels of eight reactions; several fail, with delays that differ.
  for (int round = 0; round < check::scaled(60, 20); ++round) {
    check::Dice dice(static_cast<std::uint64_t>(round));
    Program program;
    const auto timer = program.timer(0, 1);
    std::set<ReactionId> failing;
    std::vector<SlotId> outs;
    std::atomic<int> ran{0};
    for (ReactorId r = 0; r < 8; ++r) {
      outs.push_back(program.slot());
      const bool fails = dice.chance(30);
      const std::uint32_t work = dice.below(3000);
      const auto id = program.react({.reactor = r,
                                     .triggers = {program.of(timer)},
                                     .effects = {outs[r]},
                                     .body = [=, &ran, out = outs[r]](Body& b) {
                                       for (auto i = work; i > 0; --i) pause_briefly();
                                       b.set(out, 1);
                                       ++ran;
                                       if (fails && b.tag().time == 3) b.fail();
                                     }});
      if (fails) failing.insert(id);
    }
    const bool last_fails = dice.chance(70);
    const auto last =
        program.react({.reactor = 8, .triggers = outs, .body = [=](Body& b) {
                         if (last_fails && b.tag().time == 3) b.fail();
                       }});
    const ReactionId expected = !failing.empty() ? *failing.begin()
                                : last_fails     ? last
                                                 : kNone;
    std::vector<std::int64_t> trace;
    for (const Setting& setting : kSettings) {
      Options options = setting.options();
      options.timeout = 5;
      ran = 0;
      Session session(program, setting.workers, options);
      const Status status = session.run();

      CHECK(status == (expected == kNone ? Status::kFinished : Status::kFailed));
      CHECK_EQ(session.host.failure(), expected);
      if (trace.empty()) trace = session.trace();
      CHECK_EQ(session.trace(), trace);  // it ends with the failure that is reported
      if (expected != kNone) {
        CHECK_EQ(session.scheduler.tag(), (Tag{3, 0}));
        // Whatever precedes the failure has run.
        CHECK(ran.load() >=
              3 * 8 + static_cast<int>(std::min<std::uint32_t>(expected, 7)));
        CHECK(session.scheduler.run() == Status::kFailed);  // and nothing more does
        CHECK(session.scheduler.finish() == Status::kFailed);
        CHECK(session.scheduler.step({9, 0}, {}) == Status::kFailed);
      }
    }
  }
  CHECK_EQ(Counted::live.load(), 0);
}

TEST(what_depends_on_a_failure_does_not_run) {
  for (const Setting& setting : kSettings) {
    Program program;
    bool after = false;
    const SlotId out = program.slot();
    program.at_start(0, {out}, [=](Body& b) {
      b.set(out, 1);
      b.fail();
    });
    program.react(
        {.reactor = 1, .triggers = {out}, .body = [&](Body&) { after = true; }});
    program.on_shutdown(program.react({.body = [&](Body&) { after = true; }}));
    Session session(program, setting.workers, setting.options());

    CHECK(session.run() == Status::kFailed);
    CHECK(!after);
  }
}

TEST(breaking_off_from_outside_ends_an_endless_run) {
  for (const WorkerId workers : {1U, 4U}) {
    Program program;
    const auto timer = program.timer(0, 1);
    std::atomic<int> ticks{0};
    for (ReactorId r = 0; r < 4; ++r) {
      program.react({.reactor = r, .triggers = {program.of(timer)}, .body = [&](Body&) {
                       ++ticks;
                     }});
    }
    Session session(program, workers, {.fast = true, .start = 0, .shuffle = workers});
    std::thread other([&] {
      while (ticks.load() < 1000) std::this_thread::yield();
      session.scheduler.break_off();
    });

    CHECK(session.run() == Status::kBrokenOff);
    other.join();
    CHECK(session.scheduler.run() == Status::kBrokenOff);
  }
}

TEST(breaking_off_wakes_an_idle_run) {
  Program program;
  Session session(program, 2, {.keepalive = true});
  std::thread other([&] {
    sleep_ms(5);
    session.scheduler.break_off();
  });

  CHECK(session.run() == Status::kBrokenOff);
  other.join();
}

TEST(a_signal_breaks_off_while_all_workers_are_busy) {
  // Worker 0 waits for the others, which end only when they are hurried.
  for (const WorkerId workers : {2U, 4U}) {
    Program program;
    std::atomic<bool> go{false};
    std::atomic<int> skipped{0};
    for (ReactorId r = 0; r < 8; ++r) {
      program.at_start(r, {}, [&, workers](Body& b) {
        if (b.reaction() < workers && b.worker() != 0) {
          while (!go.load()) sleep_ms(1);
        } else {
          ++skipped;
        }
      });
    }
    Session session(program, workers, {.fast = true, .start = 0});
    int polls = 0;
    session.host.on_poll = [&] {
      if (session.host.hurried > 0) go.store(true);
      return ++polls < 2;
    };

    CHECK(session.run() == Status::kBrokenOff);
    CHECK(session.host.hurried > 0 || polls < 2);
  }
}

TEST(polling_false_between_tags_breaks_off) {
  Program program;
  const auto timer = program.timer(0, 1);
  int ticks = 0;
  program.react({.triggers = {program.of(timer)}, .body = [&](Body&) { ++ticks; }});
  Session session(program);
  int polls = 0;
  session.host.on_poll = [&] { return ++polls < 10; };

  CHECK(session.run() == Status::kBrokenOff);
  CHECK_EQ(ticks, 10);
}

TEST(deadlines_are_asked_once_before_the_start) {
  for (const Setting& setting : kSettings) {
    Program program;
    std::vector<std::int64_t> seen;
    const auto timer = program.timer(0, 10);
    const auto reaction = program.react({.triggers = {program.of(timer)},
                                         .body =
                                             [&](Body& b) {
                                               seen.push_back(b.tag().time + b.missed());
                                               if (b.tag().time == 20) {
                                                 b.scheduler().change_deadline(0, 9);
                                               }
                                             },
                                         .deadline = 7});
    program.react({.reactor = 1, .triggers = {program.of(timer)}});
    Options options = setting.options();
    options.timeout = 40;
    Session session(program, setting.workers, options);
    std::vector<Time> asked;
    session.host.lateness = [&](ReactionId r, Time due) {
      CHECK_EQ(r, reaction);
      asked.push_back(due);
      return due == 17 || due == 49 ? Lateness::kLate : Lateness::kOnTime;
    };

    CHECK(session.run() == Status::kFinished);
    CHECK_EQ(asked, (std::vector<Time>{7, 17, 27, 39, 49}));
    CHECK_EQ(seen, (std::vector<std::int64_t>{0, 11, 20, 30, 41}));
    CHECK_EQ(session.scheduler.deadline(reaction), 9);
  }
}

TEST(a_deadline_of_zero_is_always_missed_and_traced) {
  Program program;
  bool missed = false;
  const auto reaction =
      program.react({.body = [&](Body& b) { missed = b.missed(); }, .deadline = 0});
  program.on_startup(reaction);
  Session session(program);
  session.host.lateness = [](ReactionId, Time) {
    CHECK(false);  // not asked
    return Lateness::kOnTime;
  };
  session.run();

  CHECK(missed);
  CHECK_EQ(session.trace()[4], 1);  // the flag of a missed deadline
}

TEST(a_deadline_beyond_all_time_does_not_overflow) {
  Program program;
  const auto timer = program.timer(5);
  program.react({.triggers = {program.of(timer)}, .body = {}, .deadline = kForever});
  Session session(program);
  session.host.lateness = [](ReactionId, Time due) {
    CHECK_EQ(due, kForever);
    return Lateness::kOnTime;
  };

  CHECK(session.run() == Status::kFinished);
}

TEST(a_reaction_fails_without_running_if_its_lateness_cannot_be_determined) {
  for (const Setting& setting : kSettings) {
    Program program;
    int ran = 0;
    const auto timer = program.timer(0, 10);
    program.react(
        {.triggers = {program.of(timer)}, .body = [&](Body&) { ++ran; }, .deadline = 7});
    Options options = setting.options();
    options.timeout = 40;
    Session session(program, setting.workers, options);
    session.host.lateness = [](ReactionId, Time due) {
      return due == 27 ? Lateness::kFailed : Lateness::kOnTime;
    };

    CHECK(session.run() == Status::kFailed);
    CHECK_EQ(session.scheduler.tag(), (Tag{20, 0}));
    CHECK_EQ(ran, 2);
  }
}
