// SPDX-License-Identifier: Apache-2.0
// What modes do to reactions and events.
#include <functional>
#include <string>
#include <vector>

#include "check.hpp"
#include "program.hpp"
#include "reactorl/scheduler.hpp"

using namespace reactorl;

namespace {

/// Runs what `build` describes with every number of workers; gives what it noted.
auto noted(const std::function<void(Program&, Log&)>& build, Time timeout) -> Log {
  Log first;
  for (const Setting& setting : kSettings) {
    Program program;
    Log log;
    build(program, log);
    Options options = setting.options();
    options.timeout = timeout;
    {
      Session session(program, setting.workers, options);
      CHECK(session.run() == Status::kFinished);
    }
    if (first.empty()) first = log;
    CHECK_EQ(log, first);
  }
  CHECK_EQ(Counted::live.load(), 0);
  return first;
}

auto note(Log& log, std::int64_t number) -> BodyFunction {
  return [&log, number](Body& b) { log.push_back({b.tag(), number}); };
}

/// Asks for `mode` once, at time `at`, in a reaction that is in `scope`.
void switch_at(Program& program, Time at, ModeId scope, ModeId mode, bool reset) {
  const auto timer = program.timer(at);
  program.react({.triggers = {program.of(timer)},
                 .body = [=](Body& b) { b.enter_mode(mode, reset); },
                 .scope = scope});
}

/// A reaction in `scope` that notes `number` whenever a timer in `scope` fires.
void tick(Program& program, Log& log, Time offset, Time period, ModeId scope,
          std::int64_t number) {
  const auto timer = program.timer(offset, period, scope);
  program.react(
      {.triggers = {program.of(timer)}, .body = note(log, number), .scope = scope});
}

/// An action with a spacing of 10 has an event at 1; its mode is left at 2 and entered
/// again at 8. Gives its events if it is scheduled again at `at`.
auto spaced_across_a_mode(bool reset, Time at) -> Log {
  return noted(
      [=](Program& p, Log& l) {
        const auto modes = p.modal(2);
        const auto action = p.action(0, 10, Policy::kDefer, modes[0]);
        for (const Time when : {Time{1}, at}) {
          const auto timer = p.timer(when);
          p.react({.triggers = {p.of(timer)},
                   .body = [=](Body& b) { b.schedule(action, 0, when); },
                   .scope = modes[0]});
        }
        switch_at(p, 2, modes[0], modes[1], true);
        switch_at(p, 8, modes[1], modes[0], reset);
        p.react(
            {.triggers = {p.of(action)},
             .body = [=, &l](Body& b) { l.push_back({b.tag(), b.get(p.of(action))}); },
             .scope = modes[0]});
      },
      100);
}

}  // namespace

TEST(a_switch_takes_effect_at_the_next_microstep) {
  const Log log = noted(
      [](Program& p, Log& l) {
        const auto modes = p.modal(2);
        switch_at(p, 3, modes[0], modes[1], true);
        tick(p, l, 1, 2, modes[0], 1);
        tick(p, l, 0, 2, modes[1], 2);
      },
      8);

  CHECK_EQ(log, (Log{{{1, 0}, 1}, {{3, 0}, 1}, {{3, 1}, 2}, {{5, 0}, 2}, {{7, 0}, 2}}));
}

TEST(reset_restarts_timers_and_history_resumes_them) {
  for (const bool reset : {false, true}) {
    const Log log = noted(
        [=](Program& p, Log& l) {
          const auto modes = p.modal(2);
          switch_at(p, 4, modes[0], modes[1], true);
          switch_at(p, 10, modes[1], modes[0], reset);
          tick(p, l, 2, 5, modes[0], 1);  // 2, then 7: 3 are left when it is left
        },
        20);

    CHECK_EQ(log, reset ? (Log{{{2, 0}, 1}, {{12, 0}, 1}, {{17, 0}, 1}})
                        : (Log{{{2, 0}, 1}, {{13, 0}, 1}, {{18, 0}, 1}}));
  }
}

TEST(the_first_entry_by_history_is_a_fresh_start) {
  const Log log = noted(
      [](Program& p, Log& l) {
        const auto modes = p.modal(2);
        switch_at(p, 4, modes[0], modes[1], false);
        tick(p, l, 0, 5, modes[1], 1);
        tick(p, l, 3, 0, modes[1], 2);
      },
      10);

  CHECK_EQ(log, (Log{{{4, 1}, 1}, {{7, 0}, 2}, {{9, 0}, 1}}));
}

TEST(actions_and_delayed_connections_stand_still_too) {
  for (const bool reset : {false, true}) {
    const Log log = noted(
        [=](Program& p, Log& l) {
          const auto modes = p.modal(2);
          const SlotId out = p.slot();
          const auto action = p.action(0, kNoSpacing, Policy::kDefer, modes[0]);
          const SlotId in = p.after(out, 4, modes[0]);
          const auto timer = p.timer(1);
          p.react({.triggers = {p.of(timer)},
                   .effects = {out},
                   .body =
                       [=](Body& b) {
                         b.schedule(action, 2, 1);
                         b.schedule(action, 0, 2);
                         b.schedule(action, 5, 3);
                         b.set(out, 4);
                       },
                   .scope = modes[0]});
          switch_at(p, 3, modes[0], modes[1], true);
          switch_at(p, 100, modes[1], modes[0], reset);
          p.react(
              {.triggers = {p.of(action)},
               .body = [=, &l](Body& b) { l.push_back({b.tag(), b.get(p.of(action))}); },
               .scope = modes[0]});
          p.react({.triggers = {in}, .body = note(l, 9), .scope = modes[0]});
        },
        200);

    // 3 was due at 6, so 3 are left; what was sent at 1 was due at 5, so 2 are left.
    CHECK_EQ(log, reset ? (Log{{{1, 1}, 2}, {{3, 0}, 1}})
                        : (Log{{{1, 1}, 2}, {{3, 0}, 1}, {{102, 0}, 9}, {{103, 0}, 3}}));
  }
}

TEST(what_was_due_at_the_next_microstep_is_so_again) {
  const Log log = noted(
      [](Program& p, Log& l) {
        const auto modes = p.modal(2);
        const auto action = p.action(0, kNoSpacing, Policy::kDefer, modes[0]);
        const auto timer = p.timer(3);
        p.react({.triggers = {p.of(timer)},
                 .body =
                     [=](Body& b) {
                       b.schedule(action, 0, 1);
                       b.schedule(action, 0, 2);
                       b.enter_mode(modes[1], true);
                     },
                 .scope = modes[0]});
        switch_at(p, 7, modes[1], modes[0], false);
        p.react(
            {.triggers = {p.of(action)},
             .body = [=, &l](Body& b) { l.push_back({b.tag(), b.get(p.of(action))}); },
             .scope = modes[0]});
      },
      20);

  CHECK_EQ(log, (Log{{{7, 1}, 1}, {{7, 2}, 2}}));
}

TEST(a_resumed_event_can_still_be_replaced) {
  const Log log = noted(
      [](Program& p, Log& l) {
        const auto modes = p.modal(2);
        const auto action = p.action(0, 50, Policy::kReplace, modes[0]);
        for (const Time at : {3, 11}) {
          const auto timer = p.timer(at);
          p.react({.triggers = {p.of(timer)},
                   .body = [=](Body& b) { b.schedule(action, 5, at); },
                   .scope = modes[0]});
        }
        switch_at(p, 5, modes[0], modes[1], true);
        switch_at(p, 10, modes[1], modes[0], false);
        p.react(
            {.triggers = {p.of(action)},
             .body = [=, &l](Body& b) { l.push_back({b.tag(), b.get(p.of(action))}); },
             .scope = modes[0]});
      },
      100);

  CHECK_EQ(log, (Log{{{13, 0}, 11}}));  // due at 8, 3 were left at 5
}

TEST(spacing_counts_the_time_in_which_the_mode_was_active) {
  // The event at 1 was one before the mode was left, so it counts as one before 8.
  CHECK_EQ(spaced_across_a_mode(false, 14), (Log{{{1, 1}, 1}, {{17, 0}, 14}}));
}

TEST(a_reset_forgets_the_event_that_spacing_counts_from) {
  CHECK_EQ(spaced_across_a_mode(true, 9), (Log{{{1, 1}, 1}, {{9, 1}, 9}}));
}

TEST(resetting_the_active_mode_discards_its_events) {
  const Log log = noted(
      [](Program& p, Log& l) {
        const auto modes = p.modal(1);
        switch_at(p, 4, modes[0], modes[0], true);
        tick(p, l, 3, 2, modes[0], 1);
        p.on_reset(p.react({.body = note(l, 2), .scope = modes[0]}));
        p.on_startup(p.react({.body = note(l, 3), .scope = modes[0]}));
      },
      10);

  CHECK_EQ(log, (Log{{{0, 0}, 3}, {{3, 0}, 1}, {{4, 1}, 2}, {{7, 0}, 1}, {{9, 0}, 1}}));
}

TEST(startup_reset_and_shutdown_inside_modes) {
  const Log log = noted(
      [](Program& p, Log& l) {
        const auto modes = p.modal(3);
        const auto toggle = p.timer(1, 1);
        for (std::size_t i = 0; i < 3; ++i) {
          const auto n = static_cast<std::int64_t>(10 * i);
          p.on_startup(p.react({.body = note(l, n + 1), .scope = modes[i]}));
          p.on_reset(p.react({.body = note(l, n + 2), .scope = modes[i]}));
          p.on_shutdown(p.react({.body = note(l, n + 3), .scope = modes[i]}));
        }
        for (std::size_t i = 0; i < 2; ++i) {
          p.react({.triggers = {p.of(toggle)},
                   .body = [=](Body& b) { b.enter_mode(modes[1 - i], b.tag().time < 3); },
                   .scope = modes[i]});
        }
      },
      3);

  // Mode 0 at first; reset to 1 at 1, reset to 0 at 2; then the end. 2 is never visited.
  CHECK_EQ(log, (Log{{{0, 0}, 1},
                     {{1, 1}, 11},
                     {{1, 1}, 12},
                     {{2, 1}, 2},
                     {{3, 0}, 3},
                     {{3, 0}, 13}}));
}

TEST(startup_reactions_alone_are_due_when_their_mode_is_first_entered) {
  const Log log = noted(
      [](Program& p, Log& l) {
        const auto modes = p.modal(2);
        p.on_startup(p.react({.body = note(l, 1), .scope = modes[1]}));
        switch_at(p, 3, modes[0], modes[1], false);
        switch_at(p, 5, modes[1], modes[0], false);
        switch_at(p, 7, modes[0], modes[1], false);
      },
      10);

  CHECK_EQ(log, (Log{{{3, 1}, 1}}));
}

TEST(a_physical_event_that_comes_while_its_mode_is_inactive_is_lost) {
  Program program;
  Log log;
  const auto modes = program.modal(2);
  const auto action = program.physical(0, kNoSpacing, Policy::kDefer, modes[1]);
  const SlotId slot = program.of(action);
  const auto early = program.timer(1);
  program.react({.triggers = {program.of(early)}, .body = [=](Body& b) {
                   b.scheduler().schedule_physical(action, 0, Counted::make(1));
                 }});
  switch_at(program, 5, modes[0], modes[1], false);
  program.react({.triggers = {slot},
                 .body = [&](Body& b) { log.push_back({b.tag(), b.get(slot)}); },
                 .scope = modes[1]});
  {
    Session session(program);
    CHECK(session.run() == Status::kFinished);
  }

  CHECK_EQ(log, Log{});
}

TEST(nothing_reaches_an_inactive_mode) {
  const Log log = noted(
      [](Program& p, Log& l) {
        const auto modes = p.modal(2);
        const SlotId out = p.slot();
        const auto timer = p.timer(0, 1);
        p.react({.reactor = 1,
                 .triggers = {p.of(timer)},
                 .effects = {out},
                 .body = [=](Body& b) { b.set(out, b.tag().time); }});
        switch_at(p, 2, modes[0], modes[1], true);
        p.react({.triggers = {out},
                 .body = [=, &l](Body& b) { l.push_back({b.tag(), b.get(out)}); },
                 .scope = modes[1]});
      },
      4);

  CHECK_EQ(log, (Log{{{3, 0}, 3}, {{4, 0}, 4}}));
}

TEST(suspended_events_do_not_keep_a_program_alive) {
  Program program;
  Log log;
  const auto modes = program.modal(2);
  switch_at(program, 4, modes[0], modes[1], true);
  tick(program, log, 100, 1, modes[0], 1);
  Session session(program);

  CHECK(session.run() == Status::kFinished);
  CHECK_EQ(session.scheduler.tag(), (Tag{4, 1}));
  CHECK(log.empty());
}

TEST(time_inside_nested_modes_stands_still_with_the_outer_one) {
  const Log log = noted(
      [](Program& p, Log& l) {
        const auto outer = p.modal(2);
        const auto inner = p.modal(2, outer[0]);
        switch_at(p, 5, inner[0], inner[1], false);
        switch_at(p, 10, outer[0], outer[1], true);
        switch_at(p, 30, outer[1], outer[0], false);
        switch_at(p, 40, outer[0], outer[1], true);
        switch_at(p, 50, outer[1], outer[0], true);  // back to the inner initial mode
        tick(p, l, 3, 4, inner[0], 1);               // 3, then 2 left at 5
        tick(p, l, 1, 3, inner[1], 2);  // 6, 9, 2 left at 10; 32, 35, 38, 1 left at 40
      },
      60);

  CHECK_EQ(log, (Log{{{3, 0}, 1},
                     {{6, 0}, 2},
                     {{9, 0}, 2},
                     {{32, 0}, 2},
                     {{35, 0}, 2},
                     {{38, 0}, 2},
                     {{53, 0}, 1},
                     {{57, 0}, 1}}));
}
