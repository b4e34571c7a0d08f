// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "reactorl/ids.hpp"
#include "reactorl/plan.hpp"
#include "reactorl/reach.hpp"

namespace reactorl {

/// The reactions triggered at the current tag, and who may run which now.
///
/// Levels give a cheap order: everything at the current level may run at once. A worker
/// that would wait for the rest of the level may look ahead and take any reaction that
/// no unfinished one must precede. So a long reaction delays only what depends on it.
///
/// Lock-free. A reaction goes queued -> running -> done, each once per tag; the state is
/// stamped with the epoch, so nothing is cleared between tags. Invariants that the
/// proofs in `look_ahead` use:
///   - a reaction at the current level can no longer be added, because only reactions of
///     lower levels could add it and all of these are done;
///   - a worker announces `kClaiming` before it takes and the reaction before it runs,
///     so an observer that reads `running_` first and the levels upwards after it
///     misses nothing that is unfinished.
///
/// In a federation, a reaction of another federate whose outputs are not known yet is
/// *held*: it counts as running, at its level, though no worker runs it.
///
/// While worker 0 is alone (`share(false)`), the same code runs with plain loads and
/// stores. Shared operations are seq_cst unless noted: `finished`, and what a worker
/// reads before it sleeps, take part in the handshake of `Executor::sleep`.
class ReadyQueue {
 public:
  ReadyQueue(const Plan& plan, std::uint64_t shuffle);

  /// Starts a tag. Requires: the previous one is `finished`. Only worker 0.
  void begin(Epoch epoch);
  /// Whether several workers take part from now on. Only worker 0.
  void share(bool shared) { shared_ = shared; }
  /// Let each worker take only reactions that are at home with it. Only worker 0.
  void stay_home(bool strict) { strict_home_ = strict; }

  /// Queues `reaction` unless it was queued at this tag already; says whether it did.
  auto add(ReactionId reaction) -> bool;
  /// Whether `worker` looks for reactions from now on.
  void attend(WorkerId worker, bool looking) {
    running_[worker].running.store(looking ? kLooking : kAway);
  }
  /// Takes a reaction of the current level, the worker's own first; kNone if there is
  /// none to take now. If `polite`, leaves alone what is at home with a worker that looks
  /// for work itself: that one will come at once, with warm caches.
  [[nodiscard]] auto claim(WorkerId worker, bool polite = false) -> ReactionId;
  /// Takes a reaction beyond the current level that nothing unfinished must precede.
  [[nodiscard]] auto look_ahead(WorkerId worker) -> ReactionId;
  /// Takes this reaction, of the current level or beyond, if it is queued and nothing
  /// unfinished must precede it.
  [[nodiscard]] auto take_ahead(WorkerId worker, ReactionId wanted) -> bool;
  /// Marks a taken reaction as done. All it triggers must have been added.
  void finish(WorkerId worker, ReactionId reaction);

  /// Makes what comes after `reaction` wait: it runs elsewhere, and nobody here can take
  /// it. Only worker 0, before others take part.
  void hold(ReactionId reaction);
  /// What was held is done. All it triggers must have been added. One worker at a time.
  void release(ReactionId reaction);
  /// Whether `reaction` was run at this tag, or can no longer be added: nothing
  /// unfinished must precede it.
  [[nodiscard]] auto passed(ReactionId reaction) const -> bool;
  /// Whether no worker runs or is taking a reaction.
  [[nodiscard]] auto quiet() const -> bool;

  [[nodiscard]] auto queued(ReactionId reaction) const -> bool {
    return state_[reaction].load(std::memory_order_relaxed) == stamp(kQueued);
  }
  /// No reaction is queued, running or held.
  [[nodiscard]] auto finished() const -> bool { return outstanding_.load() == 0; }
  /// How many are queued or running here.
  [[nodiscard]] auto outstanding() const -> std::uint32_t {
    return outstanding_.load(std::memory_order_relaxed) -
           held_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] auto current_level() const -> LevelId { return current_.load(); }
  /// Calls `visit(reaction)` for what is queued at `level`, until it returns false.
  /// Only worker 0, before others take part.
  template <class Visit>
  void for_each_queued(LevelId level, Visit visit) const {
    for (WorkerId home = 0; home < workers_; ++home) {
      const Segment& segment = segments_[segment_of(level, home)];
      const auto tail = segment.tail.load(std::memory_order_relaxed);
      for (auto i = segment.head.load(std::memory_order_relaxed); i < tail; ++i) {
        const ReactionId reaction =
            entries_[segment.base + i].load(std::memory_order_relaxed);
        if (queued(reaction) && !visit(reaction)) return;
      }
    }
  }

 private:
  static constexpr std::uint64_t kQueued = 1;
  static constexpr std::uint64_t kRunning = 2;
  static constexpr std::uint64_t kDone = 3;
  // What a worker does, if it does not run a reaction.
  static constexpr std::uint32_t kLooking = ReactionId(kNone);
  static constexpr std::uint32_t kClaiming = kLooking - 1;
  static constexpr std::uint32_t kAway = kLooking - 2;

  /// The reactions of one level that have one home. Segments of one home lie together,
  /// with a gap to the next home, so that workers do not write to the same cache line.
  struct Segment {
    std::atomic<std::uint32_t> head{0};  // next to take
    std::atomic<std::uint32_t> tail{0};  // next free
    std::uint32_t base = 0;              // where its entries start
  };
  struct alignas(64) WorkerSlot {
    std::atomic<std::uint32_t> running{kAway};  // a reaction, or one of the above
  };

  [[nodiscard]] auto segment_of(LevelId level, WorkerId home) const -> std::size_t {
    return home * home_stride_ + level;
  }
  [[nodiscard]] auto stamp(std::uint64_t state) const -> std::uint64_t {
    return (epoch_ << 2U) | state;
  }
  auto bump(std::atomic<std::uint32_t>& counter, std::uint32_t by) -> std::uint32_t;
  auto take(WorkerId worker, ReactionId reaction) -> bool;
  auto take_from(Segment& segment, WorkerId worker) -> ReactionId;
  /// Takes the first reaction from a level on that nothing unfinished must precede; if
  /// one is `wanted`, only that one.
  auto search(WorkerId worker, ReactionId wanted, LevelId from) -> ReactionId;
  [[nodiscard]] auto entry_index(std::uint32_t i, std::uint32_t n) const -> std::uint32_t;
  void advance(LevelId from);
  [[nodiscard]] auto next_level(LevelId from) const -> LevelId;

  const Plan& plan_;
  Reach reach_;
  WorkerId workers_;
  std::size_t home_stride_;  // segments per home, with the gap
  std::uint64_t shuffle_;
  bool shared_ = false;
  bool strict_home_ = false;
  Epoch epoch_ = 0;
  std::atomic<LevelId> current_{0};
  alignas(64) std::atomic<std::uint32_t> outstanding_{0};
  std::atomic<std::uint32_t> held_{0};                        // of these
  std::unique_ptr<std::atomic<std::uint64_t>[]> state_;       // per reaction
  std::unique_ptr<std::atomic<std::uint32_t>[]> unfinished_;  // per level
  std::unique_ptr<std::atomic<std::uint64_t>[]> used_;        // a bit per level
  std::unique_ptr<Segment[]> segments_;                       // home x level
  std::unique_ptr<std::atomic<ReactionId>[]> entries_;
  std::unique_ptr<WorkerSlot[]> running_;  // per worker
  std::size_t used_words_;
};

}  // namespace reactorl
