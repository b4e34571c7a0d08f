// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "check.hpp"
#include "counted.hpp"
#include "reactorl/host.hpp"
#include "reactorl/scheduler.hpp"

namespace reactorl {

/// The number in a value, which may be native.
inline auto number_of(const Value& value) -> std::int64_t {
  if (const NativeValue* native = value.native()) {
    std::int64_t number = 0;
    std::memcpy(&number, native->data(), sizeof number);
    return number;
  }
  return Counted::number(value);
}

/// What a body in a test can do.
class Body {
 public:
  Body(ReactionId reaction, bool missed)
      : worker_(*current_worker()),
        scheduler_(*worker_.scheduler),
        reaction_(reaction),
        missed_(missed) {}

  [[nodiscard]] auto present(SlotId slot) const -> bool {
    return scheduler_.present(slot);
  }
  [[nodiscard]] auto get(SlotId slot) const -> std::int64_t {
    return number_of(scheduler_.value(slot));
  }
  void set(SlotId slot, std::int64_t number) {
    scheduler_.set(worker_, slot, make(slot, number));
  }
  void schedule(TriggerId action, Time extra, std::int64_t number) {
    scheduler_.schedule(worker_, action, extra, Counted::make(number));
  }
  /// The same for an action whose slot has a type.
  void schedule_native(TriggerId action, Time extra, std::int64_t number) {
    const auto value = Value::adopt(NativeValue::make(REACTORL_INT64, &number));
    scheduler_.schedule(worker_, action, extra, value.copy());
  }
  void enter_mode(ModeId mode, bool reset) {
    scheduler_.switch_mode(worker_, mode, reset);
  }
  void request_stop() { scheduler_.request_stop(); }
  void fail() { failed_ = true; }

  /// Elapsed since the start.
  [[nodiscard]] auto tag() const -> Tag {
    return {scheduler_.tag().time - scheduler_.clock().start_time(),
            scheduler_.tag().microstep};
  }
  [[nodiscard]] auto missed() const -> bool { return missed_; }
  [[nodiscard]] auto failed() const -> bool { return failed_; }
  [[nodiscard]] auto reaction() const -> ReactionId { return reaction_; }
  [[nodiscard]] auto scheduler() const -> Scheduler& { return scheduler_; }
  [[nodiscard]] auto worker() const -> WorkerId { return worker_.id; }

 private:
  [[nodiscard]] auto make(SlotId slot, std::int64_t number) const -> Value {
    if (scheduler_.type_of(slot) == Plan::kUntyped) return Counted::make(number);
    return Value::adopt(NativeValue::make(REACTORL_INT64, &number));
  }

  Worker& worker_;
  Scheduler& scheduler_;
  ReactionId reaction_;
  bool missed_;
  bool failed_ = false;
};

using BodyFunction = std::function<void(Body&)>;

/// Runs bodies that are functions, and checks that the scheduler keeps the rules of
/// `Host`: bodies run on threads that have entered, reactions of a reactor one by one.
class TestHost final : public Host {
 public:
  TestHost(const Plan& plan, std::vector<BodyFunction> bodies)
      : plan_(plan),
        bodies_(std::move(bodies)),
        threads_(std::make_unique<Thread[]>(plan.workers)) {
    Counted::install();
    std::uint32_t reactors = 0;
    for (const Reaction& r : plan.reactions) reactors = std::max(reactors, r.reactor + 1);
    busy_ = std::make_unique<std::atomic<bool>[]>(reactors);
    threads_[0].entered = true;
  }
  ~TestHost() override {
    for (WorkerId w = 1; w < plan_.workers; ++w) {
      CHECK_EQ(threads_[w].begun, threads_[w].ended);
      CHECK(!threads_[w].entered);
    }
    CHECK(threads_[0].entered);
  }

  auto invoke(ReactionId reaction, bool missed) noexcept -> bool override {
    const Worker* worker = current_worker();
    CHECK(worker != nullptr && worker->reaction == reaction);
    CHECK(threads_[worker->id].entered);
    std::atomic<bool>& busy = busy_[plan_.reactions[reaction].reactor];
    CHECK(!busy.exchange(true));
    Body body(reaction, missed);
    if (bodies_[reaction]) bodies_[reaction](body);
    busy.store(false);
    if (body.failed()) {
      const std::lock_guard lock(mutex_);
      failures_.emplace(plan_.reactions[reaction].level, reaction);
    }
    return !body.failed();
  }
  auto late(ReactionId reaction, Time due) noexcept -> Lateness override {
    return lateness ? lateness(reaction, due) : Lateness::kOnTime;
  }
  auto snapshot(const Value& value, const void* last) noexcept
      -> std::optional<Value> override {
    if (value.get() == last) return std::nullopt;
    return value.copy();
  }
  void delivered(TriggerId trigger, Tag tag, const Value& value) noexcept override {
    CHECK(threads_[0].entered);
    recording.emplace_back(trigger, tag, number_of(value));
  }
  void thread_begins(WorkerId worker) noexcept override { ++threads_[worker].begun; }
  void thread_ends(WorkerId worker) noexcept override { ++threads_[worker].ended; }
  void enter(WorkerId worker) noexcept override {
    if (on_enter) on_enter(worker);
    CHECK(!threads_[worker].entered);
    ++threads_[worker].entries;
    threads_[worker].entered = true;
  }
  void leave(WorkerId worker) noexcept override {
    CHECK(threads_[worker].entered);
    threads_[worker].entered = false;
  }
  auto poll() noexcept -> bool override {
    CHECK(threads_[0].entered);
    return !on_poll || on_poll();
  }
  void hurry() noexcept override { ++hurried; }

  /// The failure to report; kNone if there is none.
  [[nodiscard]] auto failure() const -> ReactionId {
    return failures_.empty() ? kNone : failures_.begin()->second;
  }
  [[nodiscard]] auto threads_begun() const -> int {
    int sum = 0;
    for (WorkerId w = 0; w < plan_.workers; ++w) sum += threads_[w].begun;
    return sum;
  }

  /// How often threads have entered.
  [[nodiscard]] auto entries() const -> int {
    int sum = 0;
    for (WorkerId w = 0; w < plan_.workers; ++w) sum += threads_[w].entries;
    return sum;
  }
  /// Whether the worker is inside of the host now; on its own thread.
  [[nodiscard]] auto entered(WorkerId worker) const -> bool {
    return threads_[worker].entered;
  }

  std::function<Lateness(ReactionId, Time)> lateness;
  std::function<bool()> on_poll;
  std::function<void(WorkerId)> on_enter;
  std::vector<std::tuple<TriggerId, Tag, std::int64_t>> recording;
  int hurried = 0;

 private:
  struct alignas(64) Thread {  // each is touched by its own thread
    bool entered = false;
    int entries = 0;
    int begun = 0;
    int ended = 0;
  };

  const Plan& plan_;
  std::vector<BodyFunction> bodies_;
  std::unique_ptr<Thread[]> threads_;
  std::unique_ptr<std::atomic<bool>[]> busy_;
  std::mutex mutex_;
  std::set<std::pair<LevelId, ReactionId>> failures_;  // guarded by mutex_
};

}  // namespace reactorl
