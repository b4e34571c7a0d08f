// SPDX-License-Identifier: Apache-2.0
// The module `_stepping`: how environments are stepped, and where results land.
#include <nanobind/nanobind.h>

#include "result_writer.hpp"
#include "stepper.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace reactorl::bind {
namespace {

template <class T>
auto traverse(PyObject* self, visitproc visit, void* arg) -> int {
  Py_VISIT(Py_TYPE(self));
  return nb::inst_ready(self) ? nb::inst_ptr<T>(self)->traverse(visit, arg) : 0;
}

template <class T>
auto clear(PyObject* self) -> int {
  nb::inst_ptr<T>(self)->clear();
  return 0;
}

/// For the garbage collector: an environment may refer to its stepper, and an error
/// knows who saw it.
template <class T>
PyType_Slot collected[] = {
    {Py_tp_traverse, reinterpret_cast<void*>(&traverse<T>)},
    {Py_tp_clear, reinterpret_cast<void*>(&clear<T>)},
    {0, nullptr},
};

}  // namespace
}  // namespace reactorl::bind

NB_MODULE(_stepping, m) {
  using namespace reactorl::bind;

  m.doc() = "Steps, and where their results land. Use `reactorl.rl.envs.sub_env`.";
  m.attr("LEFT") = static_cast<int>(kLeft);
  m.attr("GOES_ON") = static_cast<int>(kGoesOn);
  m.attr("ENDED") = static_cast<int>(kEnded);

  nb::class_<ResultWriter>(m, "ResultWriter",
                           "Where the results of one environment land.")
      .def(nb::init<const nb::object&, const nb::object&, const nb::object&,
                    const nb::object&, bool>(),
           "observation"_a.none(), "reward"_a, "terminated"_a, "truncated"_a,
           nb::kw_only(), "ends"_a,
           "The row of an observation, or a tuple of rows; the places of the rest; and "
           "whether the last steps of episodes land, too.")
      .def(
          "take",
          [](const ResultWriter& self, nb::handle result) {
            return static_cast<int>(self.take(result.ptr()));
          },
          "result"_a.none(),
          "Put what a step returned where it belongs, or nothing at all: then it is LEFT "
          "to the caller, as it is not what most steps return.")
      .def(
          "take_first",
          [](const ResultWriter& self, nb::handle result) {
            return self.take_first(result.ptr());
          },
          "result"_a.none(),
          "Likewise for the observation of what a reset returned; tells if it landed.");

  nb::class_<Unfinished>(m, "Unfinished", nb::type_slots(collected<Unfinished>),
                         "What is left to do of a step.")
      .def_ro("begun", &Unfinished::begun, "Whether the environment was stepped.")
      .def_ro("is_reset", &Unfinished::is_reset, "Whether it was reset instead.")
      .def_ro("result", &Unfinished::result, nb::sig("def result(self) -> typing.Any"),
              "What it returned, which did not land.")
      .def_ro("error", &Unfinished::error,
              nb::sig("def error(self) -> BaseException | None"),
              "What it raised, if it failed.");

  nb::class_<Stepper>(m, "Stepper", nb::type_slots(collected<Stepper>),
                      "Steps one environment the way most steps go.")
      .def(nb::init<nb::object, bool, bool>(), "index"_a, nb::kw_only(), "plain"_a,
           "resets"_a,
           "Which one it is; whether steps are done here, or all left to the caller; and "
           "whether a reset after the end of an episode is done here, too.")
      .def_rw("env", &Stepper::env,
              nb::for_getter(nb::sig("def env(self) -> typing.Any")), "env"_a.none(),
              "The environment.")
      .def_rw("ended", &Stepper::ended, "Whether its episode has.")
      .def_rw("steps", &Stepper::steps, "How many it has begun.")
      .def("land", &Stepper::land, "landing"_a.none(),
           "Let results land there from now on; nowhere, if it is None.")
      .def(
          "step",
          [](Stepper& self, nb::handle action) -> nb::object {
            std::optional<Unfinished> rest = self.step(action.ptr());
            return rest ? nb::cast(std::move(*rest)) : nb::none();
          },
          "action"_a.none(),
          nb::sig("def step(self, action: object | None) -> Unfinished | None"),
          "Step it, and return what is left to do of that; None if nothing is.");
  nb::class_<StepperGroup>(m, "StepperGroup", nb::type_slots(collected<StepperGroup>),
                           "Steps several environments, in their order.")
      .def(nb::init<nb::list>(), "steppers"_a,
           nb::sig("def __init__(self, steppers: list[Stepper]) -> None"))
      .def(
          "step", &StepperGroup::step, "first"_a, "actions"_a,
          nb::sig("def step(self, first: int, actions: object) -> "
                  "tuple[int, Unfinished] | None"),
          "Step them from one on, each with its own of the actions. Returns None if that "
          "was all; else which one left something to do, and what.");
}
