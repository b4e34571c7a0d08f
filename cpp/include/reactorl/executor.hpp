// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "reactorl/costs.hpp"
#include "reactorl/counter.hpp"
#include "reactorl/host.hpp"
#include "reactorl/ids.hpp"
#include "reactorl/modes.hpp"
#include "reactorl/native_bodies.hpp"
#include "reactorl/options.hpp"
#include "reactorl/plan.hpp"
#include "reactorl/port_store.hpp"
#include "reactorl/ready_queue.hpp"
#include "reactorl/sharing_policy.hpp"
#include "reactorl/signal.hpp"
#include "reactorl/timings.hpp"
#include "reactorl/trace_log.hpp"
#include "reactorl/urgency.hpp"
#include "reactorl/worker.hpp"
#include "reactorl/worker_pool.hpp"

namespace reactorl {

class Gate;

/// Runs the triggered reactions of one tag after the other, each once and as soon as
/// all that must precede it is done, on one worker or on several.
///
/// Thread safety: worker 0 calls; functions marked otherwise are for the threads they
/// name. What a body triggers may be added by any worker.
class Executor {
 public:
  /// `log` is null if the run is not traced, `timings` if times are not measured.
  Executor(const Plan& plan, const Options& options, Host& host, PortStore& ports,
           const Modes& modes, NativeBodies& natives, TraceLog* log, Timings* timings);
  Executor(const Executor&) = delete;
  auto operator=(const Executor&) -> Executor& = delete;
  ~Executor();

  /// Starts a tag.
  void begin(Epoch epoch, Time time);
  /// Queues `reaction`.
  void add(ReactionId reaction) { static_cast<void>(ready_.add(reaction)); }
  /// Queues `reaction` if its mode is active. Any worker.
  void trigger(ReactionId reaction);
  /// Sets a slot and triggers what reads it. For bodies, and for worker 0.
  void set(Worker& worker, SlotId slot, Value value);
  /// Sets a slot with a type to a copy of `data`, or to zero if that is null; returns the
  /// memory of the value. In place if nothing else refers to the last value.
  auto set_native(Worker& worker, SlotId slot, const void* data) -> void*;
  /// Runs what is queued and all that follows from it at this tag. `at_home`: reactions
  /// that belong to the threads of their reactors, because these begin or end.
  void run(bool at_home);
  /// Ends the helper threads. Call inside the host.
  void dismiss();

  [[nodiscard]] auto workers() const -> std::span<Worker> {
    return {workers_.get(), plan_.workers};
  }
  /// Where in the order of the tag the first failure is; kLastKey: there is none.
  [[nodiscard]] auto failed_at() const -> TraceKey {
    return failed_at_.load(std::memory_order_relaxed);
  }

  // In a federation; see `Gate`, which calls them.
  void join(Gate* gate) { gate_ = gate; }
  void hold(ReactionId reaction) { ready_.hold(reaction); }
  void release(ReactionId reaction) { ready_.release(reaction); }
  [[nodiscard]] auto passed(ReactionId reaction) const -> bool {
    return ready_.passed(reaction);
  }
  [[nodiscard]] auto quiet() const -> bool { return ready_.quiet(); }
  [[nodiscard]] auto finished() const -> bool { return ready_.finished(); }
  /// Nothing after `key` runs any more: a reaction failed there, here or elsewhere.
  void fail_from(TraceKey key);

  // Any thread.
  /// Something arrived for workers that wait in a tag.
  void wake() { changed_.raise(); }
  /// No further body starts.
  void break_off();
  [[nodiscard]] auto broken_off() const -> bool { return broken_off_.load(); }
  [[nodiscard]] auto costs() const -> const Costs& { return costs_; }
  [[nodiscard]] auto phases_shared() const -> std::uint64_t { return phases_.get(); }

  // For bodies, about their own reaction.
  /// For native bodies: the physical clock, or what the host says instead; nothing if the
  /// body fails.
  auto read_clock(Worker& worker, Time now) -> std::optional<Time>;
  void change_deadline(ReactionId reaction, Time deadline) {
    deadlines_[reaction] = deadline;
  }
  [[nodiscard]] auto deadline(ReactionId reaction) const -> Time {
    return deadlines_[reaction];
  }

 private:
  // In and out of the host. Bodies that are not native run inside, native ones outside; a
  // worker changes only when a body needs it.
  void enter(Worker& worker);
  void leave(Worker& worker);
  [[nodiscard]] auto is_native(ReactionId reaction, bool missed) const -> bool {
    const Reaction& plan = plan_.reactions[reaction];
    return missed ? plan.native_handler : plan.native;
  }

  // A phase of shared work (worker 0).
  void consider_sharing(ReactionId next);
  void open_phase(WorkerId helpers);
  void close_phase();

  // What a worker does in a tag (any worker).
  void help(Worker& worker);
  void work(Worker& worker);
  auto claim_urgent(const Worker& worker) -> ReactionId;
  auto wait_for_work(Worker& worker) -> ReactionId;
  auto seek(const Worker& worker, bool polite) -> ReactionId;
  auto look_inside(const Worker& worker) -> ReactionId;
  auto look_outside(const Worker& worker) -> ReactionId;
  auto sleep(Worker& worker) -> ReactionId;
  void poll();

  // One reaction (any worker).
  void execute(Worker& worker, ReactionId reaction);
  auto run_body(Worker& worker, ReactionId reaction, bool missed, bool shared) -> bool;
  void now_present(Worker& worker, SlotId slot);
  auto invoke(Worker& worker, ReactionId reaction, bool missed, bool shared) -> bool;
  [[nodiscard]] auto lateness(Worker& worker, ReactionId reaction) -> Lateness;
  [[nodiscard]] auto skipped(ReactionId reaction) const -> bool;
  /// Whether a message of another federate is to be taken in.
  [[nodiscard]] auto has_news() const -> bool;

  const Plan& plan_;
  const Options& options_;
  Host& host_;
  PortStore& ports_;
  const Modes& modes_;
  NativeBodies& natives_;
  TraceLog* log_;
  Timings* timings_;
  Gate* gate_ = nullptr;  // in a federation

  ReadyQueue ready_;
  Costs costs_;
  Urgency urgency_;
  SharingPolicy policy_;
  std::unique_ptr<Worker[]> workers_;
  std::unique_ptr<WorkerPool> pool_;  // null with one worker
  bool crowded_;                      // more workers than cores
  bool mixed_;                        // some bodies are native
  std::vector<Time> deadlines_;

  Epoch epoch_ = 0;
  Time time_ = 0;         // of the tag
  Time phase_began_ = 0;  // if a phase is open
  Counter<std::uint64_t> phases_;

  std::atomic<bool> broken_off_{false};
  std::atomic<TraceKey> failed_at_{kLastKey};
  std::atomic<std::uint32_t> idle_{0};  // workers that are about to sleep, or do
  Signal changed_;                      // something was added or finished
};

}  // namespace reactorl
