// SPDX-License-Identifier: Apache-2.0
#include "session.hpp"

#include "interpreter_exit.hpp"

namespace reactorl::bind {

/// Marks the session as running tags, until the end of its scope.
class Session::Running {
 public:
  explicit Running(Session& session) : session_(session) {
    Use before = Use::kIdle;
    if (!session_.use_.compare_exchange_strong(before, Use::kRunning)) {
      if (before != Use::kReserved || !session_.is_mine()) session_.throw_busy();
      session_.use_.store(Use::kRunning);
    }
    before_ = before;
    session_.user_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  }
  Running(const Running&) = delete;
  auto operator=(const Running&) -> Running& = delete;
  ~Running() {
    // Cleared first: a thread never finds itself in `user_` unless it is the user.
    if (before_ == Use::kIdle) session_.user_.store({}, std::memory_order_relaxed);
    session_.use_.store(before_);
  }

 private:
  Session& session_;
  Use before_ = Use::kIdle;
};

Session::Session(const Plan& plan, Options options)
    : plan_(std::make_unique<Plan>(plan)),
      host_(std::make_unique<PythonHost>(plan.workers)),
      scheduler_(std::make_unique<Scheduler>(*plan_, options, *host_)) {
  host_->scheduler = scheduler_.get();
  scheduler_->set_context(host_.get());
  serial_ = scheduler_->serial();
  const std::lock_guard lock(gate_);  // publishes all of the above to other threads
  open_ = true;
}

Session::~Session() {
  // While the interpreter ends it drops objects that are in use, and threads that want to
  // enter it sleep for ever: there is nothing to join, and what daemon threads use must
  // stay. The process ends soon.
  if (use_.load() == Use::kRunning || interpreter_is_ending()) {
    static_cast<void>(scheduler_.release());
    static_cast<void>(host_.release());
    static_cast<void>(gate_plan_.release());
    static_cast<void>(port_.release());
    static_cast<void>(plan_.release());
    return;
  }
  release_everything();
}

auto Session::scheduler() const -> Scheduler& {
  if (!scheduler_) throw SessionClosed();
  return *scheduler_;
}

void Session::federate(const GatePlan& plan, PyObject* say, PyObject* wait) {
  gate_plan_ = std::make_unique<GatePlan>(plan);
  port_ = std::make_unique<PythonPort>(*host_, say, wait);
  scheduler().federate(*gate_plan_, *port_);
}

auto Session::start() -> Status {
  const Running running(*this);
  return scheduler().start();
}

auto Session::run() -> Status {
  const Running running(*this);
  return scheduler().run();
}

auto Session::finish() -> Status {
  const Running running(*this);
  return scheduler().finish();
}

auto Session::step(Time delay, std::vector<std::pair<SlotId, Value>> inputs) -> Stepped {
  const Running running(*this);
  Scheduler& core = scheduler();
  const Epoch before = core.epoch();
  const Status status = core.step(delayed(core.tag(), delay), std::move(inputs));
  Stepped stepped{status, core.tag(), {}};
  stepped.tag.time -= core.clock().start_time();
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (core.set_in(outputs[i]) <= before) continue;
    stepped.present.emplace_back(i, core.value(outputs[i]).copy());
  }
  return stepped;
}

void Session::reserve() {
  Use before = Use::kIdle;
  if (use_.compare_exchange_strong(before, Use::kReserved)) {
    user_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  } else if (before != Use::kReserved || !is_mine()) {
    throw_busy();
  }
}

void Session::close() {
  reserve();
  release_everything();
}

void Session::release_everything() {
  {
    const std::lock_guard lock(gate_);
    open_ = false;
  }
  if (!scheduler_) return;
  scheduler_->dismiss();
  host_->clear();
  if (port_) port_->clear();
  // Finalizers of values may use the session: they find it closed.
  const std::unique_ptr<Scheduler> last = std::move(scheduler_);
}

void Session::schedule_physical(TriggerId trigger, Time extra, Value value) {
  const std::lock_guard lock(gate_);
  // Else it is dropped by the caller, without the lock.
  if (open_) scheduler_->schedule_physical(trigger, extra, value.copy());
}

void Session::request_stop() {
  const std::lock_guard lock(gate_);
  if (open_) scheduler_->request_stop();
}

void Session::put(Message message) {
  const std::lock_guard lock(gate_);
  if (open_) scheduler_->put(std::move(message));
}

auto Session::is_mine() const -> bool {
  return user_.load(std::memory_order_relaxed) == std::this_thread::get_id();
}

void Session::throw_busy() const {
  // A reaction may run on any worker; on worker 0 it has the thread of the caller.
  const Worker* worker = current_worker();
  throw SessionBusy(is_mine() || (worker != nullptr && worker->serial == serial_));
}

}  // namespace reactorl::bind
