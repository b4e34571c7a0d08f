// SPDX-License-Identifier: Apache-2.0
// Ports, order, timers, and how a run ends.
#include "reactorl/scheduler.hpp"

#include <vector>

#include "check.hpp"
#include "program.hpp"
#include "reactorl/error.hpp"

using namespace reactorl;

namespace {

/// Notes `number` whenever it runs.
auto note(Log& log, std::int64_t number) -> BodyFunction {
  return [&log, number](Body& body) { log.push_back({body.tag(), number}); };
}

/// Runs `program` with every number of workers; `log` must be `expected` each time.
void check_log(const Program& program, Log& log, const Log& expected, Options more = {}) {
  for (const Setting& setting : kSettings) {
    log.clear();
    Options options = setting.options();
    options.timeout = more.timeout;
    options.keepalive = more.keepalive;
    Session session(program, setting.workers, options);

    CHECK(session.run() == Status::kFinished);
    CHECK_EQ(log, expected);
  }
  CHECK_EQ(Counted::live.load(), 0);
}

}  // namespace

TEST(an_empty_program_ends_one_microstep_after_its_start) {
  const Program program;
  Session session(program);

  CHECK(session.run() == Status::kFinished);
  CHECK_EQ(session.scheduler.tag(), (Tag{0, 1}));
  CHECK_EQ(session.scheduler.tags_run(), std::uint64_t{2});
  CHECK_EQ(session.trace(), (std::vector<std::int64_t>{0, 1, 0, 0}));
}

TEST(a_faulty_plan_is_refused_before_it_is_used) {
  Program program;
  program.at_start(0, {}, {});
  for (int fault = 0; fault < 3; ++fault) {
    Plan plan = program.plan(2);
    if (fault == 0) plan.reactions[0].level = 1000;
    if (fault == 1) plan.reactions[0].home = 1000;
    if (fault == 2) plan.modes.push_back({1000, kNone, true});
    const Plan& faulty = plan;
    TestHost host(faulty, {});

    CHECK_THROWS(Scheduler(faulty, Options{}, host), PlanError);
  }
}

TEST(timers_fire_without_drift) {
  Program program;
  Log log;
  const auto once = program.timer(4);
  const auto again = program.timer(3, 5);
  program.react({.triggers = {program.of(once)}, .body = note(log, 1)});
  program.react({.triggers = {program.of(again)}, .body = note(log, 2)});

  check_log(program, log, {{{3, 0}, 2}, {{4, 0}, 1}, {{8, 0}, 2}, {{13, 0}, 2}},
            {.timeout = 17});
}

TEST(startup_and_timers_without_offset_are_simultaneous) {
  Program program;
  Log log;
  const auto one = program.timer(0);
  const auto two = program.timer(0, 2);
  const auto both = program.react(
      {.triggers = {program.of(one), program.of(two)}, .body = note(log, 1)});
  program.on_startup(both);

  check_log(program, log, {{{0, 0}, 1}, {{2, 0}, 1}}, {.timeout = 3});
}

TEST(a_timer_at_forever_never_fires) {
  Program program;
  Log log;
  const auto never = program.timer(kForever);
  program.react({.triggers = {program.of(never)}, .body = note(log, 1)});
  program.on_shutdown(program.react({.body = note(log, 9)}));

  check_log(program, log, {{{0, 1}, 9}});
}

TEST(reactions_of_a_reactor_run_in_order_and_once) {
  Program program;
  Log log;
  const SlotId out = program.slot();
  const auto timer = program.timer(0);
  program.react({.triggers = {program.of(timer)}, .effects = {out}, .body = [&](Body& b) {
                   log.push_back({b.tag(), 1});
                   b.set(out, 5);
                   b.set(out, 6);
                 }});
  program.react(
      {.triggers = {program.of(timer)}, .sources = {out}, .body = note(log, 2)});
  program.react({.triggers = {program.of(timer), out},
                 .body = [&](Body& b) { log.push_back({b.tag(), b.get(out)}); }});

  check_log(program, log, {{{0, 0}, 1}, {{0, 0}, 2}, {{0, 0}, 6}});
}

TEST(readers_wait_for_everyone_who_may_write) {
  Program program;
  Log log;
  std::vector<SlotId> outs;
  const auto timer = program.timer(0, 1);
  for (ReactorId r = 1; r <= 6; ++r) {
    const SlotId out = program.slot();
    outs.push_back(out);
    program.react({.reactor = r,
                   .triggers = {program.of(timer)},
                   .effects = {out},
                   .body = [out, r](Body& b) {
                     if (b.tag().time % r == 0) b.set(out, r);
                   }});
  }
  program.react({.triggers = {program.of(timer)}, .sources = outs, .body = [&](Body& b) {
                   std::int64_t sum = 0;
                   for (const SlotId slot : outs)
                     sum += b.present(slot) ? b.get(slot) : 0;
                   log.push_back({b.tag(), sum});
                 }});

  check_log(program, log,
            {{{0, 0}, 21}, {{1, 0}, 1}, {{2, 0}, 3}, {{3, 0}, 4}, {{4, 0}, 7}},
            {.timeout = 4});
}

TEST(an_absent_port_reads_its_last_value) {
  Program program;
  Log log;
  const SlotId out = program.slot();
  const auto timer = program.timer(0, 1);
  program.react({.reactor = 1,
                 .triggers = {program.of(timer)},
                 .effects = {out},
                 .body = [out](Body& b) {
                   if (b.tag().time == 1) b.set(out, 7);
                 }});
  program.react({.triggers = {program.of(timer)}, .sources = {out}, .body = [&](Body& b) {
                   log.push_back({b.tag(), b.get(out) * (b.present(out) ? 10 : 1)});
                 }});

  check_log(program, log, {{{0, 0}, -1}, {{1, 0}, 70}, {{2, 0}, 7}}, {.timeout = 2});
}

TEST(a_forwarding_reaction_copies_what_is_present) {
  Program program;
  Log log;
  const SlotId from = program.slot();
  const SlotId other = program.slot();
  const SlotId to = program.slot();
  const auto timer = program.timer(0, 1);
  program.react(
      {.reactor = 1,
       .triggers = {program.of(timer)},
       .effects = {from, other},
       .body = [=](Body& b) { b.set(b.tag().time == 1 ? other : from, b.tag().time); }});
  const auto copy =
      program.react({.reactor = 2, .triggers = {from, other}, .effects = {to}});
  program.forward(copy, from, to);
  program.react(
      {.triggers = {to}, .body = [&](Body& b) { log.push_back({b.tag(), b.get(to)}); }});

  check_log(program, log, {{{0, 0}, 0}, {{2, 0}, 2}}, {.timeout = 2});
}

TEST(the_timeout_is_the_last_tag) {
  Program program;
  Log log;
  const auto timer = program.timer(0, 5);
  const auto action = program.action();
  program.react({.triggers = {program.of(timer)}, .body = [&, action](Body& b) {
                   log.push_back({b.tag(), 1});
                   b.schedule(action, 0, 0);
                 }});
  program.react({.triggers = {program.of(action)}, .body = note(log, 2)});
  program.on_shutdown(program.react({.body = note(log, 9)}));

  check_log(
      program, log,
      {{{0, 0}, 1}, {{0, 1}, 2}, {{5, 0}, 1}, {{5, 1}, 2}, {{10, 0}, 1}, {{10, 0}, 9}},
      {.timeout = 10});
}

TEST(with_no_time_startup_and_shutdown_share_a_tag) {
  Program program;
  Log log;
  const auto action = program.action();
  program.at_start(0, {}, [&, action](Body& b) {
    log.push_back({b.tag(), 1});
    b.schedule(action, 0, 0);
  });
  program.react({.triggers = {program.of(action)}, .body = note(log, 2)});
  program.on_shutdown(program.react({.body = note(log, 9)}));

  check_log(program, log, {{{0, 0}, 1}, {{0, 0}, 9}}, {.timeout = 0});
}

TEST(a_timeout_is_not_waited_for_when_nothing_is_left) {
  Program program;
  Log log;
  program.at_start(0, {}, note(log, 1));
  program.on_shutdown(program.react({.body = note(log, 9)}));

  check_log(program, log, {{{0, 0}, 1}, {{0, 1}, 9}}, {.timeout = 1000});
  check_log(program, log, {{{0, 0}, 1}, {{1000, 0}, 9}},
            {.keepalive = true, .timeout = 1000});
}

TEST(a_request_to_stop_takes_effect_at_the_next_microstep) {
  Program program;
  Log log;
  const SlotId last = program.slot();
  const auto timer = program.timer(2, 1);
  const auto action = program.action();
  program.react({.triggers = {program.of(timer)}, .body = [&, action](Body& b) {
                   log.push_back({b.tag(), 1});
                   b.request_stop();
                   b.schedule(action, 0, 0);
                   b.schedule(action, 0, 0);
                 }});
  program.react({.triggers = {program.of(action)}, .body = note(log, 2)});
  program.on_shutdown(program.react({.effects = {last}, .body = [&, last](Body& b) {
                                       log.push_back({b.tag(), 8});
                                       b.request_stop();  // has no effect any more
                                       b.set(last, 1);
                                     }}));
  program.react({.triggers = {last}, .body = note(log, 9)});

  check_log(program, log, {{{2, 0}, 1}, {{2, 1}, 2}, {{2, 1}, 8}, {{2, 1}, 9}});
}

TEST(the_stop_tag_only_moves_earlier) {
  for (const Tag stop : {Tag{3, 0}, Tag{3, 1}, Tag{7, 0}, Tag{100, 0}}) {
    Program program;
    Log log;
    const auto timer = program.timer(0, 1);
    program.react({.triggers = {program.of(timer)}, .body = note(log, 1)});
    Session session(program, 1, {.fast = true, .timeout = 5, .start = 0});
    session.scheduler.stop_at(stop);

    CHECK(session.run() == Status::kFinished);
    CHECK_EQ(session.scheduler.tag(), std::min(stop, Tag{5, 0}));
    CHECK_EQ(log.size(), static_cast<std::size_t>(std::min<Time>(stop.time, 5) + 1));
  }
}

TEST(a_program_can_start_at_any_time) {
  for (const Time start : {Time{0}, Time{-50}, Time{1'700'000'000'000'000'000}}) {
    Program program;
    Log log;
    const auto timer = program.timer(0, 10);
    program.react({.triggers = {program.of(timer)}, .body = note(log, 1)});
    Session session(program, 1, {.fast = true, .timeout = 20, .start = start});

    CHECK(session.run() == Status::kFinished);
    CHECK_EQ(session.scheduler.tag(), (Tag{start + 20, 0}));
    CHECK_EQ(log, (Log{{{0, 0}, 1}, {{10, 0}, 1}, {{20, 0}, 1}}));
  }
}

TEST(in_real_time_no_tag_comes_before_its_time) {
  constexpr Time kMillisecond = 1'000'000;
  Program program;
  std::vector<Time> lags;
  const auto timer = program.timer(0, 4 * kMillisecond);
  program.react({.triggers = {program.of(timer)}, .body = [&](Body& b) {
                   lags.push_back(b.scheduler().clock().now() - b.scheduler().tag().time);
                 }});
  for (const WorkerId workers : {1U, 2U}) {
    lags.clear();
    Session session(program, workers, {.timeout = 40 * kMillisecond});

    CHECK(session.run() == Status::kFinished);
    CHECK_EQ(lags.size(), std::size_t{11});
    for (const Time lag : lags) CHECK(lag >= 0);
  }
}
