// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "reactorl/agenda.hpp"
#include "reactorl/clock.hpp"
#include "reactorl/counter.hpp"
#include "reactorl/executor.hpp"
#include "reactorl/gate.hpp"
#include "reactorl/host.hpp"
#include "reactorl/ids.hpp"
#include "reactorl/inbox.hpp"
#include "reactorl/native_bodies.hpp"
#include "reactorl/options.hpp"
#include "reactorl/plan.hpp"
#include "reactorl/port_store.hpp"
#include "reactorl/published.hpp"
#include "reactorl/signal.hpp"
#include "reactorl/timings.hpp"
#include "reactorl/trace_log.hpp"
#include "reactorl/worker.hpp"

namespace reactorl {

/// Runs a plan: takes tags in order, and lets the executor run each of them.
///
/// Everything that can be observed is a function of the plan, the payloads and the
/// stamps of physical events; workers and their timing decide only who runs what.
class Scheduler {
 public:
  Scheduler(const Plan& plan, Options options, Host& host);
  Scheduler(const Scheduler&) = delete;
  auto operator=(const Scheduler&) -> Scheduler& = delete;
  ~Scheduler();

  /// Lets bodies find the host through their worker.
  void set_context(void* context);
  [[nodiscard]] auto serial() const -> std::uint64_t { return worker_zero().serial; }

  /// Makes an event that came from the physical world in an earlier run fire again,
  /// `tag` counted from the start. Before `start`, with `replay`.
  void preload(TriggerId trigger, Tag tag, Value value) {
    agenda_.preload(trigger, tag, std::move(value));
  }
  /// Ends the run at `tag`, counted from the start, at the latest. Before `start`.
  void stop_at(Tag tag) { agenda_.stop_by(tag); }

  /// Gives a reaction that the plan says is native its functions. Before `start`.
  void set_native(ReactionId reaction, NativeReaction native) {
    natives_.set(reaction, std::move(native));
  }
  /// Why a native body failed: the first one in the fixed order; kLastKey if none did.
  [[nodiscard]] auto native_failure() { return natives_.first_failure(); }

  /// Makes this the core of one of several federates. Before `start`; `plan` and `port`
  /// must outlive the scheduler.
  void federate(const GatePlan& plan, GatePort& port);

  /// Starts the clock and runs the start tag.
  auto start() -> Status;
  /// Runs tags until the program ends.
  auto run() -> Status;
  /// Runs what is queued before `tag`, then `tag` itself with `inputs` present, then
  /// the microsteps that follow at the same time. Does not end by starvation.
  auto step(Tag tag, std::vector<std::pair<SlotId, Value>> inputs) -> Status;
  /// Ends a program that was stepped: runs the final tag, one microstep from now.
  auto finish() -> Status;
  /// Ends the helper threads. Call inside the host; `this` runs no more tags.
  void dismiss() { executor_.dismiss(); }

  // For bodies, on the thread that runs them.
  void set(Worker& worker, SlotId slot, Value value) {
    executor_.set(worker, slot, std::move(value));
  }
  auto set_native(Worker& worker, SlotId slot, const void* data) -> void* {
    return executor_.set_native(worker, slot, data);
  }
  [[nodiscard]] auto present(SlotId slot) const -> bool {
    return ports_.present(slot, epoch_);
  }
  [[nodiscard]] auto value(SlotId slot) const -> const Value& {
    return ports_.value(slot);
  }
  [[nodiscard]] auto set_in(SlotId slot) const -> Epoch { return ports_.set_in(slot); }
  void schedule(Worker& worker, TriggerId action, Time extra, Value value);
  void switch_mode(Worker& worker, ModeId mode, bool reset);
  /// For native bodies; see `Executor`.
  auto read_clock(Worker& worker) -> std::optional<Time> {
    return executor_.read_clock(worker, clock_.now());
  }
  void change_deadline(ReactionId reaction, Time deadline) {
    executor_.change_deadline(reaction, deadline);
  }
  [[nodiscard]] auto deadline(ReactionId reaction) const -> Time {
    return executor_.deadline(reaction);
  }

  // For any thread.
  void schedule_physical(TriggerId action, Time extra, Value value);
  void request_stop();
  /// Something arrived from another federate, or from the coordinator.
  void put(Message message);
  /// What a message said that cannot be; null: nothing.
  [[nodiscard]] auto broken() const -> const char* {
    return gate_ ? gate_->broken() : nullptr;
  }
  /// Breaks the run off: no further body starts.
  void break_off();
  /// The current tag, or the last one between tags.
  [[nodiscard]] auto tag() const -> Tag { return tag_.get(); }
  [[nodiscard]] auto level(ReactionId reaction) const -> LevelId {
    return plan_.reactions[reaction].level;
  }
  [[nodiscard]] auto type_of(SlotId slot) const -> reactorl_type {
    return plan_.type_of(slot);
  }
  [[nodiscard]] auto clock() const -> const Clock& { return clock_; }
  [[nodiscard]] auto costs() const -> const Costs& { return executor_.costs(); }

  // How far the run is; for any thread.
  [[nodiscard]] auto tags_run() const -> std::uint64_t { return tags_run_.get(); }
  [[nodiscard]] auto events_delivered() const -> std::uint64_t {
    return delivered_.get();
  }
  [[nodiscard]] auto phases_shared() const -> std::uint64_t {
    return executor_.phases_shared();
  }
  /// Time of the latest tag that is done, since the start.
  [[nodiscard]] auto reached() const -> Time { return reached_.get(); }

  // Between tags, or in bodies.
  [[nodiscard]] auto epoch() const -> Epoch { return epoch_; }
  [[nodiscard]] auto trace() const -> const TraceLog& { return log_; }
  /// Null if times are not measured.
  [[nodiscard]] auto timings() const -> const Timings* { return timings_.get(); }

 private:
  // From tag to tag.
  [[nodiscard]] auto status() const -> Status;
  auto next_tag() -> std::optional<Tag>;
  auto wait_for(Tag tag) -> bool;
  void drain_inbox();

  // In a federation.
  [[nodiscard]] auto own_next() -> Tag;
  [[nodiscard]] auto earliest(Tag next) -> Tag;
  void take_in();
  auto wait_for_others(Tag tag) -> bool;
  [[nodiscard]] auto longest_sleep() const -> Time;
  void end_for_others();

  // One tag, from the first event to the last mode change.
  void begin_tag(Tag tag);
  void run_tag();
  void deliver_events();
  void deliver(TriggerId trigger, Value value);
  void end_tag();
  void forward_delayed();
  void forward(TriggerId stage);
  void merge_outboxes();

  [[nodiscard]] auto worker_zero() const -> Worker& { return executor_.workers()[0]; }
  [[nodiscard]] auto elapsed(Tag tag) const -> Tag {
    return {tag.time - clock_.start_time(), tag.microstep};
  }

  const Plan& plan_;
  const Options options_;
  Host& host_;
  Clock clock_;
  PortStore ports_;
  Inbox inbox_;
  Agenda agenda_;
  NativeBodies natives_;
  TraceLog log_;
  std::unique_ptr<Timings> timings_;  // if measured
  bool dozed_ = false;                // nothing came in the last wait for others
  Executor executor_;
  std::unique_ptr<Gate> gate_;      // in a federation
  bool physical_ = false;           // others must reckon with events at any time
  std::vector<TraceNotes*> notes_;  // of all workers, if traced

  Tag now_{};
  PublishedTag tag_;  // the same, for other threads
  Epoch epoch_ = 0;
  bool ended_ = false;
  bool starving_ends_ = true;
  Time tag_began_ = 0;  // if measured
  Time lag_ = 0;        // if measured

  Counter<std::uint64_t> tags_run_;
  Counter<std::uint64_t> delivered_;
  Counter<Time> reached_;
  std::atomic<bool> stop_requested_{false};
  Signal woken_;  // between tags: an event from outside, or a stop
};

}  // namespace reactorl
