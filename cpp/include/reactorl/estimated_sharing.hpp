// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "reactorl/costs.hpp"
#include "reactorl/ready_queue.hpp"
#include "reactorl/sharing.hpp"

namespace reactorl {

/// Shares work if the estimated costs of queued reactions promise a gain, and pauses
/// where phases did not keep that promise.
///
/// A pause is a multiple of the time that the poor phase took and doubles each time, so
/// that tries cost a small part of the run.
class EstimatedSharing final : public SharingPolicy {
 public:
  EstimatedSharing(const Plan& plan, bool one_at_a_time, const Costs& costs,
                   TimeSource now);

  void begin_tag(Epoch tag) override;
  [[nodiscard]] auto helpers_for(ReactionId next, const ReadyQueue& ready,
                                 WorkerId spinning) -> WorkerId override;
  void phase_ended(const Phase& phase) override;
  void end_tag() override {}

 private:
  /// Helpers for the queued reactions of a level; asked once per level and tag.
  auto helpers_for_level(LevelId level, const ReadyQueue& ready, WorkerId spinning)
      -> WorkerId;
  /// Helpers that run other queued reactions beside a long one.
  auto helpers_beside(ReactionId reaction, const ReadyQueue& ready) -> WorkerId;
  /// Whether sharing is neither paused nor left out to renew estimates.
  [[nodiscard]] auto may_share() -> bool;
  [[nodiscard]] auto renews_early() const -> bool;
  [[nodiscard]] auto paid(const Phase& phase) const -> bool;
  void judge(const Phase& phase);

  const Plan& plan_;
  const Costs& costs_;
  TimeSource now_;
  bool one_at_a_time_;

  Epoch tag_ = 0;
  LevelId considered_ = kNone;        // the level that was asked about last
  ReactionId beside_ = kNone;         // the long reaction that a phase was opened beside
  std::vector<std::uint8_t> vain_;    // per reaction: phases beside it in vain
  std::vector<std::uint32_t> skips_;  // per reaction: chances to leave out

  Epoch asked_at_ = 0;       // tag of the last `may_share`
  std::uint32_t asked_ = 0;  // at so many tags
  bool renewing_ = false;    // this tag runs on one worker
  Time paused_until_ = 0;
  Time pause_;  // next one, in multiples of a phase
  std::uint32_t poor_ = 0;
};

}  // namespace reactorl
