// SPDX-License-Identifier: Apache-2.0
// Registers and converts; decides nothing.
#include <stdexcept>
#include <string>
#include <tuple>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "freeze.hpp"
#include "id_caster.hpp"
#include "python_host.hpp"
#include "reactorl/error.hpp"
#include "reactorl/scheduler.hpp"
#include "session.hpp"
#include "views.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace reactorl::bind {
namespace {

using Ids = std::vector<std::uint32_t>;
using Times = std::vector<Time>;

void add_reactions(Plan& plan, const std::vector<LevelId>& level,
                   const std::vector<ReactorId>& reactor, const Ids& home,
                   const std::vector<ModeId>& scope, const Times& deadline,
                   const std::vector<SlotId>& forward_from,
                   const std::vector<SlotId>& forward_to, const std::vector<bool>& native,
                   const std::vector<bool>& native_handler) {
  for (std::size_t i = 0; i < level.size(); ++i) {
    plan.reactions.push_back({level[i], reactor.at(i), home.at(i), scope.at(i),
                              deadline.at(i), forward_from.at(i), forward_to.at(i),
                              native.at(i), native_handler.at(i)});
    plan.levels = std::max(plan.levels, level[i] + 1);
  }
}

void add_triggers(Plan& plan, const Ids& kind, const Ids& policy,
                  const std::vector<ModeId>& scope, const std::vector<SlotId>& slot,
                  const std::vector<SlotId>& source, const Times& delay,
                  const Times& spacing) {
  for (std::size_t i = 0; i < kind.size(); ++i) {
    plan.triggers.push_back({static_cast<TriggerKind>(kind[i]),
                             static_cast<Policy>(policy.at(i)), scope.at(i), slot.at(i),
                             source.at(i), delay.at(i), spacing.at(i)});
  }
}

void add_modes(Plan& plan, const Ids& modal, const std::vector<ModeId>& scope,
               const std::vector<bool>& initial) {
  for (std::size_t i = 0; i < modal.size(); ++i) {
    plan.modes.push_back({modal[i], scope.at(i), initial.at(i)});
    plan.modals = std::max(plan.modals, modal[i] + 1);
  }
}

auto status_word(Status status) -> const char* {
  switch (status) {
    case Status::kRunning: return "running";
    case Status::kFinished: return "finished";
    case Status::kFailed: return "failed";
    case Status::kBrokenOff: return "broken off";
  }
  return "";
}

auto as_bytes(const std::vector<std::int64_t>& numbers) -> nb::bytes {
  return nb::bytes(reinterpret_cast<const char*>(numbers.data()),
                   numbers.size() * sizeof(std::int64_t));
}

auto cpu_clocks(const Session& session) -> std::vector<std::int64_t> {
  std::vector<std::int64_t> clocks;
  for (WorkerId w = 0; w < session.workers(); ++w) {
    clocks.push_back(session.host().cpu_clock(w));
  }
  return clocks;
}

auto cost_numbers(const Session& session) -> nb::bytes {
  std::vector<std::int64_t> numbers;
  numbers.reserve(3 * session.reactions());
  session.read([&](const Scheduler& core) {
    for (ReactionId r = 0; r < session.reactions(); ++r) {
      const Costs::Entry& e = core.costs().entry(r);
      for (const std::uint64_t n : {e.runs.get(), e.measured.get() + e.waiting.get()}) {
        numbers.push_back(static_cast<std::int64_t>(n));
      }
      numbers.push_back(e.total.get() + e.waiting_total.get());
    }
  });
  return as_bytes(numbers);
}

auto timing_numbers(const Timings& timings) -> nb::tuple {
  std::vector<std::int64_t> sums;
  const auto add = [](std::vector<std::int64_t>& to, auto... numbers) {
    (to.push_back(static_cast<std::int64_t>(numbers)), ...);
  };
  for (const auto& s : timings.sums()) add(sums, s.runs, s.missed, s.total, s.longest);
  std::vector<std::int64_t> works;
  nb::list invocations;
  for (const auto& work : timings.works()) {
    add(works, work.runs, work.busy, work.recent.forgotten());
    std::vector<std::int64_t> ran;
    work.recent.for_each([&](const Timings::Invocation& i) {
      add(ran, i.epoch, i.reaction, i.missed, i.begin, i.end);
    });
    invocations.append(as_bytes(ran));
  }
  const Timings::Lags& lags = timings.lags();
  std::vector<std::int64_t> tags;
  add(tags, lags.tags, lags.total, lags.longest, lags.began, lags.ended);
  timings.tags().for_each([&](const Timings::TagTime& t) {
    add(tags, t.epoch, t.tag.time, t.tag.microstep, t.begin, t.end, t.lag);
  });
  std::vector<std::int64_t> waits;
  for (const auto& [whom, sum] : timings.waits()) {
    add(waits, whom.first, whom.second, sum.waits, sum.total, sum.longest);
  }
  std::vector<std::int64_t> waited;
  timings.recent_waits().for_each([&](const Timings::Wait& w) {
    add(waited, w.peer, w.kind, w.tag.time, w.tag.microstep, w.begin, w.end);
  });
  return nb::make_tuple(as_bytes(sums), as_bytes(works), as_bytes(tags), invocations,
                        as_bytes(waits), as_bytes(waited));
}

auto crossings(const std::vector<SlotId>& slots, const std::vector<ReactionId>& writers)
    -> std::vector<Crossing> {
  std::vector<Crossing> all;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    all.push_back({slots[i], writers.at(i)});
  }
  return all;
}

auto steal(PyObject* object) -> nb::object {
  if (object == nullptr) throw nb::python_error();
  return nb::steal(object);
}

auto as_object(const Session& session, const Value& value) -> nb::object {
  return steal(session.host().as_object(value));
}

auto as_value(const Session& session, const char* kind, std::uint32_t element,
              SlotId slot, nb::handle object) -> Value {
  Value value;
  const reactorl_type type = session.plan().type_of(slot);
  if (!session.host().as_value(object.ptr(), type, kind, element, value)) {
    throw nb::python_error();
  }
  return value;
}

auto step(Session& session, Time delay,
          const std::vector<std::pair<SlotId, nb::object>>& inputs) -> nb::tuple {
  std::vector<std::pair<SlotId, Value>> values;
  values.reserve(inputs.size());
  for (const auto& [slot, value] : inputs) {
    const bool freezes =
        session.plan().type_of(slot) == Plan::kUntyped && session.host().freeze_arrays;
    if (freezes && !freeze(value.ptr())) throw nb::python_error();
    values.emplace_back(slot, as_value(session, "slot", slot, slot, value));
  }
  const Session::Stepped done = session.step(delay, std::move(values));
  nb::list present;
  for (const auto& [index, value] : done.present) {
    present.append(nb::make_tuple(index, as_object(session, value)));
  }
  return nb::make_tuple(status_word(done.status), done.tag.time, done.tag.microstep,
                        present);
}

/// Kind (0: port, 1: action, 2: mode), type, slots, id of the action or mode, whether it
/// is physical or entered by reset, name.
using Element = std::tuple<std::uint32_t, reactorl_type, std::vector<SlotId>,
                           std::uint32_t, bool, std::string>;

auto as_elements(const std::vector<Element>& all) -> std::vector<NativeElement> {
  std::vector<NativeElement> elements;
  for (const auto& [number, type, slots, id, flag, name] : all) {
    const auto kind = static_cast<NativeElement::Kind>(number);
    const bool is_mode = kind == NativeElement::Kind::kMode;
    elements.push_back({.kind = kind,
                        .physical = !is_mode && flag,
                        .by_reset = is_mode && flag,
                        .type = type,
                        .slots = slots,
                        .trigger = TriggerId(id),
                        .mode = ModeId(id),
                        .name = name});
  }
  return elements;
}

auto failure(Session& session) -> nb::tuple {
  auto [reaction, error] = session.host().take_failure();
  const auto [native_key, native] = session.scheduler().native_failure();
  const bool interrupted = reaction == kNone && error != nullptr;
  const bool is_native =
      native_key != kLastKey && !interrupted &&
      (error == nullptr ||
       native_key < trace_key(session.scheduler().level(reaction), reaction));
  if (is_native) {
    Py_XDECREF(error);
    return nb::make_tuple(ReactionId(static_cast<std::uint32_t>(native_key)), nb::none(),
                          nb::make_tuple(native.code, native.message));
  }
  return nb::make_tuple(
      reaction, error == nullptr ? nb::object(nb::none()) : nb::steal(error), nb::none());
}

void hold(PyObject*& place, nb::handle object) {
  Py_XSETREF(place, object.is_none() ? nullptr : Py_NewRef(object.ptr()));
}

}  // namespace

auto schedule_physical(PyObject* session, TriggerId trigger, Time extra, Value value)
    -> bool {
  Session* target = nullptr;
  if (!nb::try_cast(nb::handle(session), target) || target == nullptr) {
    PyErr_SetString(PyExc_TypeError, "not a session");
    return false;
  }
  target->schedule_physical(trigger, extra, std::move(value));
  return true;
}

}  // namespace reactorl::bind

NB_MODULE(_core, m) {
  using namespace reactorl;
  using namespace reactorl::bind;

#ifdef NDEBUG
  // Objects that are alive at exit are not leaks of ours: a daemon thread may hold an
  // action, a run may never have been closed. Builds for debugging list them.
  nb::set_leak_warnings(false);
#endif
  m.attr("UNTYPED") = Plan::kUntyped;
  m.doc() = "The reactor runtime's core. Use `reactorl.run` and `reactorl.drive`.";
  Value::ops = {[](void* o) noexcept { Py_INCREF(static_cast<PyObject*>(o)); },
                [](void* o) noexcept { Py_DECREF(static_cast<PyObject*>(o)); }};
  if (!add_view_types(m.ptr())) throw nb::python_error();
  nb::exception<PlanError>(m, "PlanError");
  static PyObject* const busy =
      PyErr_NewException("reactorl._core.SessionBusyError", PyExc_RuntimeError, nullptr);
  m.attr("SessionBusyError") = nb::handle(busy);
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const SessionBusy& error) {
      PyErr_SetObject(busy, error.inside ? Py_True : Py_False);
    }
  });

  nb::class_<Plan>(m, "Plan", "A program as flat tables of ids.")
      .def(nb::init<>())
      .def_rw("slots", &Plan::slots)
      .def_rw("slot_types", &Plan::slot_types,
              "Per slot the type of its values, or UNTYPED; empty: all are untyped.")
      .def_rw("workers", &Plan::workers)
      .def_rw("startup", &Plan::startup)
      .def_rw("shutdown", &Plan::shutdown)
      .def_rw("reset", &Plan::reset)
      .def("add_reactions", add_reactions, nb::kw_only(), "level"_a, "reactor"_a,
           "home"_a, "scope"_a, "deadline"_a, "forward_from"_a, "forward_to"_a,
           "native"_a, "native_handler"_a)
      .def("add_triggers", add_triggers, nb::kw_only(), "kind"_a, "policy"_a, "scope"_a,
           "slot"_a, "source"_a, "delay"_a, "spacing"_a)
      .def("add_modes", add_modes, nb::kw_only(), "modal"_a, "scope"_a, "initial"_a)
      .def(
          "set_slot_reactions",
          [](Plan& p, Ids start, std::vector<ReactionId> item) {
            p.slot_reactions = {std::move(start), std::move(item)};
          },
          "start"_a, "item"_a)
      .def(
          "set_slot_stages",
          [](Plan& p, Ids start, std::vector<TriggerId> item) {
            p.slot_stages = {std::move(start), std::move(item)};
          },
          "start"_a, "item"_a)
      .def(
          "set_downstream",
          [](Plan& p, Ids start, std::vector<ReactionId> item) {
            p.downstream = {std::move(start), std::move(item)};
          },
          "start"_a, "item"_a)
      .def("validate", &Plan::validate);

  nb::class_<GatePlan>(m, "GatePlan", "What the core of a federate knows of others.")
      .def(
          "__init__",
          [](GatePlan* self, bool flat, bool physical, bool stops, PeerId me) {
            new (self) GatePlan{{}, {}, flat, physical, stops, me};
          },
          nb::kw_only(), "flat"_a, "physical"_a, "stops"_a, "me"_a)
      .def(
          "add_peer",
          [](GatePlan& plan, const std::vector<SlotId>& in_slots,
             const std::vector<ReactionId>& in_writers,
             const std::vector<SlotId>& out_slots,
             const std::vector<ReactionId>& out_writers, Time in_delay, bool sends,
             bool answers) {
            plan.peers.push_back({crossings(in_slots, in_writers),
                                  crossings(out_slots, out_writers), in_delay, sends,
                                  answers});
          },
          nb::kw_only(), "in_slots"_a, "in_writers"_a, "out_slots"_a, "out_writers"_a,
          "in_delay"_a, "sends"_a, "answers"_a)
      .def(
          "add_route",
          [](GatePlan& plan, TriggerId stage, std::vector<PeerId> peers, bool here) {
            plan.routes.push_back({stage, std::move(peers), here});
          },
          "stage"_a, "peers"_a, "here"_a);

  nb::class_<Session>(m, "Session", "One run of a plan.")
      .def(
          "__init__",
          [](Session* self, const Plan& plan, bool fast, bool keepalive, bool trace,
             bool trace_values, bool replay, bool one_at_a_time,
             std::optional<Time> timeout, std::optional<Time> start,
             std::uint64_t shuffle, bool stay_home, std::uint32_t timing) {
            Options options;
            options.fast = fast;
            options.keepalive = keepalive;
            options.trace = trace;
            options.trace_values = trace_values;
            options.replay = replay;
            options.one_at_a_time = one_at_a_time;
            options.timeout = timeout.value_or(kForever);
            options.start = start.value_or(kForever);
            options.shuffle = shuffle;
            options.stay_home = stay_home;
            options.timing = timing;
            new (self) Session(plan, options);
          },
          "plan"_a, nb::kw_only(), "fast"_a, "keepalive"_a, "trace"_a, "trace_values"_a,
          "replay"_a, "one_at_a_time"_a, "timeout"_a.none(), "start"_a.none(),
          "shuffle"_a, "stay_home"_a, "timing"_a)
      .def(
          "add_body",
          [](Session& s, nb::object function, nb::object handler, nb::object instance,
             ReactorId reactor, std::uint32_t index) {
            PythonHost::Body body;
            hold(body.function, function);
            hold(body.handler, handler);
            hold(body.self, instance);
            s.host().bodies.push_back(body);
            s.host().identities.push_back({reactor, index});
          },
          "function"_a.none(), "handler"_a.none(), "instance"_a.none(), "reactor"_a,
          "index"_a, "Give the next reaction its body; in the order of ids.")
      .def(
          "set_native",
          [](Session& s, ReactionId reaction, std::uintptr_t body, std::uintptr_t handler,
             std::uintptr_t state, bool stops, const std::vector<Element>& inputs,
             const std::vector<Element>& effects) {
            s.scheduler().set_native(
                reaction, {.body = reinterpret_cast<reactorl_function>(body),
                           .handler = reinterpret_cast<reactorl_function>(handler),
                           .state = reinterpret_cast<void*>(state),
                           .stops = stops,
                           .inputs = as_elements(inputs),
                           .effects = as_elements(effects)});
          },
          nb::kw_only(), "reaction"_a, "body"_a, "handler"_a, "state"_a, "stops"_a,
          "inputs"_a, "effects"_a,
          "Give a reaction native bodies: addresses of functions and state, 0 for none. "
          "An element is (kind, type, slots, trigger or mode, flag, name).")
      .def(
          "set_layouts",
          [](Session& s, const std::vector<nb::object>& layouts) {
            for (const nb::object& layout : layouts) {
              s.host().layouts.push_back(Py_NewRef(layout.ptr()));
            }
          },
          "layouts"_a,
          "Say how values are shown that are not single numbers: (from bytes, to bytes, "
          "class), by the layout of their type.")
      .def(
          "set_hooks",
          [](Session& s, nb::object refuse, nb::object mismatch, nb::object clock,
             nb::object late, nb::object deliver, nb::object describe,
             bool freeze_arrays) {
            hold(s.host().refuse, refuse);
            hold(s.host().mismatch, mismatch);
            hold(s.host().clock_hook, clock);
            hold(s.host().late_hook, late);
            hold(s.host().deliver_hook, deliver);
            hold(s.host().describe, describe);
            s.host().freeze_arrays = freeze_arrays;
          },
          nb::kw_only(), "refuse"_a.none(), "mismatch"_a.none(), "clock"_a.none(),
          "late"_a.none(), "deliver"_a.none(), "describe"_a.none(), "freeze_arrays"_a)
      .def(
          "port",
          [](Session& s, ReactorId holder, std::uint32_t element, SlotId slot,
             bool copies, bool replaceable, const Ids& readers, const Ids& writers) {
            return steal(new_port({s.serial(), holder, element}, slot,
                                  s.plan().type_of(slot), copies, replaceable, readers,
                                  writers));
          },
          nb::kw_only(), "holder"_a, "element"_a, "slot"_a, "copies"_a, "replaceable"_a,
          "readers"_a, "writers"_a)
      .def(
          "action",
          [](nb::handle self, ReactorId holder, std::uint32_t element, SlotId slot,
             TriggerId trigger, bool physical, const Ids& readers, const Ids& writers) {
            auto& s = nb::cast<Session&>(self);
            return steal(new_action(
                {s.serial(), holder, element}, slot, s.plan().type_of(slot), trigger,
                physical ? self.ptr() : nullptr, s.host(), readers, writers));
          },
          nb::kw_only(), "holder"_a, "element"_a, "slot"_a, "trigger"_a, "physical"_a,
          "readers"_a, "writers"_a)
      .def(
          "mode",
          [](Session& s, ReactorId holder, std::uint32_t element, const Ids& resetting,
             const Ids& resuming) {
            return steal(new_mode({s.serial(), holder, element}, resetting, resuming));
          },
          nb::kw_only(), "holder"_a, "element"_a, "resetting"_a, "resuming"_a)
      .def(
          "preload",
          [](Session& s, TriggerId trigger, Time time, std::uint32_t microstep,
             nb::object value) {
            const SlotId slot = s.plan().triggers.at(trigger).slot;
            s.scheduler().preload(trigger, {time, microstep},
                                  as_value(s, "trigger", trigger, slot, value));
          },
          "trigger"_a, "time"_a, "microstep"_a, "value"_a.none())
      .def(
          "stop_at",
          [](Session& s, Time time, std::uint32_t microstep) {
            s.scheduler().stop_at({time, microstep});
          },
          "time"_a, "microstep"_a)
      .def("start", [](Session& s) { return status_word(s.start()); })
      .def("run", [](Session& s) { return status_word(s.run()); })
      .def(
          "set_outputs",
          [](Session& s, std::vector<SlotId> slots) { s.outputs = std::move(slots); },
          "slots"_a, "Say once what every step is to tell about.")
      .def(
          "step", &step, "delay"_a, "inputs"_a,
          nb::sig("def step(self, delay: int, inputs: Sequence[tuple[int, object]]) -> "
                  "tuple[str, int, int, list[tuple[int, object]]]"),
          "Run the tag that is `delay` from the last one, with these inputs. Returns the "
          "status, the tag, and which of the outputs were set, with their values.")
      .def("finish", [](Session& s) { return status_word(s.finish()); })
      .def(
          "failure", &failure,
          nb::sig("def failure(self) -> tuple[int, BaseException | None, "
                  "tuple[int, str] | None]"),
          "What ended the run: an interrupt if there was one (-1), else the failure that "
          "is first in the fixed order, with its reaction. Of a native body it is a "
          "number and a message.")
      .def("tag",
           [](const Session& s) {
             const Tag tag = s.read([](const Scheduler& core) { return core.tag(); });
             return std::pair(tag.time, tag.microstep);
           })
      .def(
          "start_time",
          [](const Session& s) {
            return s.read(
                [](const Scheduler& core) { return core.clock().start_time(); });
          },
          "For any thread.")
      .def(
          "physical_time",
          [](const Session& s) {
            return s.read([](const Scheduler& core) { return core.clock().now(); });
          },
          "For any thread.")
      .def(
          "running",
          [](const Session& s) -> ReactionId {
            const Worker* w = current_worker();
            return w == nullptr || w->serial != s.serial() ? kNone : w->reaction;
          },
          "The reaction whose body the calling thread runs, or -1.")
      .def(
          "worker",
          [](const Session& s) -> long {
            const Worker* w = current_worker();
            return w == nullptr || w->serial != s.serial() ? -1
                                                           : static_cast<long>(w->id);
          },
          "The worker that the calling thread is, or -1.")
      .def(
          "deadline",
          [](const Session& s, ReactionId r) { return s.scheduler().deadline(r); },
          "reaction"_a)
      .def(
          "change_deadline",
          [](Session& s, ReactionId r, Time d) { s.scheduler().change_deadline(r, d); },
          "reaction"_a, "deadline"_a)
      .def("request_stop", &Session::request_stop)
      .def(
          "federate",
          [](Session& s, const GatePlan& plan, nb::object say, nb::object wait) {
            s.federate(plan, say.ptr(), wait.ptr());
          },
          "plan"_a, "say"_a, "wait"_a,
          "Make this the session of a federate. `say` gets messages for others, `wait` "
          "what the coordinator has to know when nothing can be done.")
      .def(
          "put",
          [](Session& s, int kind, bool final, PeerId peer, Time time,
             std::uint32_t microstep, std::uint32_t index, Time at_time,
             std::uint32_t at_microstep, TraceKey key, nb::object value,
             std::optional<std::tuple<Time, std::uint32_t, Time, std::uint32_t>> rides) {
            std::optional<Promise> promise;
            if (rides) {
              const auto [low, low_step, next, next_step] = *rides;
              promise = {{low, low_step}, {next, next_step}};
            }
            s.put({static_cast<MessageKind>(kind),
                   final,
                   peer,
                   {time, microstep},
                   index,
                   {at_time, at_microstep},
                   key,
                   Value::share(value.ptr()),
                   promise});
          },
          "kind"_a, "final"_a, "peer"_a, "time"_a, "microstep"_a, "index"_a, "at_time"_a,
          "at_microstep"_a, "key"_a, "value"_a.none(), "promise"_a.none() = nb::none(),
          "Take a message from another federate or from the coordinator. For any thread.")
      .def(
          "broken",
          [](const Session& s) -> std::optional<std::string> {
            const char* text =
                s.read([](const Scheduler& core) { return core.broken(); });
            return text == nullptr ? std::nullopt : std::optional<std::string>(text);
          },
          "What a message said that cannot be, if that ended the run.")
      .def(
          "present",
          [](const Session& s, SlotId slot) { return s.scheduler().present(slot); },
          "slot"_a)
      .def(
          "value",
          [](const Session& s, SlotId slot) -> nb::object {
            return as_object(s, s.scheduler().value(slot));
          },
          "slot"_a)
      .def(
          "counts",
          [](const Session& s) {
            return s.read([](const Scheduler& core) {
              return std::tuple(core.tags_run(), core.events_delivered(),
                                core.phases_shared());
            });
          },
          "Tags run, events delivered, tags whose work was shared. For any thread.")
      .def(
          "reached",
          [](const Session& s) {
            return s.read([](const Scheduler& core) { return core.reached(); });
          },
          "When the latest tag was that is done, since the start. For any thread.")
      .def("cpu_clocks", &cpu_clocks,
           "Per worker the clock of its thread's processor time, 0 where there is none "
           "(the caller's, or not started). For any thread.")
      .def("costs", &cost_numbers, nb::sig("def costs(self) -> bytes"),
           "Per reaction runs, timed runs, and nanoseconds of the timed ones, waiting "
           "for an interpreter lock included, as 64-bit numbers. For any thread.")
      .def(
          "cost",
          [](const Session& s, ReactionId r) {
            const auto& e = s.scheduler().costs().entry(r);
            return std::tuple(e.runs.get(), e.measured.get(), e.total.get());
          },
          "reaction"_a, "Runs, measured runs, and nanoseconds of the measured ones.")
      .def(
          "trace_bytes",
          [](const Session& s) {
            const auto bytes = s.scheduler().trace().bytes();
            return nb::bytes(bytes.data(), bytes.size());
          },
          "What happened so far; for `expand_trace`.")
      .def(
          "trace_values",
          [](const Session& s) {
            nb::list list;
            for (const Value* value : s.scheduler().trace().values()) {
              const NativeValue* native = value->native();
              list.append(native == nullptr ? as_object(s, *value)
                                            : steal(s.host().as_kept(*native)));
            }
            return list;
          },
          nb::sig("def trace_values(self) -> list[object]"),
          "What was kept of values that were sent: scalars, types, or (text,).")
      .def(
          "timing",
          [](const Session& s) {
            const Timings* timings = s.scheduler().timings();
            if (timings == nullptr) throw std::runtime_error("times were not measured");
            return timing_numbers(*timings);
          },
          nb::sig("def timing(self) -> tuple[bytes, bytes, bytes, list[bytes], bytes, "
                  "bytes]"),
          "Measured times, as 64-bit numbers: per reaction runs, missed deadlines, "
          "total, longest; per worker runs, busy time, invocations not kept; tags, total "
          "lag, longest lag, begin, end, then per kept tag number, time, microstep, "
          "begin, end, lag; "
          "per worker and kept invocation tag number, reaction, missed, begin, end; in a "
          "federation per federate and kind waits, total, longest, after these two; per "
          "kept wait federate, kind, time, microstep, begin, end.")
      .def("reserve", &Session::reserve,
           "Keep other threads out from now on, until `close`.")
      .def("close", &Session::close);

  m.def(
      "expand_trace",
      [](nb::bytes noted) {
        const auto* first = reinterpret_cast<const std::uint8_t*>(noted.c_str());
        const Expanded expanded = expand({first, noted.size()});
        return std::pair(as_bytes(expanded.words), as_bytes(expanded.which));
      },
      "noted"_a,
      "Return the numbers of a trace, in the form told in trace_log.hpp, and for each "
      "port set which value was kept.");
  m.def(
      "values", [](nb::object ports) { return steal(port_values(ports.ptr())); },
      nb::sig("def values(ports: tuple[object, ...]) -> list[object]"),
      "The values of a multiport's present channels, in order.");
}
