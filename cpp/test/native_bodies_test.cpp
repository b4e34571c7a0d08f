// SPDX-License-Identifier: Apache-2.0
// Native bodies run outside of the host, in parallel, with the same results as others.
#include "reactorl/native_bodies.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

#include "check.hpp"
#include "program.hpp"
#include "reactorl/error.hpp"
#include "reactorl/scheduler.hpp"

using namespace reactorl;

namespace {

using Kind = NativeElement::Kind;

/// A port of one channel with numbers.
auto port(SlotId slot, reactorl_type type = REACTORL_INT64) -> NativeElement {
  return {.kind = Kind::kPort, .type = type, .slots = {slot}, .name = "port"};
}

auto action(TriggerId trigger, SlotId slot, bool physical = false) -> NativeElement {
  return {.kind = Kind::kAction,
          .physical = physical,
          .type = REACTORL_INT64,
          .slots = {slot},
          .trigger = trigger,
          .name = "action"};
}

auto mode(ModeId id) -> NativeElement {
  return {.kind = Kind::kMode, .mode = id, .name = "mode"};
}

/// A body that is a function of C++: the state is a `std::function`.
using Function = std::function<std::int32_t(reactorl_context*)>;
auto call(reactorl_context* context, void* state) -> std::int32_t {
  return (*static_cast<Function*>(state))(context);
}

}  // namespace

// ---- In and out of the host ---------------------------------------------------------

TEST(native_bodies_run_outside_of_the_host_and_others_inside) {
  for (const WorkerId workers : {1U, 2U, 4U}) {
    for (const std::uint64_t shuffle : {0U, 1U}) {
      Program program;
      const TestHost* host = nullptr;
      std::atomic<int> native{0};
      std::atomic<int> other{0};
      const auto timer = program.timer(0, 1);
      std::vector<Function> functions(8);
      for (ReactorId r = 0; r < 8; ++r) {
        const ReactionId id = program.react(
            {.reactor = r, .triggers = {program.of(timer)}, .body = [&](Body& b) {
               CHECK(host->entered(b.worker()));
               ++other;
             }});
        if (r % 2 == 0) continue;
        functions[r] = [&](reactorl_context*) {
          CHECK(!host->entered(current_worker()->id));
          ++native;
          return 0;
        };
        program.native(id, {.body = call, .state = &functions[r]});
      }
      Session session(program, workers,
                      {.fast = true, .timeout = 20, .start = 0, .shuffle = shuffle});
      host = &session.host;

      CHECK(session.run() == Status::kFinished);
      CHECK_EQ(native.load(), 4 * 21);
      CHECK_EQ(other.load(), 4 * 21);
    }
  }
}

TEST(the_host_is_entered_only_where_kinds_change) {
  // Levels of a reactor: host, native, native, native, host.
  Program program;
  std::vector<Function> functions(5, [](reactorl_context*) { return 0; });
  for (std::size_t i = 0; i < 5; ++i) {
    const ReactionId id = program.at_start(0, {}, [](Body&) {});
    if (i != 0 && i != 4) program.native(id, {.body = call, .state = &functions[i]});
  }
  Session session(program);
  CHECK(session.scheduler.start() == Status::kRunning);
  CHECK_EQ(session.host.entries(), 1);
}

TEST(a_program_without_native_bodies_never_leaves_the_host_with_one_worker) {
  Program program;
  const auto timer = program.timer(0, 1);
  for (ReactorId r = 0; r < 3; ++r) {
    program.react({.reactor = r, .triggers = {program.of(timer)}, .body = [](Body&) {}});
  }
  Session session(program, 1, {.fast = true, .timeout = 100, .start = 0});
  CHECK(session.run() == Status::kFinished);
  CHECK_EQ(session.host.entries(), 0);
}

TEST(two_native_bodies_of_a_level_run_at_the_same_time_behind_a_lock) {
  // Each waits for the other: one worker, or one at a time, would never end.
  Program program;
  std::atomic<int> arrived{0};
  std::vector<Function> functions(2);
  for (ReactorId r = 0; r < 2; ++r) {
    functions[r] = [&](reactorl_context*) {
      ++arrived;
      while (arrived.load() < 2) std::this_thread::yield();
      return 0;
    };
    const ReactionId id = program.at_start(r, {}, [](Body&) {});
    program.native(id, {.body = call, .state = &functions[r]});
  }
  Session session(program, 2,
                  {.fast = true, .one_at_a_time = true, .start = 0, .shuffle = 1});
  CHECK(session.run() == Status::kFinished);
  CHECK_EQ(arrived.load(), 2);
}

TEST(native_work_is_shared_behind_a_lock_when_it_is_worth_it) {
  Program program;
  const auto timer = program.timer(0, 1);
  Function work = [](reactorl_context*) {
    const Time until = Clock::ticks_now() + 100'000;
    while (Clock::ticks_now() < until) pause_briefly();
    return 0;
  };
  for (ReactorId r = 0; r < 8; ++r) {
    const ReactionId id = program.react({.reactor = r, .triggers = {program.of(timer)}});
    program.native(id, {.body = call, .state = &work});
  }
  Session session(program, 2,
                  {.fast = true, .one_at_a_time = true, .timeout = 199, .start = 0});
  CHECK(session.run() == Status::kFinished);
  CHECK(session.scheduler.phases_shared() > 1);
}

// ---- Values ---------------------------------------------------------------------------

namespace {

struct Outcome {
  Status status;
  Tag last;
  std::vector<std::int64_t> words;
  std::vector<std::int64_t> numbers;
  auto operator==(const Outcome&) const -> bool = default;
};

/// A chain of reactors that each add to a number, with a delay back to the first. Those
/// of `natives` (a bit each) are native.
auto chain(unsigned natives, Setting setting) -> Outcome {
  constexpr std::uint32_t kReactors = 6;
  Program program;
  std::vector<SlotId> slots;
  for (std::uint32_t i = 0; i < kReactors; ++i) slots.push_back(program.slot());
  const SlotId back = program.after(slots.back(), 2);
  const TriggerId again = program.action(1);
  const std::vector<ModeId> modes = program.modal(2);
  for (const SlotId slot : slots) program.type(slot, REACTORL_INT64);
  program.type(back, REACTORL_INT64);
  program.type(program.of(again), REACTORL_INT64);

  std::vector<Function> functions(kReactors);
  std::vector<std::int64_t> states(kReactors, 1);
  for (ReactorId i = 0; i < kReactors; ++i) {
    const SlotId in = i == ReactorId(0) ? back : slots[i - 1];
    const SlotId out = slots[i];
    const bool schedules = i == ReactorId(2);
    const bool switches = i == ReactorId(3);
    Program::Parts parts{
        .reactor = i, .triggers = {in, program.of(again)}, .effects = {out}};
    if (schedules) parts.triggers = {in};
    std::int64_t& state = states[i];
    parts.body = [&state, &modes, in, out, again, schedules, switches](Body& b) {
      if (!b.present(in)) return;
      state = state * 3 + b.get(in);
      b.set(out, state % 1000);
      if (schedules) b.schedule_native(again, state % 3, state);
      if (switches) b.enter_mode(modes[state % 2 == 0 ? 0 : 1], true);
    };
    const ReactionId id = program.react(parts);
    if (in == back) program.on_startup(id);
    if ((natives >> i & 1U) == 0) continue;
    functions[i] = [&state, schedules, switches](reactorl_context* c) {
      if (!reactorl_present(c, 0, 0)) return 0;
      state = state * 3 + reactorl_get_int64(c, 0, 0);
      reactorl_set_int64(c, 0, 0, state % 1000);
      if (schedules) reactorl_schedule_int64(c, 1, state % 3, state);
      if (switches) reactorl_enter_mode(c, state % 2 == 0 ? 1 : 2);
      return 0;
    };
    NativeReaction native{.body = call, .state = &functions[i], .inputs = {port(in)}};
    native.effects = {port(out)};
    if (schedules) native.effects.push_back(action(again, program.of(again)));
    if (switches) native.effects.push_back(mode(modes[0]));
    if (switches) native.effects.push_back(mode(modes[1]));
    program.native(id, std::move(native));
  }
  // The start: a value on the way round.
  const SlotId first = slots[0];
  program.at_start(ReactorId(kReactors), {first}, [first](Body& b) { b.set(first, 5); });

  Options options = setting.options();
  options.timeout = 60;
  Session session(program, setting.workers, options);
  const Status status = session.run();
  return {status, session.scheduler.tag(), session.trace(), session.traced_numbers()};
}

}  // namespace

TEST(native_and_other_bodies_give_the_same_trace) {
  const Outcome expected = chain(0, {1, 0});
  CHECK(expected.words.size() > 200);
  for (const unsigned natives : {63U, 1U, 2U, 4U, 8U, 21U, 42U, 62U}) {
    for (const Setting setting : kSettings) CHECK(chain(natives, setting) == expected);
  }
  CHECK_EQ(Counted::live.load(), 0);
}

TEST(arrays_are_passed_by_reference_and_made_in_place) {
  constexpr reactorl_type kArray = REACTORL_TYPE(REACTORL_FLOAT64, 4);
  Program program;
  const SlotId slot = program.slot();
  const SlotId result = program.slot();
  program.type(slot, kArray);
  program.type(result, REACTORL_FLOAT64);
  const void* made = nullptr;
  Function make = [&](reactorl_context* c) {
    double* out = reactorl_make_float64s(c, 0, 0, 4);
    CHECK_EQ(out[3], 0.0);
    for (int i = 0; i < 4; ++i) out[i] = i + 0.5;
    made = out;
    return 0;
  };
  Function add = [&](reactorl_context* c) {
    const double* in = reactorl_get_float64s(c, 0, 0, 4);
    CHECK(in == made);
    return reactorl_set_float64(c, 0, 0, in[0] + in[1] + in[2] + in[3]);
  };
  const ReactionId a = program.at_start(0, {slot}, {});
  program.native(a, {.body = call, .state = &make, .effects = {port(slot, kArray)}});
  const ReactionId b =
      program.react({.reactor = 1, .triggers = {slot}, .effects = {result}});
  program.native(b, {.body = call,
                     .state = &add,
                     .inputs = {port(slot, kArray)},
                     .effects = {port(result, REACTORL_FLOAT64)}});
  Session session(program);
  CHECK(session.run() == Status::kFinished);
  const NativeValue* sum = session.scheduler.value(result).native();
  CHECK_EQ(*static_cast<const double*>(sum->data()), 8.0);
}

TEST(a_value_is_replaced_in_place_only_if_nothing_else_refers_to_it) {
  for (const bool delayed : {false, true}) {
    Program program;
    const auto timer = program.timer(0, 1);
    const SlotId slot = program.slot();
    program.type(slot, REACTORL_INT64);
    std::vector<const void*> seen;
    std::vector<std::int64_t> arrived;
    if (delayed) {
      const SlotId later = program.after(slot, 3);
      program.type(later, REACTORL_INT64);
      program.react(
          {.reactor = 1, .triggers = {later}, .body = [&arrived, later](Body& b) {
             arrived.push_back(b.get(later));
           }});
    }
    std::int64_t count = 0;
    Function work = [&](reactorl_context* c) {
      reactorl_set_int64(c, 0, 0, ++count);
      seen.push_back(reactorl_get(c, 0, 0, REACTORL_INT64));
      return 0;
    };
    const ReactionId id =
        program.react({.reactor = 0, .triggers = {program.of(timer)}, .effects = {slot}});
    program.native(
        id,
        {.body = call, .state = &work, .inputs = {port(slot)}, .effects = {port(slot)}});
    Session session(program, 1, {.fast = true, .timeout = 9, .start = 0});
    CHECK(session.run() == Status::kFinished);
    CHECK_EQ(seen.size(), std::size_t{10});
    // What would arrive after the end is not kept.
    const std::size_t kept = delayed ? 8 : seen.size();
    for (std::size_t i = 1; i < kept; ++i) {
      CHECK((seen[i] == seen[i - 1]) == !delayed);
    }
    if (delayed) CHECK_EQ(arrived, (std::vector<std::int64_t>{1, 2, 3, 4, 5, 6, 7}));
  }
}

TEST(a_trace_keeps_types_of_arrays_and_values_of_numbers) {
  constexpr reactorl_type kArray = REACTORL_TYPE(REACTORL_INT64, 2);
  for (const bool values : {false, true}) {
    Program program;
    const auto timer = program.timer(0, 1);
    const SlotId numbers = program.slot();
    const SlotId arrays = program.slot();
    const SlotId nothing = program.slot();
    program.type(numbers, REACTORL_INT64);
    program.type(arrays, kArray);
    program.type(nothing, REACTORL_NONE);
    std::int64_t count = 0;
    Function work = [&](reactorl_context* c) {
      ++count;
      reactorl_set_int64(c, 0, 0, count / 2);
      *reactorl_make_int64s(c, 1, 0, 2) = count / 3;
      return reactorl_set_none(c, 2, 0);
    };
    const ReactionId id = program.react({.reactor = 0,
                                         .triggers = {program.of(timer)},
                                         .effects = {numbers, arrays, nothing}});
    program.native(id, {.body = call,
                        .state = &work,
                        .effects = {port(numbers), port(arrays, kArray),
                                    port(nothing, REACTORL_NONE)}});
    Session session(
        program, 1,
        {.fast = true, .trace = true, .trace_values = values, .timeout = 9, .start = 0});
    CHECK(session.run() == Status::kFinished);
    // Numbers 0 to 5; arrays once, or 0 to 3; nothing at all of what has no data.
    CHECK_EQ(session.scheduler.trace().values().size(), values ? 10U : 7U);
  }
}

// ---- Failures
// ---------------------------------------------------------------------------

TEST(the_failure_that_is_first_in_the_order_is_reported) {
  for (const Setting setting : kSettings) {
    Program program;
    std::vector<Function> functions(8);
    for (ReactorId r = 0; r < 8; ++r) {
      functions[r] = [r](reactorl_context* c) -> std::int32_t {
        if (r < 3) return 0;
        return reactorl_fail(c, static_cast<std::int32_t>(r), "wrong");
      };
      const ReactionId id = program.at_start(r, {}, {});
      program.native(id, {.body = call, .state = &functions[r]});
    }
    Session session(program, setting.workers, setting.options());
    CHECK(session.run() == Status::kFailed);
    const auto [key, failure] = session.scheduler.native_failure();
    CHECK_EQ(key, trace_key(0, 3));
    CHECK_EQ(failure.code, 3);
    CHECK_EQ(failure.message, std::string("wrong"));
  }
}

namespace {

/// The message with which a body fails that has one input and effects of all kinds.
auto message(Function work) -> std::string {
  Program program;
  const auto timer = program.timer(0);
  const SlotId in = program.slot();
  const SlotId out = program.slot();
  program.type(in, REACTORL_INT64);
  program.type(out, REACTORL_FLOAT64);
  const std::vector<ModeId> modes = program.modal(2);
  const ReactionId id = program.react(
      {.reactor = 0, .triggers = {program.of(timer)}, .sources = {in}, .effects = {out}});
  program.native(id, {.body = call,
                      .state = &work,
                      .inputs = {port(in)},
                      .effects = {port(out, REACTORL_FLOAT64), mode(modes[1])}});
  Session session(program);
  CHECK(session.run() == Status::kFailed);
  CHECK(!session.scheduler.present(out));
  return session.scheduler.native_failure().second.message;
}

}  // namespace

TEST(wrong_numbers_and_types_make_a_body_fail) {
  CHECK_EQ(message([](reactorl_context* c) {
             reactorl_get_float64(c, 0, 0);
             return reactorl_set_float64(c, 0, 0, 1.0);  // does nothing any more
           }),
           std::string("port has dtype int64, and the native body uses it as float64"));
  CHECK_EQ(message([](reactorl_context* c) { return reactorl_set_int64(c, 0, 0, 1); }),
           std::string("port has dtype float64, and the native body uses it as int64"));
  CHECK_EQ(
      message([](reactorl_context* c) {
        reactorl_make_float64s(c, 0, 0, 3);
        return 0;
      }),
      std::string("port has dtype float64, and the native body uses it as float64[3]"));
  CHECK_EQ(message([](reactorl_context* c) {
             reactorl_get_int64(c, 1, 0);
             return 0;
           }),
           std::string("input must be less than 1, got 1"));
  CHECK_EQ(message([](reactorl_context* c) { return reactorl_set_none(c, 7, 0); }),
           std::string("effect must be less than 2, got 7"));
  CHECK_EQ(message([](reactorl_context* c) {
             reactorl_present(c, 0, 2);
             return 0;
           }),
           std::string("channel of port must be less than 1, got 2"));
  CHECK_EQ(message([](reactorl_context* c) { return reactorl_set_none(c, 1, 0); }),
           std::string("effect 1, mode, is not a port"));
  CHECK_EQ(message([](reactorl_context* c) { return reactorl_schedule_none(c, 0, 0); }),
           std::string("effect 0, port, is not an action"));
  CHECK_EQ(message([](reactorl_context* c) { return reactorl_enter_mode(c, 0); }),
           std::string("effect 0, port, is not a mode"));
  CHECK_EQ(message([](reactorl_context* c) { return reactorl_request_stop(c); }),
           std::string("a native body that requests the end of the program must be "
                       "declared with stops=True"));
  CHECK_EQ(message([](reactorl_context* c) {
             return reactorl_set(c, 0, 0, REACTORL_FLOAT64, nullptr);
           }),
           std::string("a value of dtype float64 must not be null"));
  CHECK_EQ(message([](reactorl_context*) { return 7; }), std::string());
}

// ---- Time
// -------------------------------------------------------------------------------

TEST(deadlines_of_native_bodies_ask_the_host_only_if_it_watches_the_clock) {
  Program program;
  const auto timer = program.timer(0, 1);
  int bodies = 0;
  int handlers = 0;
  Function body = [&](reactorl_context*) { return ++bodies, 0; };
  const ReactionId id =
      program.react({.reactor = 0, .triggers = {program.of(timer)}, .deadline = 10});
  // The handler is not native: kinds may differ.
  const ReactionId other =
      program.react({.reactor = 1,
                     .triggers = {program.of(timer)},
                     .body = [&](Body& b) { handlers += b.missed(); },
                     .deadline = 10});
  program.native(id, {.body = call, .state = &body});
  program.native(other, {.body = call, .state = &body});
  Session session(program, 1, {.fast = true, .timeout = 9, .start = 0});
  session.host.lateness = [&](ReactionId r, Time due) {
    return r == other && due % 2 == 0 ? Lateness::kLate : Lateness::kOnTime;
  };
  CHECK(session.run() == Status::kFinished);
  CHECK_EQ(bodies, 15);
  CHECK_EQ(handlers, 5);
}

TEST(native_bodies_see_the_tag_and_can_end_the_program) {
  Program program;
  const auto timer = program.timer(3, 4);
  std::vector<Tag> seen;
  Function work = [&](reactorl_context* c) {
    const reactorl_tag now = reactorl_now(c);
    seen.push_back({now.time - reactorl_start_time(c), now.microstep});
    CHECK(reactorl_physical_time(c) > 0);
    return seen.size() == 3 ? reactorl_request_stop(c) : 0;
  };
  const ReactionId id = program.react({.reactor = 0, .triggers = {program.of(timer)}});
  program.native(id, {.body = call, .state = &work, .stops = true});
  Session session(program, 1, {.fast = true, .start = 1000});
  CHECK(session.run() == Status::kFinished);
  CHECK_EQ(seen, (std::vector<Tag>{{3, 0}, {7, 0}, {11, 0}}));
  CHECK_EQ(session.scheduler.tag(), (Tag{1011, 1}));
}

// ---- Plans
// --------------------------------------------------------------------------------

TEST(plans_that_mix_types_are_refused) {
  const auto refused = [](auto change) {
    Program program;
    const SlotId a = program.slot();
    const SlotId b = program.after(a, 1);
    const ReactionId r = program.react({.reactor = 0, .triggers = {a}, .effects = {b}});
    program.forward(r, a, b);
    program.type(a, REACTORL_INT64);
    program.type(b, REACTORL_INT64);
    Plan plan = program.plan(1);
    plan.validate();
    change(plan);
    try {
      plan.validate();
    } catch (const PlanError&) {
      return true;
    }
    return false;
  };
  CHECK(refused([](Plan& p) { p.slot_types[0] = REACTORL_FLOAT64; }));
  CHECK(refused([](Plan& p) { p.slot_types[1] = Plan::kUntyped; }));
  CHECK(refused([](Plan& p) { p.slot_types.pop_back(); }));
  CHECK(refused([](Plan& p) { p.slot_types[0] = 77; }));
  CHECK(refused([](Plan& p) {
    p.slot_types.clear();
    p.reactions[0].native = true;
  }));
}
