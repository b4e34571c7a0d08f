// SPDX-License-Identifier: Apache-2.0
// Programs that are steered from outside, and runs that repeat a recording.
#include <utility>
#include <vector>

#include "check.hpp"
#include "program.hpp"
#include "reactorl/scheduler.hpp"

using namespace reactorl;

namespace {

using Inputs = std::vector<std::pair<SlotId, Value>>;

auto inputs(SlotId slot, std::int64_t number) -> Inputs {
  Inputs all;
  all.emplace_back(slot, Counted::make(number));
  return all;
}

/// Doubles its input at once, and once more a microstep later.
struct Doubler {
  Doubler() {
    in = program.slot();
    out = program.slot();
    again = program.action();
    program.react(
        {.triggers = {in, program.of(again)}, .effects = {out}, .body = [this](Body& b) {
           const bool first = b.present(in);
           const std::int64_t number = 2 * (first ? b.get(in) : b.get(program.of(again)));
           log.push_back({b.tag(), number});
           b.set(out, number);
           if (first) b.schedule(again, 0, number);
         }});
    program.on_shutdown(
        program.react({.body = [this](Body& b) { log.push_back({b.tag(), 99}); }}));
  }
  Program program;
  Log log;
  SlotId in;
  SlotId out;
  TriggerId again;
};

}  // namespace

TEST(a_step_runs_its_tag_and_the_microsteps_after_it) {
  for (const Setting& setting : kSettings) {
    Doubler doubler;
    Session session(doubler.program, setting.workers, setting.options());
    CHECK(session.scheduler.start() == Status::kRunning);

    CHECK(session.scheduler.step({1, 0}, inputs(doubler.in, 3)) == Status::kRunning);
    CHECK_EQ(session.scheduler.tag(), (Tag{1, 1}));
    CHECK_EQ(Counted::number(session.scheduler.value(doubler.out)), 12);
    CHECK(session.scheduler.present(doubler.out));
    CHECK(session.scheduler.step({2, 0}, inputs(doubler.in, 5)) == Status::kRunning);
    CHECK(session.scheduler.step({9, 0}, {}) == Status::kRunning);
    CHECK(!session.scheduler.present(doubler.out));
    CHECK(session.scheduler.finish() == Status::kFinished);
    CHECK_EQ(session.scheduler.tag(), (Tag{9, 1}));

    CHECK_EQ(doubler.log,
             (Log{{{1, 0}, 6}, {{1, 1}, 12}, {{2, 0}, 10}, {{2, 1}, 20}, {{9, 1}, 99}}));
  }
  CHECK_EQ(Counted::live.load(), 0);
}

TEST(a_step_in_microsteps_of_one_time) {
  Doubler doubler;
  Session session(doubler.program);
  session.scheduler.start();
  for (std::uint32_t i = 1; i < 6; i += 2) {
    CHECK(session.scheduler.step({0, i}, inputs(doubler.in, i)) == Status::kRunning);
    CHECK_EQ(session.scheduler.tag(), (Tag{0, i + 1}));
  }

  CHECK_EQ(doubler.log.size(), std::size_t{6});
}

TEST(a_step_runs_what_is_due_before_it) {
  Program program;
  Log log;
  const SlotId in = program.slot();
  const auto timer = program.timer(0, 3);
  program.react({.triggers = {program.of(timer), in}, .body = [&](Body& b) {
                   log.push_back({b.tag(), b.present(in) ? b.get(in) : 0});
                 }});
  Session session(program);
  session.scheduler.start();
  session.scheduler.step({7, 0}, inputs(in, 1));
  session.scheduler.step({9, 0}, inputs(in, 2));
  session.scheduler.finish();

  CHECK_EQ(log, (Log{{{0, 0}, 0}, {{3, 0}, 0}, {{6, 0}, 0}, {{7, 0}, 1}, {{9, 0}, 2}}));
}

TEST(a_stepped_program_ends_at_its_timeout) {
  Doubler doubler;
  Session session(doubler.program, 1, {.fast = true, .timeout = 5, .start = 0});
  session.scheduler.start();

  CHECK(session.scheduler.step({5, 0}, inputs(doubler.in, 1)) == Status::kFinished);
  CHECK(session.scheduler.step({6, 0}, inputs(doubler.in, 1)) == Status::kFinished);
  CHECK(session.scheduler.finish() == Status::kFinished);
  CHECK_EQ(doubler.log, (Log{{{5, 0}, 2}, {{5, 0}, 99}}));
}

TEST(a_step_beyond_the_end_stops_at_the_end) {
  Doubler doubler;
  Session session(doubler.program, 1, {.fast = true, .timeout = 5, .start = 0});
  session.scheduler.start();

  CHECK(session.scheduler.step({8, 0}, inputs(doubler.in, 1)) == Status::kFinished);
  CHECK_EQ(doubler.log, (Log{{{5, 0}, 99}}));
}

TEST(a_stepped_program_can_be_stopped_by_its_bodies) {
  Program program;
  const SlotId in = program.slot();
  program.react({.triggers = {in}, .body = [](Body& b) { b.request_stop(); }});
  Session session(program);
  session.scheduler.start();

  CHECK(session.scheduler.step({3, 0}, inputs(in, 1)) == Status::kFinished);
  CHECK_EQ(session.scheduler.tag(), (Tag{3, 1}));
}

TEST(inputs_reach_delayed_connections) {
  Program program;
  Log log;
  const SlotId in = program.slot();
  const SlotId later = program.after(in, 2);
  program.react({.triggers = {later},
                 .body = [&](Body& b) { log.push_back({b.tag(), b.get(later)}); }});
  Session session(program);
  session.scheduler.start();
  for (int i = 1; i < 5; ++i) session.scheduler.step({i, 0}, inputs(in, i));
  session.scheduler.finish();

  CHECK_EQ(log, (Log{{{3, 0}, 1}, {{4, 0}, 2}}));
}

TEST(a_program_that_is_not_finished_leaves_nothing_behind) {
  {
    Doubler doubler;
    Session session(doubler.program, 4);
    session.scheduler.start();
    session.scheduler.step({1, 0}, inputs(doubler.in, 3));
  }
  CHECK_EQ(Counted::live.load(), 0);
}

TEST(a_body_can_run_a_program) {
  Doubler inner;
  Program outer;
  Log log;
  for (ReactorId r = 0; r < 2; ++r) {
    outer.at_start(r, {}, [&, r](Body& b) {
      if (r == 0) {
        Session session(inner.program, 2);
        session.scheduler.start();
        session.scheduler.step({1, 0}, inputs(inner.in, 4));
        session.scheduler.finish();
      }
      CHECK_EQ(current_worker()->reaction, b.reaction());
    });
  }
  Session session(outer, 2);

  CHECK(session.run() == Status::kFinished);
  CHECK_EQ(inner.log.size(), std::size_t{3});
  CHECK(current_worker() == nullptr);
}

TEST(a_recording_is_repeated_exactly) {
  Program program;
  Log log;
  const auto action = program.physical(0, 1'000'000'000, Policy::kDrop);  // not once more
  const SlotId slot = program.of(action);
  program.react({.triggers = {slot},
                 .body = [&](Body& b) { log.push_back({b.tag(), b.get(slot)}); }});
  for (const Setting& setting : kSettings) {
    log.clear();
    Options options = setting.options();
    options.replay = true;
    options.start = 1000 * static_cast<Time>(setting.workers);
    Session session(program, setting.workers, options);
    session.scheduler.preload(action, {7, 0}, Counted::make(2));
    session.scheduler.preload(action, {3, 4}, Counted::make(1));
    session.scheduler.preload(action, {7, 1}, Counted::make(3));
    session.scheduler.schedule_physical(action, 0, Counted::make(5));  // comes to nothing

    CHECK(session.run() == Status::kFinished);
    CHECK_EQ(log, (Log{{{3, 4}, 1}, {{7, 0}, 2}, {{7, 1}, 3}}));
    CHECK_EQ(session.host.recording.size(), std::size_t{3});
  }
  CHECK_EQ(Counted::live.load(), 0);
}

TEST(a_recording_is_repeated_inside_modes) {
  for (const bool reset : {false, true}) {
    Program program;
    Log log;
    const auto modes = program.modal(2);
    const auto action = program.physical(0, kNoSpacing, Policy::kDefer, modes[1]);
    const SlotId slot = program.of(action);
    const auto timer = program.timer(0, 10);
    for (std::size_t i = 0; i < 2; ++i) {
      program.react({.triggers = {program.of(timer)},
                     .body = [=](Body& b) { b.enter_mode(modes[1 - i], reset); },
                     .scope = modes[i]});
    }
    program.react({.triggers = {slot},
                   .body = [&](Body& b) { log.push_back({b.tag(), b.get(slot)}); },
                   .scope = modes[1]});
    Session session(program, 1,
                    {.fast = true, .replay = true, .timeout = 50, .start = 0});
    const std::vector<Time> times{3, 7, 10, 25, 41};  // active in 0-10, 20-30, 40-50
    for (const Time time : times) {
      session.scheduler.preload(action, {time, 0}, Counted::make(time));
    }
    // An event from another run, while the mode is inactive: it does not happen.
    session.scheduler.preload(action, {16, 0}, Counted::make(16));
    session.run();

    Log expected;
    for (const Time time : times) expected.push_back({{time, 0}, time});
    CHECK_EQ(log, expected);
    CHECK_EQ(session.host.recording.size(), times.size());
  }
}
