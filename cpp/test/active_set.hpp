// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "check.hpp"
#include "random_graph.hpp"
#include "reactorl/ready_queue.hpp"

namespace reactorl {

/// What a ready queue must get right, kept beside it: a reaction is marked active before
/// it is added and until it has finished, and may start only if no reaction that must
/// precede it is active. Any thread may call.
class ActiveSet {
 public:
  explicit ActiveSet(const Graph& graph)
      : graph_(graph),
        size_(static_cast<ReactionId>(graph.plan.reactions.size())),
        state_(std::make_unique<std::atomic<std::uint64_t>[]>(size_)) {}

  void begin(Epoch epoch) { epoch_ = epoch; }

  void add(ReadyQueue& ready, ReactionId reaction) {
    std::uint64_t old = state_[reaction].load();
    while (old < stamp(kQueued) &&
           !state_[reaction].compare_exchange_weak(old, stamp(kQueued))) {
    }
    ready.add(reaction);
  }
  void start(ReactionId reaction) {
    std::uint64_t queued = stamp(kQueued);
    // Fails if it was never added at this tag, or is started a second time.
    CHECK(state_[reaction].compare_exchange_strong(queued, stamp(kRunning)));
    for (ReactionId other = 0; other < size_; ++other) {
      if (!graph_.before[other][reaction]) continue;
      const std::uint64_t state = state_[other].load();
      CHECK(state != stamp(kQueued) && state != stamp(kRunning));
    }
  }
  /// Adds some of what must run later; which ones depends on nothing but the tag.
  void run(ReadyQueue& ready, ReactionId reaction, unsigned percent) {
    check::Dice dice((epoch_ << 20U) ^ reaction);
    for (const ReactionId later : graph_.plan.downstream[reaction]) {
      if (dice.chance(percent)) add(ready, later);
    }
  }
  void finish(ReadyQueue& ready, WorkerId worker, ReactionId reaction) {
    state_[reaction].store(stamp(kDone));
    ready.finish(worker, reaction);
  }
  /// Whether a queued reaction could start now.
  [[nodiscard]] auto any_free() const -> bool {
    for (ReactionId r = 0; r < size_; ++r) {
      if (state_[r].load() != stamp(kQueued)) continue;
      bool free = true;
      for (ReactionId other = 0; other < size_ && free; ++other) {
        const std::uint64_t state = state_[other].load();
        free = !graph_.before[other][r] ||
               (state != stamp(kQueued) && state != stamp(kRunning));
      }
      if (free) return true;
    }
    return false;
  }
  void check_all_finished() const {
    for (ReactionId r = 0; r < size_; ++r) {
      const std::uint64_t state = state_[r].load();
      CHECK(state < stamp(kQueued) || state == stamp(kDone));
    }
  }

 private:
  static constexpr std::uint64_t kQueued = 1;
  static constexpr std::uint64_t kRunning = 2;
  static constexpr std::uint64_t kDone = 3;
  [[nodiscard]] auto stamp(std::uint64_t state) const -> std::uint64_t {
    return (epoch_ << 2U) | state;
  }

  const Graph& graph_;
  ReactionId size_;
  Epoch epoch_ = 0;
  std::unique_ptr<std::atomic<std::uint64_t>[]> state_;
};

}  // namespace reactorl
