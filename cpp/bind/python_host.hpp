// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>
#include <ctime>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "native_types.hpp"
#include "reactorl/counter.hpp"
#include "reactorl/host.hpp"
#include "reactorl/scheduler.hpp"

namespace reactorl::bind {

/// Which reaction of which reactor runs: what access checks compare.
struct Identity {
  ReactorId reactor;
  std::uint32_t index;  // within the reactor
};

/// Raises what `mismatch` says about a value of another type than its element has.
void raise_mismatch(PyObject* mismatch, const char* kind, std::uint32_t element,
                    PyObject* value);

/// The one doorway between the core and the interpreter: attaches and detaches threads,
/// calls bodies, keeps their exceptions, and watches for Ctrl-C.
class PythonHost final : public Host {
 public:
  struct Body {
    PyObject* function = nullptr;  // owned
    PyObject* handler = nullptr;   // owned; null: no deadline handler
    PyObject* self = nullptr;      // owned
  };

  explicit PythonHost(WorkerId workers) : threads_(workers) {}
  ~PythonHost() override { clear(); }

  auto invoke(ReactionId reaction, bool missed) noexcept -> bool override;
  auto late(ReactionId reaction, Time due) noexcept -> Lateness override;
  [[nodiscard]] auto watches_clock() const noexcept -> bool override {
    return late_hook != nullptr || clock_hook != nullptr;
  }
  auto read_clock(ReactionId reaction, Time now) noexcept -> std::optional<Time> override;
  auto snapshot(const Value& value, const void* last) noexcept
      -> std::optional<Value> override;
  void delivered(TriggerId trigger, Tag tag, const Value& value) noexcept override;
  void thread_begins(WorkerId worker) noexcept override;
  void thread_ends(WorkerId worker) noexcept override;
  void enter(WorkerId worker) noexcept override;
  void leave(WorkerId worker) noexcept override;
  auto poll() noexcept -> bool override;
  void hurry() noexcept override;

  /// The clock of a worker's processor time; 0 if its thread was not started by us.
  /// For any thread.
  [[nodiscard]] auto cpu_clock(WorkerId worker) const -> clockid_t {
    return threads_[worker].cpu.get();
  }
  /// A new reference to the object that a value is, or shows; None for null. Null with an
  /// exception set if it cannot be made.
  [[nodiscard]] auto as_object(const Value& value) const -> PyObject*;
  /// Turns what Python sends into a slot of `type` into a value. False with the exception
  /// of `mismatch` set if it is of another type; `kind` and `element` say where.
  [[nodiscard]] auto as_value(PyObject* object, reactorl_type type, const char* kind,
                              std::uint32_t element, Value& out) const -> bool;
  /// What a trace kept of a native value, as it keeps the values of Python: a new
  /// reference to a number, a class, or (text,).
  [[nodiscard]] auto as_kept(const NativeValue& native) const -> PyObject*;
  [[nodiscard]] auto layout(reactorl_type type) const -> Layout {
    return is_scalar(type) ? nullptr : layouts[layout_of(type)];
  }
  /// Gives up all references to Python objects.
  void clear();
  /// Ends the run by the raised exception, as an interrupt would.
  void end_by_exception() noexcept;
  /// What ended the run: an interrupt if there was one (with kNone), else the failure
  /// that is first in the fixed order, with its reaction. The reference is the caller's;
  /// null if there was none.
  auto take_failure() -> std::pair<ReactionId, PyObject*>;

  Scheduler* scheduler = nullptr;
  std::vector<Body> bodies;
  std::vector<Identity> identities;
  PyObject* refuse = nullptr;        // owned: called with what an access check refused
  PyObject* mismatch = nullptr;      // owned: (kind, element, value) -> error
  PyObject* clock_hook = nullptr;    // owned or null: (reaction, now) -> time
  std::vector<PyObject*> layouts;    // owned, see `Layout`; by the layout of a type
  PyObject* late_hook = nullptr;     // owned or null: (reaction, due, late) -> late
  PyObject* deliver_hook = nullptr;  // owned or null: (trigger, time, microstep, value)
  PyObject* describe = nullptr;      // owned or null: value -> text, for deep traces
  bool freeze_arrays = true;

 private:
  struct Thread {
    PyThreadState* state = nullptr;
    Counter<unsigned long> ident;  // 0: not started, or ended
    Counter<clockid_t> cpu;
  };
  /// Keeps the raised exception as the failure of `reaction`.
  void keep_failure(ReactionId reaction);
  /// Keeps `exception` unless there is an interrupt already. Returns what the caller must
  /// release, or null.
  [[nodiscard]] auto keep_interrupt(PyObject* exception) -> PyObject*;
  /// Takes over `text`.
  static auto described(PyObject* text, const void* last) noexcept
      -> std::optional<Value>;

  std::vector<Thread> threads_;
  std::mutex mutex_;  // never held while Python objects are released or code runs
  std::map<std::pair<LevelId, ReactionId>, PyObject*> failures_;  // guarded by mutex_
  PyObject* interrupt_ = nullptr;                                 // guarded by mutex_
  unsigned hurries_ = 0;
};

}  // namespace reactorl::bind
