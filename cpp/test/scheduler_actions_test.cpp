// SPDX-License-Identifier: Apache-2.0
// Where in time events go: actions with every policy, and delayed connections.
#include <vector>

#include "check.hpp"
#include "program.hpp"
#include "reactorl/scheduler.hpp"

using namespace reactorl;

namespace {

/// A call `schedule(extra, number)` in a reaction at time `at`.
struct Call {
  Time at;
  Time extra;
  std::int64_t number;
};

/// When the events of an action fire that is scheduled by `calls`, in that order.
auto events(Trigger action, const std::vector<Call>& calls, Time timeout = kForever)
    -> Log {
  Log first;
  for (const Setting& setting : kSettings) {
    Program program;
    Log log;
    action.kind = TriggerKind::kLogical;
    const TriggerId id = program.add(action);
    Time last = -1;
    for (const Call& call : calls) {
      if (call.at == last) continue;
      last = call.at;
      const auto timer = program.timer(call.at);
      program.react({.triggers = {program.of(timer)}, .body = [=, &calls](Body& b) {
                       for (const Call& c : calls) {
                         if (c.at == last) b.schedule(id, c.extra, c.number);
                       }
                     }});
    }
    const SlotId slot = program.of(id);
    program.react({.triggers = {slot}, .body = [&log, slot](Body& b) {
                     log.push_back({b.tag(), b.get(slot)});
                   }});
    Options options = setting.options();
    options.timeout = timeout;
    Session session(program, setting.workers, options);

    CHECK(session.run() == Status::kFinished);
    if (setting.workers == 1 && setting.shuffle == 0) first = log;
    CHECK_EQ(log, first);
  }
  CHECK_EQ(Counted::live.load(), 0);
  return first;
}

auto spaced(Time spacing, Policy policy, Time delay = 0) -> Trigger {
  return {.policy = policy, .delay = delay, .spacing = spacing};
}

}  // namespace

TEST(delays_add_up) {
  CHECK_EQ(events({.delay = 3}, {{0, 0, 1}, {5, 4, 2}}),
           (Log{{{3, 0}, 1}, {{12, 0}, 2}}));
}

TEST(no_delay_is_the_next_microstep) {
  CHECK_EQ(events({}, {{0, 0, 1}, {5, -9, 2}}), (Log{{{0, 1}, 1}, {{5, 1}, 2}}));
}

TEST(a_negative_extra_delay_does_not_shorten_the_minimum_delay) {
  CHECK_EQ(events({.delay = 3}, {{0, -2, 1}, {5, -9, 2}}),
           (Log{{{3, 0}, 1}, {{8, 0}, 2}}));
}

TEST(without_spacing_events_pile_up_in_microsteps) {
  CHECK_EQ(events({}, {{0, 2, 1}, {0, 2, 2}, {0, 0, 3}, {0, 0, 4}, {1, 1, 5}}),
           (Log{{{0, 1}, 3}, {{0, 2}, 4}, {{2, 0}, 1}, {{2, 1}, 2}, {{2, 2}, 5}}));
}

TEST(defer_waits_for_the_spacing) {
  CHECK_EQ(events(spaced(10, Policy::kDefer), {{0, 100, 1}, {0, 99, 2}, {0, 101, 3}}),
           (Log{{{100, 0}, 1}, {{110, 0}, 2}, {{120, 0}, 3}}));
  CHECK_EQ(events(spaced(10, Policy::kDefer), {{0, 0, 1}, {0, 10, 2}, {0, 20, 3}}),
           (Log{{{0, 1}, 1}, {{10, 0}, 2}, {{20, 0}, 3}}));
}

TEST(drop_forgets_what_comes_too_soon) {
  CHECK_EQ(
      events(spaced(10, Policy::kDrop), {{0, 0, 1}, {3, 0, 2}, {9, 0, 3}, {10, 0, 4}}),
      (Log{{{0, 1}, 1}, {{10, 1}, 4}}));
}

TEST(replace_changes_the_payload_of_what_waits) {
  CHECK_EQ(events(spaced(10, Policy::kReplace), {{0, 5, 1}, {3, 0, 2}, {4, 20, 3}}),
           (Log{{{5, 0}, 2}, {{24, 0}, 3}}));
  // What has fired cannot be replaced: the new event is deferred.
  CHECK_EQ(events(spaced(10, Policy::kReplace), {{0, 1, 1}, {3, 0, 2}, {4, 0, 3}}),
           (Log{{{1, 0}, 1}, {{11, 0}, 3}}));
}

TEST(update_moves_what_waits) {
  CHECK_EQ(events(spaced(10, Policy::kUpdate), {{0, 5, 1}, {3, 0, 2}, {6, 1, 3}}),
           (Log{{{3, 1}, 2}, {{7, 0}, 3}}));
  CHECK_EQ(events(spaced(10, Policy::kUpdate), {{0, 5, 1}, {1, 5, 2}, {2, 5, 3}}),
           (Log{{{7, 0}, 3}}));
}

TEST(spacing_zero_makes_tags_rise) {
  CHECK_EQ(
      events(spaced(0, Policy::kDefer), {{0, 5, 1}, {0, 5, 2}, {0, 3, 3}, {0, 9, 4}}),
      (Log{{{5, 0}, 1}, {{5, 1}, 2}, {{5, 2}, 3}, {{9, 0}, 4}}));
  CHECK_EQ(events(spaced(0, Policy::kDrop), {{0, 5, 1}, {0, 5, 2}, {0, 6, 3}}),
           (Log{{{5, 0}, 1}, {{6, 0}, 3}}));
  CHECK_EQ(events(spaced(0, Policy::kReplace), {{0, 5, 1}, {0, 5, 2}, {0, 4, 3}}),
           (Log{{{5, 0}, 3}}));
  CHECK_EQ(events(spaced(0, Policy::kUpdate), {{0, 5, 1}, {0, 5, 2}, {0, 4, 3}}),
           (Log{{{4, 0}, 3}}));
}

TEST(events_after_the_last_tag_are_discarded) {
  CHECK_EQ(events({}, {{0, 5, 1}, {0, 6, 2}, {0, 5, 3}, {5, 0, 4}}, 5),
           (Log{{{5, 0}, 1}}));
  // What was discarded does not count for the spacing.
  CHECK_EQ(events(spaced(3, Policy::kDefer), {{0, 9, 1}, {0, 1, 2}}, 5),
           (Log{{{1, 0}, 2}}));
}

TEST(events_at_forever_never_happen) {
  CHECK_EQ(events({}, {{0, kForever, 1}, {0, kForever, 2}, {1, 1, 3}}),
           (Log{{{2, 0}, 3}}));
  CHECK_EQ(events({.delay = kForever}, {{0, 0, 1}, {0, 0, 2}, {0, kForever, 3}}), Log{});
  CHECK_EQ(events(spaced(kForever, Policy::kDefer), {{0, 1, 1}, {0, 2, 2}, {3, 0, 3}}),
           (Log{{{1, 0}, 1}}));
}

TEST(an_alarm_can_be_moved_for_long) {
  for (const Policy policy : {Policy::kUpdate, Policy::kReplace}) {
    std::vector<Call> calls;
    for (int i = 0; i < 200; ++i) calls.push_back({i, 1'000'000, i});
    const Log log = events(spaced(2'000'000, policy), calls);

    CHECK_EQ(log.size(), std::size_t{1});
    CHECK_EQ(log[0].number, 199);
    CHECK_EQ(log[0].tag.time, policy == Policy::kUpdate ? 1'000'199 : 1'000'000);
  }
}

TEST(a_moved_alarm_does_not_disturb_other_events) {
  // Every move leaves an entry behind; they are swept away, the others are not.
  constexpr int kMoves = 5000;
  constexpr int kOthers = 2000;
  Program program;
  Log alarms;
  Log others;
  const auto alarm = program.action(20'000, 1'000'000'000, Policy::kUpdate);
  const auto other = program.action(10'000);
  const auto timer = program.timer(0, 1);
  program.react({.triggers = {program.of(timer)}, .body = [=](Body& b) {
                   const Time now = b.tag().time;
                   if (now < kMoves) b.schedule(alarm, 0, now);
                   if (now < kOthers) b.schedule(other, 5 * now, now);
                 }});
  program.react({.triggers = {program.of(alarm)}, .body = [&](Body& b) {
                   alarms.push_back({b.tag(), b.get(program.of(alarm))});
                   b.request_stop();
                 }});
  program.react({.triggers = {program.of(other)}, .body = [&](Body& b) {
                   others.push_back({b.tag(), b.get(program.of(other))});
                 }});
  Session session(program, 2, {.fast = true, .start = 0});

  CHECK(session.run() == Status::kFinished);
  CHECK_EQ(alarms, (Log{{{kMoves - 1 + 20'000, 0}, kMoves - 1}}));
  CHECK_EQ(others.size(), std::size_t{kOthers});
  for (int i = 0; i < static_cast<int>(others.size()); ++i) {
    CHECK_EQ(others[static_cast<std::size_t>(i)], (Seen{{10'000 + 6 * i, 0}, i}));
  }
}

TEST(a_trace_tells_where_events_went) {
  Program program;
  const auto action = program.action(5, 10, Policy::kDrop);
  program.at_start(0, {}, [=](Body& b) {
    b.schedule(action, 0, 1);
    b.schedule(action, 1, 2);
  });
  Session session(program, 1, {.fast = true, .trace = true, .start = 1000});
  session.run();

  CHECK_EQ(session.trace(), (std::vector<std::int64_t>{0, 0, 1, 0, 0, -1, 0, 2, 0, 5, 0,
                                                       0, -1, -1, 0, 5, 1, 0, 0}));
}

namespace {

/// What arrives over connections with the given delays from one port that is set at
/// times 0, 1, 2 (twice, at two microsteps) and 4.
auto arrivals(const std::vector<Time>& delays) -> std::vector<Log> {
  std::vector<Log> first;
  for (const Setting& setting : kSettings) {
    Program program;
    const SlotId out = program.slot();
    const auto again = program.action();
    const auto ticks = program.timer(0, 1);
    program.react({.triggers = {program.of(ticks), program.of(again)},
                   .effects = {out},
                   .body = [=](Body& b) {
                     const Tag now = b.tag();
                     if (now.time == 2 && now.microstep == 0) b.schedule(again, 0, 0);
                     if (now.time == 3) return;
                     b.set(out, -5);  // the last one counts
                     b.set(out, now.time * 10 + now.microstep);
                   }});
    std::vector<Log> logs(delays.size());
    for (std::size_t i = 0; i < delays.size(); ++i) {
      const SlotId in = program.after(out, delays[i]);
      program.react({.reactor = static_cast<ReactorId>(i + 1),
                     .triggers = {in},
                     .body = [&log = logs[i], in](Body& b) {
                       log.push_back({b.tag(), b.get(in)});
                     }});
    }
    Options options = setting.options();
    options.timeout = 4;
    Session session(program, setting.workers, options);
    session.run();
    if (first.empty()) first = logs;
    for (std::size_t i = 0; i < logs.size(); ++i) CHECK_EQ(logs[i], first[i]);
  }
  CHECK_EQ(Counted::live.load(), 0);
  return first;
}

}  // namespace

TEST(a_delayed_connection_delivers_later) {
  const auto logs = arrivals({0, 1, 2, 3, 5});

  CHECK_EQ(logs[0], (Log{{{0, 1}, 0}, {{1, 1}, 10}, {{2, 1}, 20}, {{2, 2}, 21}}));
  CHECK_EQ(logs[1], (Log{{{1, 0}, 0}, {{2, 0}, 10}, {{3, 0}, 20}, {{3, 1}, 21}}));
  CHECK_EQ(logs[2], (Log{{{2, 0}, 0}, {{3, 0}, 10}, {{4, 0}, 20}}));
  CHECK_EQ(logs[3], (Log{{{3, 0}, 0}, {{4, 0}, 10}}));
  CHECK_EQ(logs[4], Log{});
}

TEST(delayed_connections_can_follow_each_other_and_an_action) {
  for (const Setting& setting : kSettings) {
    Program program;
    Log log;
    const auto action = program.action(1);
    const SlotId one = program.after(program.of(action), 2);
    const SlotId two = program.after(one, 0);
    program.at_start(0, {}, [=](Body& b) {
      b.schedule(action, 0, 7);
      b.schedule(action, 0, 8);
    });
    program.react({.reactor = 1, .triggers = {one, two}, .body = [&, one, two](Body& b) {
                     if (b.present(one)) log.push_back({b.tag(), b.get(one)});
                     if (b.present(two)) log.push_back({b.tag(), 100 + b.get(two)});
                   }});
    Session session(program, setting.workers, setting.options());
    session.run();

    CHECK_EQ(log, (Log{{{3, 0}, 7}, {{3, 1}, 8}, {{3, 1}, 107}, {{3, 2}, 108}}));
  }
  CHECK_EQ(Counted::live.load(), 0);
}
