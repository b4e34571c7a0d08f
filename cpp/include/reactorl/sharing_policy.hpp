// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "reactorl/clock.hpp"
#include "reactorl/costs.hpp"
#include "reactorl/ids.hpp"
#include "reactorl/plan.hpp"
#include "reactorl/ready_queue.hpp"
#include "reactorl/tag.hpp"

namespace reactorl {

/// What one worker measured in a phase of shared work.
struct PhaseShare {
  Time cost = 0;  // what its reactions take on one worker, by estimate
  Time busy = 0;  // processor time, behind a lock only
  Time solo = 0;  // time in which it ran the only reaction that was left
};

/// A phase of shared work, from the call for helpers until all of them have left.
struct Phase {
  Time alone = 0;      // what the same reactions take on one worker, by estimate
  Time together = 0;   // what they took
  Time busy = 0;       // processor time of all workers, behind a lock only
  Time by_others = 0;  // the part of `alone` that helpers ran
};

/// Where the policy reads the time: the steady clock, or a simulated one in tests.
using TimeSource = Time (*)();

/// Decides at every tag whether worker 0 runs it alone or calls for helpers. Decides who
/// runs what, never what happens.
///
/// Work is shared if the estimated costs of queued reactions promise a gain. Where phases
/// did not keep that promise, sharing pauses. A pause is a multiple of the time that the
/// poor phase took and doubles each time, so that tries cost a small part of the run.
///
/// Thread safety: only worker 0.
class SharingPolicy {
 public:
  /// `plan` and `costs` must outlive it. `one_at_a_time`: the interpreter runs one thread
  /// at a time (a GIL).
  SharingPolicy(const Plan& plan, bool one_at_a_time, const Costs& costs,
                TimeSource now = Clock::ticks_now);

  void begin_tag(Epoch tag);
  /// Worker 0 works alone, has taken `next`, and further reactions are queued. Returns
  /// how many helpers to call; 0 for none. `spinning` helpers would come at once, others
  /// have to be woken up.
  [[nodiscard]] auto helpers_for(ReactionId next, const ReadyQueue& ready,
                                 WorkerId spinning) -> WorkerId;
  /// The phase is over, also if something else than `helpers_for` began it.
  void phase_ended(const Phase& phase);

 private:
  /// Helpers for the queued reactions of a level; asked once per level and tag.
  auto helpers_for_level(LevelId level, const ReadyQueue& ready, WorkerId spinning)
      -> WorkerId;
  /// Helpers that run other queued reactions beside a long one.
  auto helpers_beside(ReactionId reaction, const ReadyQueue& ready) -> WorkerId;
  /// Whether sharing is neither paused nor left out to renew estimates.
  [[nodiscard]] auto may_share() -> bool;
  [[nodiscard]] auto renews_early() const -> bool;
  /// Whether a body may have to wait for an interpreter lock.
  [[nodiscard]] auto is_locked(ReactionId reaction) const -> bool {
    return one_at_a_time_ && !plan_.reactions[reaction].native;
  }
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
