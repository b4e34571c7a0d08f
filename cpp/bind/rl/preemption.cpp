// SPDX-License-Identifier: Apache-2.0
// Preemption of threads for the probe of thread safety. Registers and converts; decides
// nothing.
#include "rl/preemption.hpp"

#include <chrono>
#include <new>

#include <nanobind/nanobind.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace reactorl::bind {
namespace {

PyThreadState* attached() {
#if PY_VERSION_HEX >= 0x030D0000
  return PyThreadState_GetUnchecked();
#else
  return _PyThreadState_UncheckedGet();
#endif
}

bool is_detached(void* mine) { return attached() != mine; }
bool always(void*) { return true; }

void enter(Preemption& preemption, bool gil) {
  // A pause of the thread that holds the GIL would only stop all others as well.
  preemption.enter(gil ? &is_detached : &always, attached());
}

}  // namespace
}  // namespace reactorl::bind

NB_MODULE(_preemption, m) {
  using namespace reactorl;
  using namespace reactorl::bind;
  using Micros = std::chrono::microseconds;

  m.doc() = "Pauses of threads. Use `reactorl.rl.envs.thread_safety`.";

  nb::class_<Preemption>(m, "Preemption", "Pauses threads at arbitrary instructions.")
      .def(
          "__init__",
          [](Preemption* self, int period, int progress, int longest) {
            new (self) Preemption(Micros(period), Micros(progress), Micros(longest));
          },
          nb::kw_only(), "period"_a, "progress"_a, "longest"_a,
          "In microseconds: the mean time between two pauses, the processor time that "
          "the "
          "other threads use during a pause, and the longest pause.")
      .def("enter", &enter, nb::kw_only(), "gil"_a,
           "Let the calling thread be paused; if there is a GIL, where it is released.")
      .def("leave", &Preemption::leave, "Let the calling thread run undisturbed again.")
      .def_ro_static("works", &Preemption::kWorks, "Whether this system has pauses.")
      .def_prop_ro("chances", &Preemption::chances,
                   "Number of times that a running thread was interrupted.")
      .def_prop_ro("pauses", &Preemption::pauses,
                   "Number of those at which it was paused.");
}
