// SPDX-License-Identifier: Apache-2.0
#include "reactorl/sharing_policy.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "reactorl/tuning.hpp"

namespace reactorl {
namespace {

auto ratio(Time a, Time b) -> double {
  return static_cast<double>(a) / static_cast<double>(b);
}

/// How many processors a phase kept busy.
auto processors(const Phase& phase) -> double {
  return ratio(phase.busy, phase.together);
}

}  // namespace

SharingPolicy::SharingPolicy(const Plan& plan, bool one_at_a_time, const Costs& costs,
                             TimeSource now)
    : plan_(plan),
      costs_(costs),
      now_(now),
      one_at_a_time_(one_at_a_time),
      vain_(plan.reactions.size()),
      skips_(plan.reactions.size()),
      pause_(one_at_a_time ? tuning::kShortestPauseLocked : tuning::kShortestPause) {}

void SharingPolicy::begin_tag(Epoch tag) {
  tag_ = tag;
  considered_ = kNone;
}

auto SharingPolicy::helpers_for(ReactionId next, const ReadyQueue& ready,
                                WorkerId spinning) -> WorkerId {
  const WorkerId helpers =
      helpers_for_level(plan_.reactions[next].level, ready, spinning);
  return helpers > 0 ? helpers : helpers_beside(next, ready);
}

auto SharingPolicy::helpers_for_level(LevelId level, const ReadyQueue& ready,
                                      WorkerId spinning) -> WorkerId {
  if (level == considered_) return 0;
  considered_ = level;
  Time sum = 0;
  Time locked = 0;  // the part of it that runs one at a time
  Time longest = 0;
  std::uint32_t count = 1;
  ready.for_each_queued(level, [&](ReactionId r) {
    const Time cost = costs_.recent(r);
    sum += cost;
    locked += is_locked(r) ? cost : 0;
    longest = std::max(longest, cost);
    return ++count < tuning::kMostConsidered;
  });
  if (count < 2) return 0;
  // Behind a lock, what waits for the lock overlaps with native bodies only. Without
  // these, whether bodies give it up and gain something is found by trying.
  const bool native = locked < sum;
  sum += sum / (count - 1);  // the taken one costs about as much as the others
  Time least = std::max(sum / plan_.workers, longest);
  if (native) least = std::max(least, locked);
  const Time saved = sum - least;
  const Time worth = one_at_a_time_ && !native ? tuning::kWorthLocked
                     : spinning > 0            ? tuning::kWorthSpinning
                                               : tuning::kWorthAsleep;
  return saved >= worth && may_share() ? std::min(plan_.workers, count) - 1 : 0;
}

auto SharingPolicy::helpers_beside(ReactionId reaction, const ReadyQueue& ready)
    -> WorkerId {
  const Time worth = is_locked(reaction) ? tuning::kWorthLocked : tuning::kWorthBeside;
  if (costs_.recent(reaction) < worth) return 0;
  if (skips_[reaction] > 0) {
    --skips_[reaction];
    return 0;
  }
  if (!may_share()) return 0;
  beside_ = reaction;
  return std::min(plan_.workers, ready.outstanding()) - 1;
}

auto SharingPolicy::may_share() -> bool {
  if (now_() < paused_until_) return false;
  if (tag_ != asked_at_) {
    asked_at_ = tag_;
    ++asked_;
    // Estimates age while all work is shared. They are renewed often at first, when they
    // may be from runs that paid for imports and caches.
    renewing_ = asked_ % (tuning::kRenewEveryPerWorker * plan_.workers) == 0 ||
                (asked_ > 1 && renews_early());
  }
  return !renewing_;
}

auto SharingPolicy::renews_early() const -> bool {
  // Without a lock a renewal is expensive and needed less: large values that one worker
  // made are freed by that worker only, which sleeps while another replaces them, so
  // they occupy memory twice.
  return one_at_a_time_ ? std::has_single_bit(asked_)
                        : asked_ == 2 || asked_ == 16 || asked_ == 128;
}

void SharingPolicy::phase_ended(const Phase& phase) {
  judge(phase);
  if (beside_ == kNone) return;
  std::uint8_t& vain = vain_[beside_];
  vain = phase.by_others > 0
             ? 0
             : static_cast<std::uint8_t>(std::min(vain + 1, tuning::kMostVain));
  skips_[beside_] = vain == 0 ? 0 : 1U << vain;
  beside_ = kNone;
}

void SharingPolicy::judge(const Phase& phase) {
  if (phase.alone <= 0 || phase.together <= 0) return;
  if (paid(phase)) {
    pause_ = one_at_a_time_ ? tuning::kShortestPauseLocked : tuning::kShortestPause;
    poor_ = 0;
    return;
  }
  if (phase.together / tuning::kNoMeasure > phase.alone) return;
  // Where workers compute at the same time sharing nearly always pays, and a single poor
  // phase is noise. Behind a lock processor time shows whether they did.
  const bool at_once = !one_at_a_time_ || processors(phase) > tuning::kBusyTogether;
  if (at_once && ++poor_ < tuning::kNotNoise) return;
  Time pause = phase.together * pause_;
  if (!one_at_a_time_) {
    pause = std::min(pause, std::max(tuning::kLongestPauseTime,
                                     2 * tuning::kShortestPause * phase.together));
  }
  paused_until_ = add_time(now_(), pause);
  pause_ = std::min(2 * pause_,
                    one_at_a_time_ ? tuning::kLongestPauseLocked : tuning::kLongestPause);
  poor_ = 0;
}

auto SharingPolicy::paid(const Phase& phase) const -> bool {
  const double gain = ratio(phase.alone, phase.together);
  if (!one_at_a_time_) return gain >= tuning::kPaid;
  if (processors(phase) > tuning::kBusyTogether) return gain > tuning::kPaidTogether;
  if (processors(phase) < tuning::kBusyWaiting) return gain > tuning::kPaidWaiting;
  return gain > tuning::kPaidOtherwise;
}

}  // namespace reactorl
