// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "reactorl/clock.hpp"
#include "reactorl/costs.hpp"
#include "reactorl/counter.hpp"
#include "reactorl/event_queue.hpp"
#include "reactorl/gain.hpp"
#include "reactorl/host.hpp"
#include "reactorl/ids.hpp"
#include "reactorl/inbox.hpp"
#include "reactorl/modes.hpp"
#include "reactorl/plan.hpp"
#include "reactorl/port_store.hpp"
#include "reactorl/published.hpp"
#include "reactorl/ready_queue.hpp"
#include "reactorl/signal.hpp"
#include "reactorl/timings.hpp"
#include "reactorl/trace_log.hpp"
#include "reactorl/urgency.hpp"
#include "reactorl/worker_pool.hpp"

namespace reactorl {

struct Options {
  bool fast = false;       // do not wait for the physical clock
  bool keepalive = false;  // go on when nothing is queued
  bool trace = false;
  bool replay = false;         // physical events come from `preload` alone
  bool one_at_a_time = false;  // the interpreter runs one thread at a time (a GIL)
  bool stay_home = false;      // a reaction runs on its home worker and on no other
  Time timeout = kForever;     // kForever: none
  Time start = kForever;       // kForever: the machine's time
  std::uint32_t timing = 0;    // how many invocations to keep the times of; 0: no times
  std::uint64_t shuffle = 0;   // tests: another order of ready reactions for each value
};

enum class Status : std::uint8_t { kRunning, kFinished, kFailed, kBrokenOff };

class Scheduler;

/// What a thread that runs reactions has of its own.
struct alignas(64) Worker {
  Scheduler* scheduler = nullptr;
  void* context = nullptr;   // the host's own, see `Scheduler::set_context`
  std::uint64_t serial = 0;  // of the scheduler: never the same for two of them
  WorkerId id = 0;
  ReactionId reaction = kNone;  // the one whose body runs now
  TraceNotes notes;
  std::vector<EventQueue::Entry> outbox;  // scheduled in this tag, merged at its end
  std::vector<SlotId> delayed;            // slots set in this tag that stages wait for
  Time shared_cost = 0;  // what its share of a phase would take on one worker
  Time shared_busy = 0;  // processor time it spent in a phase
  Time solo = 0;         // time in a phase when it ran all that there was to run
};

/// The worker that the calling thread is, while it runs a body; null elsewhere.
[[nodiscard]] auto current_worker() noexcept -> Worker*;

/// Runs a plan: takes tags in order, and at each tag every triggered reaction once,
/// as soon as all that must precede it is done.
///
/// Everything that can be observed is a function of the plan, the payloads and the
/// stamps of physical events; workers and their timing decide only who does what.
class Scheduler {
 public:
  Scheduler(const Plan& plan, Options options, Host& host);
  Scheduler(const Scheduler&) = delete;
  auto operator=(const Scheduler&) -> Scheduler& = delete;
  ~Scheduler();

  /// Lets bodies find the host through their worker.
  void set_context(void* context) {
    for (WorkerId w = 0; w < plan_.workers; ++w) workers_[w].context = context;
  }
  [[nodiscard]] auto serial() const -> std::uint64_t { return workers_[0].serial; }

  /// Makes an event that came from the physical world in an earlier run fire again,
  /// `tag` counted from the start. Before `start`, with `replay`.
  void preload(TriggerId trigger, Tag tag, Value value);
  /// Ends the run at `tag`, counted from the start, at the latest. Before `start`.
  void stop_at(Tag tag);

  /// Time begins: runs the start tag.
  auto start() -> Status;
  /// Runs tags until the program ends.
  auto run() -> Status;
  /// Runs what is queued before `tag`, then `tag` itself with `inputs` present, then
  /// the microsteps that follow at the same time. Does not end by starvation.
  auto step(Tag tag, std::vector<std::pair<SlotId, Value>> inputs) -> Status;
  /// Ends a program that was stepped: runs the final tag, one microstep from now.
  auto finish() -> Status;
  /// Ends the helper threads. Call inside the host; `this` runs no more tags.
  void dismiss();

  // For bodies, on the thread that runs them.
  void set(Worker& worker, SlotId slot, Value value);
  [[nodiscard]] auto present(SlotId slot) const -> bool {
    return ports_.present(slot, epoch_);
  }
  [[nodiscard]] auto value(SlotId slot) const -> const Value& {
    return ports_.value(slot);
  }
  [[nodiscard]] auto set_in(SlotId slot) const -> Epoch { return ports_.set_in(slot); }
  void schedule(Worker& worker, TriggerId action, Time extra, Value value);
  void switch_mode(Worker& worker, ModeId mode, bool reset);
  void change_deadline(ReactionId reaction, Time deadline) {
    deadlines_[reaction] = deadline;
  }
  [[nodiscard]] auto deadline(ReactionId reaction) const -> Time {
    return deadlines_[reaction];
  }

  // For any thread.
  void schedule_physical(TriggerId action, Time extra, Value value);
  void request_stop();
  /// Breaks the run off: no further body starts.
  void break_off();

  /// The current tag, or the last one between tags.
  [[nodiscard]] auto tag() const -> Tag { return tag_.get(); }
  [[nodiscard]] auto level(ReactionId reaction) const -> LevelId {
    return levels_[reaction];
  }
  [[nodiscard]] auto clock() const -> const Clock& { return clock_; }
  [[nodiscard]] auto epoch() const -> Epoch { return epoch_; }
  [[nodiscard]] auto costs() const -> const Costs& { return costs_; }
  [[nodiscard]] auto trace() const -> const TraceLog& { return log_; }
  /// Null if times are not measured.
  [[nodiscard]] auto timings() const -> const Timings* { return timings_.get(); }

  // How far it is; for any thread.
  [[nodiscard]] auto tags_run() const -> std::uint64_t { return tags_run_.get(); }
  [[nodiscard]] auto events_delivered() const -> std::uint64_t {
    return delivered_.get();
  }
  [[nodiscard]] auto phases_shared() const -> std::uint64_t { return phases_.get(); }
  /// When the latest tag was that is done, since the start.
  [[nodiscard]] auto reached() const -> Time { return reached_.get(); }

 private:
  struct TriggerState {
    PendingEvents pending;
    Tag last{};
    bool has_last = false;
    bool standing_still = false;  // its mode is not active
  };

  // A tag, from the first event to the last mode change (worker 0).
  void begin_tag(Tag tag);
  void deliver_events();
  void finish_tag();
  void forward_delayed();
  void compact_queue();
  void commit_modes();
  void restart(ModeId mode);
  void resume(ModeId mode);
  void enqueue_entries();

  // From tag to tag (worker 0).
  auto next_tag() -> std::optional<Tag>;
  auto wait_for(Tag tag) -> bool;
  auto status() -> Status;
  void drain_inbox();
  void put_timer(TriggerId timer, Tag tag);
  auto place(TriggerId trigger, Tag wanted, Value value) -> std::optional<Tag>;
  /// Whether the events of `trigger` come from a recording, with their final tags.
  [[nodiscard]] auto recorded(TriggerId trigger) const -> bool;

  // Within a tag (any worker).
  void run_reactions();
  void work(Worker& worker);
  void help(Worker& worker);
  auto claim_urgent(const Worker& worker) -> ReactionId;
  auto wait_for_work(Worker& worker) -> ReactionId;
  void execute(Worker& worker, ReactionId reaction);
  auto invoke(Worker& worker, ReactionId reaction, bool missed, bool shared) -> bool;
  void trigger(ReactionId reaction);
  void trigger_all(SlotId slot);
  [[nodiscard]] auto skipped(ReactionId reaction) const -> bool;

  // When to call for help (worker 0).
  /// Around a reaction that nothing can run beside: its time is not the phase's.
  static void leave_phase(Worker& worker);
  static void rejoin_phase(Worker& worker);
  void consider_help(LevelId level);
  void consider_help_beside(ReactionId reaction);
  void call_for_help(WorkerId helpers);

  const Plan& plan_;
  Options options_;
  Host& host_;
  Clock clock_;
  PortStore ports_;
  ReadyQueue ready_;
  EventQueue queue_;
  Inbox inbox_;
  Modes modes_;
  Costs costs_;
  Urgency urgency_;
  Gain gain_;
  TraceLog log_;
  std::vector<TraceNotes*> notes_;    // of all workers, if traced
  std::unique_ptr<Timings> timings_;  // if measured
  Time tag_began_ = 0;                // if measured
  Time lag_ = 0;                      // if measured
  std::vector<TriggerState> triggers_;
  std::vector<Time> deadlines_;
  std::vector<LevelId> levels_;
  std::vector<std::vector<TriggerId>> triggers_in_;  // per mode
  std::vector<ModeId> entries_first_;  // modes whose startup reactions are due next
  std::vector<ModeId> entries_reset_;  // modes whose reset reactions are due next
  std::unique_ptr<Worker[]> workers_;
  std::unique_ptr<WorkerPool> pool_;

  Tag now_{};
  PublishedTag tag_;  // the same, for other threads
  Tag stop_ = kLastTag;
  Epoch epoch_ = 0;
  std::size_t compact_at_ = 1024;
  Counter<std::uint64_t> tags_run_;
  Counter<std::uint64_t> delivered_;
  Counter<std::uint64_t> phases_;
  Counter<Time> reached_;
  bool ended_ = false;
  bool starving_ends_ = true;
  bool crowded_ = false;  // more workers than cores

  // Phase bookkeeping of worker 0.
  LevelId considered_ = kNone;
  Time phase_began_ = 0;
  std::vector<std::uint8_t> vain_;  // per reaction: calls for help in vain
  std::vector<std::uint32_t> vain_skip_;
  ReactionId helped_beside_ = kNone;

  std::atomic<bool> stop_requested_{false};
  std::atomic<bool> broken_off_{false};
  std::atomic<std::uint64_t> failed_at_{~std::uint64_t{0}};  // least (level, id)
  std::atomic<std::uint32_t> idle_{0};
  Signal changed_;  // within a tag: something was added or finished
  Signal woken_;    // between tags: an event from outside, or a stop
};

}  // namespace reactorl
