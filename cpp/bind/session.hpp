// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>
#include <atomic>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "python_host.hpp"
#include "python_port.hpp"
#include "reactorl/plan.hpp"
#include "reactorl/scheduler.hpp"

namespace reactorl::bind {

/// A session was used while it is in use: by another thread, or by a reaction of its own
/// program. `inside` tells which.
class SessionBusy : public std::runtime_error {
 public:
  explicit SessionBusy(bool inside)
      : std::runtime_error(inside ? "the session is running the reaction that uses it"
                                  : "the session is in use by another thread"),
        inside(inside) {}
  bool inside;
};

/// A session was used after `close`.
class SessionClosed : public std::runtime_error {
 public:
  SessionClosed() : std::runtime_error("the session is closed") {}
};

/// One run of a plan: owns the plan, the host and the scheduler.
///
/// One thread at a time may run tags or close; a second one gets `SessionBusy`, and so
/// does a reaction that uses the session it runs in. Functions marked "any thread" may
/// be called at any time, also while tags run.
class Session {
 public:
  Session(const Plan& plan, Options options);
  Session(const Session&) = delete;
  auto operator=(const Session&) -> Session& = delete;
  ~Session();

  // Before the run.
  [[nodiscard]] auto host() const -> PythonHost& { return *host_; }
  [[nodiscard]] auto scheduler() const -> Scheduler&;  // throws SessionClosed
  [[nodiscard]] auto serial() const -> std::uint64_t { return serial_; }
  [[nodiscard]] auto workers() const -> WorkerId { return plan_->workers; }
  [[nodiscard]] auto plan() const -> const Plan& { return *plan_; }
  [[nodiscard]] auto reactions() const -> std::size_t { return plan_->reactions.size(); }
  /// The slots whose values `step` returns.
  std::vector<SlotId> outputs;

  /// Makes this the session of one federate; its messages go to two Python functions.
  void federate(const GatePlan& plan, PyObject* say, PyObject* wait);

  // Running tags. Each throws SessionBusy or SessionClosed.
  auto start() -> Status;
  auto run() -> Status;
  auto finish() -> Status;
  /// What a driven step did.
  struct Stepped {
    Status status;
    Tag tag;                                             // elapsed
    std::vector<std::pair<std::size_t, Value>> present;  // by index into `outputs`
  };
  /// Runs the tag `delay` after the last one with these inputs.
  auto step(Time delay, std::vector<std::pair<SlotId, Value>> inputs) -> Stepped;

  /// Reserves the session for the calling thread until `close`: other threads get
  /// SessionBusy from now on. Calling it again on the same thread does nothing.
  void reserve();
  /// Ends the worker threads and releases all Python objects, so that no reference cycle
  /// remains. A second call does nothing.
  void close();

  // Any thread.
  void schedule_physical(TriggerId trigger, Time extra, Value value);
  void request_stop();
  void put(Message message);
  /// Returns `read(scheduler)`; `close` waits for it. `read` must not call into Python.
  template <class Read>
  auto read(Read read) const {
    const Worker* worker = current_worker();
    if (worker != nullptr && worker->serial == serial_) return read(*scheduler_);
    const std::lock_guard lock(gate_);
    if (!open_) throw SessionClosed();
    return read(*scheduler_);
  }

 private:
  enum class Use : std::uint8_t { kIdle, kReserved, kRunning };
  /// Holds the session while tags run.
  class Running;

  [[nodiscard]] auto is_mine() const -> bool;
  [[noreturn]] void throw_busy() const;
  void release_everything();

  std::unique_ptr<Plan> plan_;
  std::unique_ptr<PythonHost> host_;
  std::unique_ptr<GatePlan> gate_plan_;  // in a federation
  std::unique_ptr<PythonPort> port_;     // in a federation
  std::unique_ptr<Scheduler> scheduler_;
  std::uint64_t serial_ = 0;
  std::atomic<Use> use_{Use::kIdle};
  std::atomic<std::thread::id> user_{};  // the thread that runs tags or reserved it
  mutable std::mutex gate_;              // held without calling into Python
  bool open_ = false;                    // guarded by gate_
};

/// Schedules a physical action of a `Session`, from any thread. After the run it does
/// nothing. False with an exception set if `session` is not a session.
auto schedule_physical(PyObject* session, TriggerId trigger, Time extra, Value value)
    -> bool;

}  // namespace reactorl::bind
