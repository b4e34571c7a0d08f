// SPDX-License-Identifier: Apache-2.0
#include "reactorl/urgency.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace reactorl {
Urgency::Urgency(const Plan& plan) : plan_(plan) {
  for (auto& place : noted_) place.store(kNone);
  if (plan.workers < 2 || plan.reactions.size() > tuning::kMostRanked) return;
  deepest_first_.resize(plan.reactions.size());
  std::iota(deepest_first_.begin(), deepest_first_.end(), ReactionId{0});
  std::ranges::stable_sort(deepest_first_, [&](ReactionId a, ReactionId b) {
    return plan.reactions[a].level > plan.reactions[b].level;
  });
  ranks_.resize(plan.reactions.size());
}

void Urgency::refresh(const Costs& costs, std::uint64_t tags_run) {
  if (deepest_first_.empty()) return;
  if (tags_run % tuning::kRankEvery != 0 && !std::has_single_bit(tags_run)) return;
  ranked_ = false;
  for (const ReactionId r : deepest_first_) {
    Time after = 0;
    for (const ReactionId next : plan_.downstream[r]) {
      after = std::max(after, ranks_[next]);
    }
    ranks_[r] = costs.recent(r) + after;
    ranked_ = ranked_ || costs.recent(r) >= tuning::kUrgentFrom;
  }
}

}  // namespace reactorl
