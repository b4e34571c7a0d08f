// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "reactorl/costs.hpp"
#include "reactorl/ids.hpp"
#include "reactorl/plan.hpp"
#include "reactorl/tag.hpp"
#include "reactorl/tuning.hpp"

namespace reactorl {

/// Which of the triggered reactions should begin soon because long chains depend on them.
///
/// The rank of a reaction is its cost plus that of the longest chain of reactions that
/// must come after it. Running the highest rank first keeps the other workers busy
/// meanwhile; by levels alone a long reaction at a deep level would begin when all others
/// are done, with nothing left to run concurrently. Decides who runs what and when, never
/// what happens.
///
/// Thread safety: `refresh` and `begin` only by worker 0 between tags; the rest by all.
class Urgency {
 public:
  explicit Urgency(const Plan& plan);

  /// Computes ranks anew if it is time; cheap where nothing takes long.
  void refresh(const Costs& costs, std::uint64_t tags_run);
  /// Starts a tag.
  void begin() { count_.store(0, std::memory_order_relaxed); }
  /// Notes a triggered reaction, if it is one of the long ones.
  void add(ReactionId reaction) {
    if (!ranked_ || ranks_[reaction] < tuning::kUrgentFrom) return;
    const std::uint32_t place = count_.fetch_add(1);
    if (place < tuning::kMostUrgent) noted_[place].store(reaction);
  }
  /// Whether there is anything to choose from.
  [[nodiscard]] auto any() const -> bool {
    return ranked_ && count_.load(std::memory_order_acquire) > 1;
  }
  /// Calls `visit(reaction, rank)` for what was noted at this tag.
  template <class Visit>
  void for_each(Visit visit) const {
    const std::uint32_t count = count_.load(std::memory_order_acquire);
    for (std::uint32_t i = 0; i < count && i < tuning::kMostUrgent; ++i) {
      const ReactionId reaction = noted_[i].load();
      if (reaction != kNone) visit(reaction, ranks_[reaction]);
    }
  }
  [[nodiscard]] auto rank(ReactionId reaction) const -> Time {
    return ranked_ ? ranks_[reaction] : 0;
  }

 private:
  const Plan& plan_;
  std::vector<ReactionId> deepest_first_;
  std::vector<Time> ranks_;
  bool ranked_ = false;
  std::atomic<std::uint32_t> count_{0};
  std::array<std::atomic<ReactionId>, tuning::kMostUrgent> noted_;
};

}  // namespace reactorl
