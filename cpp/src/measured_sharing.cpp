// SPDX-License-Identifier: Apache-2.0
#include "reactorl/measured_sharing.hpp"

#include <algorithm>
#include <bit>

namespace reactorl {

auto MeasuredSharing::Arm::usual() const -> Time {
  if (count == 0) return 0;
  std::array<Time, kKept> kept = last;
  const auto size = static_cast<std::ptrdiff_t>(std::min<std::size_t>(count, kKept));
  const auto median = kept.begin() + (size - 1) / 2;
  std::nth_element(kept.begin(), median, kept.begin() + size);
  return *median;
}

MeasuredSharing::MeasuredSharing(const Plan& plan, TimeSource now)
    : plan_(plan), now_(now), shapes_(plan.levels) {}

void MeasuredSharing::begin_tag(Epoch /*tag*/) { considered_ = kNone; }

auto MeasuredSharing::shape_of(LevelId level, std::uint32_t reactions) -> Shape& {
  auto& of_level = shapes_[level];
  if (!of_level) of_level = std::make_unique<std::array<Shape, kSizes>>();
  const auto size = static_cast<std::size_t>(std::bit_width(reactions));
  return (*of_level)[std::min(size, kSizes - 1)];
}

auto MeasuredSharing::wants_try(const Shape& shape) -> bool {
  if (shape.visits - shape.tried_at < kTryEvery && shape.shared.settled()) return false;
  const Time alone = shape.alone.usual();
  const Time shared = shape.shared.usual();
  // What was never tried is expected to lose nothing, so the first try comes at once.
  const Time loses =
      shape.shared.count == 0 ? 0 : std::max(alone, shared) - std::min(alone, shared);
  return (shape.lost + loses) * kBudget <= shape.spent;
}

auto MeasuredSharing::helpers_for(ReactionId next, const ReadyQueue& ready,
                                  WorkerId /*spinning*/) -> WorkerId {
  // Decided once per level, when its first reaction is taken.
  const LevelId level = plan_.reactions[next].level;
  if (level == considered_) return 0;
  considered_ = level;
  const std::uint32_t reactions = ready.outstanding();
  Shape& shape = shape_of(level, reactions);
  ++shape.visits;
  // Two measurements alone come first: the first one may pay for imports and caches.
  const bool can_share = shape.alone.count >= 2 && shape.alone.usual() >= kShortest;
  const bool pays = shape.shared.count > 0 && shape.shared.usual() < shape.alone.usual();
  const bool is_try = can_share && wants_try(shape);
  const bool shares = can_share && pays != is_try;
  const Arm& arm = shares ? shape.shared : shape.alone;
  if (is_try || !arm.settled() || shape.visits % kMeasureEvery == 0) {
    pending_.push_back({&shape, shares, is_try, now_()});
  }
  if (is_try) shape.tried_at = shape.visits;
  return shares ? std::min(plan_.workers, reactions) - 1 : 0;
}

void MeasuredSharing::end_tag() {
  if (pending_.empty()) return;
  const Time now = now_();
  for (const Pending& decision : pending_) {
    Shape& shape = *decision.shape;
    const Time spent = now - decision.began;
    const Time usual = (decision.shares ? shape.alone : shape.shared).usual();
    (decision.shares ? shape.shared : shape.alone).add(spent);
    const bool sampled = !decision.is_try && shape.visits % kMeasureEvery == 0;
    shape.spent += sampled ? spent * kMeasureEvery : spent;
    if (decision.is_try && usual > 0) shape.lost += std::max<Time>(0, spent - usual);
  }
  pending_.clear();
}

}  // namespace reactorl
