// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>

#include "../interpreter_exit.hpp"
#include "../raised.hpp"
#include "result_writer.hpp"

namespace nb = nanobind;

namespace reactorl::bind {

/// What is left to do of a step: all of it, or to see to what it returned or raised.
struct Unfinished {
  bool begun = false;
  bool is_reset = false;  // which it was, instead of a step
  nb::object result = nb::none();
  nb::object error = nb::none();

  auto traverse(visitproc visit, void* arg) -> int {
    Py_VISIT(result.ptr());
    Py_VISIT(error.ptr());
    return 0;
  }
  void clear() {
    result.reset();
    error.reset();
  }
};

/// Steps one environment the way most steps go, without Python code in between.
///
/// Thread safety: one thread at a time, whichever runs the environment.
class Stepper {
 public:
  /// `plain`: whether steps may be done here; if not, all are left to the caller.
  /// `resets`: whether a step after the end of an episode is a reset that may be.
  Stepper(nb::object index, bool plain, bool resets)
      : index_(std::move(index)), plain_(plain), resets_(resets) {}

  /// Does a step, or the reset that is due instead.
  ///
  /// Returns what is left to do, if anything is. Throws what is not a failure of the
  /// environment.
  [[nodiscard]] auto step(PyObject* action) -> std::optional<Unfinished> {
    if (ended) return resets_ ? reset() : Unfinished{};
    if (!plain_) return Unfinished{};
    ++steps;
    static PyObject* const name = PyUnicode_InternFromString("step");
    PyObject* const call[] = {env.ptr(), action};
    nb::object result = nb::steal(survives_interpreter_exit(
        [&] { return PyObject_VectorcallMethod(name, call, 2, nullptr); }));
    if (!result.is_valid()) return Unfinished{.begun = true, .error = failure()};
    switch (landing_ == nullptr ? kLeft : landing_->take(result.ptr())) {
      case kGoesOn: return std::nullopt;
      case kEnded: ended = true; return std::nullopt;
      default: return Unfinished{.begun = true, .result = std::move(result)};
    }
  }

  /// Its action among those of all.
  [[nodiscard]] auto pick(PyObject* actions) const -> nb::object {
    nb::object action = nb::steal(PyObject_GetItem(actions, index_.ptr()));
    if (!action.is_valid()) throw nb::python_error();
    return action;
  }

  /// Lets results land there from now on; nowhere, if it is None.
  void land(nb::object landing) {
    landing_ = landing.is_none() ? nullptr : nb::cast<const ResultWriter*>(landing);
    kept_ = std::move(landing);
  }

  nb::object env = nb::none();
  bool ended = false;
  std::uint64_t steps = 0;

  auto traverse(visitproc visit, void* arg) -> int {
    Py_VISIT(index_.ptr());
    Py_VISIT(env.ptr());
    Py_VISIT(kept_.ptr());
    return 0;
  }
  void clear() {
    landing_ = nullptr;
    env.reset();
    kept_.reset();
  }

 private:
  auto reset() -> std::optional<Unfinished> {
    static PyObject* const name = PyUnicode_InternFromString("reset");
    PyObject* const call[] = {env.ptr()};
    nb::object result = nb::steal(survives_interpreter_exit(
        [&] { return PyObject_VectorcallMethod(name, call, 1, nullptr); }));
    if (!result.is_valid()) {
      return Unfinished{.begun = true, .is_reset = true, .error = failure()};
    }
    if (landing_ == nullptr || !landing_->take_first(result.ptr())) {
      return Unfinished{.begun = true, .is_reset = true, .result = std::move(result)};
    }
    landing_->clear();
    ended = false;
    return std::nullopt;
  }

  /// Takes what the environment raised, if that is a failure of its own. What else there
  /// is, such as an interrupt, is thrown.
  static auto failure() -> nb::object {
    if (!PyErr_ExceptionMatches(PyExc_Exception) &&
        !PyErr_ExceptionMatches(PyExc_SystemExit) &&
        !PyErr_ExceptionMatches(PyExc_GeneratorExit)) {
      throw nb::python_error();
    }
    return nb::steal(take_exception());
  }

  nb::object index_;
  nb::object kept_ = nb::none();
  const ResultWriter* landing_ = nullptr;
  bool plain_;
  bool resets_;
};

/// Steps several environments, in their order.
class StepperGroup {
 public:
  explicit StepperGroup(nb::list steppers) : kept_(std::move(steppers)) {
    for (const nb::handle stepper : kept_) {
      steppers_.push_back(nb::cast<Stepper*>(stepper));
    }
  }

  /// Lets them step from one on, up to the first that leaves something to do; returns
  /// which one that is, and what.
  [[nodiscard]] auto step(std::size_t first, nb::handle actions) const -> nb::object {
    for (std::size_t at = first; at < steppers_.size(); ++at) {
      Stepper& stepper = *steppers_[at];
      std::optional<Unfinished> rest = stepper.step(stepper.pick(actions.ptr()).ptr());
      if (rest) return nb::make_tuple(at, std::move(*rest));
    }
    return nb::none();
  }

  auto traverse(visitproc visit, void* arg) -> int {
    Py_VISIT(kept_.ptr());
    return 0;
  }
  void clear() {
    steppers_.clear();
    kept_.reset();
  }

 private:
  nb::list kept_;
  std::vector<Stepper*> steppers_;
};

}  // namespace reactorl::bind
