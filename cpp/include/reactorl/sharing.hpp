// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "reactorl/clock.hpp"
#include "reactorl/ids.hpp"
#include "reactorl/options.hpp"
#include "reactorl/plan.hpp"
#include "reactorl/tag.hpp"

namespace reactorl {

class Costs;
class ReadyQueue;

/// What one worker measured in a phase of shared work.
struct PhaseShare {
  Time cost = 0;  // what its reactions take on one worker, by estimate
  Time busy = 0;  // processor time, if the policy asks for it
  Time solo = 0;  // time in which it ran the only reaction that was left
};

/// A phase of shared work, from the call for helpers until all of them have left.
struct Phase {
  Time alone = 0;      // what the same reactions take on one worker, by estimate
  Time together = 0;   // what they took
  Time busy = 0;       // processor time of all workers, if the policy asks for it
  Time by_others = 0;  // the part of `alone` that helpers ran
};

/// Decides at every tag whether worker 0 runs it alone or calls for helpers. Decides who
/// runs what, never what happens.
///
/// Thread safety: only worker 0.
class SharingPolicy {
 public:
  SharingPolicy() = default;
  SharingPolicy(const SharingPolicy&) = delete;
  auto operator=(const SharingPolicy&) -> SharingPolicy& = delete;
  virtual ~SharingPolicy() = default;

  virtual void begin_tag(Epoch tag) = 0;
  /// Worker 0 works alone, has taken `next`, and further reactions are queued. Returns
  /// how many helpers to call; 0 for none. `spinning` helpers would come at once, others
  /// have to be woken up.
  [[nodiscard]] virtual auto helpers_for(ReactionId next, const ReadyQueue& ready,
                                         WorkerId spinning) -> WorkerId = 0;
  /// The phase is over, also if something else than `helpers_for` began it.
  virtual void phase_ended(const Phase& phase) = 0;
  /// All reactions of the tag are done.
  virtual void end_tag() = 0;
};

/// Where a policy reads the time: the steady clock, or a simulated one in tests.
using TimeSource = Time (*)();

/// Makes the policy that `options` name. `plan` and `costs` must outlive it.
[[nodiscard]] auto make_sharing_policy(const Plan& plan, const Options& options,
                                       const Costs& costs,
                                       TimeSource now = Clock::ticks_now)
    -> std::unique_ptr<SharingPolicy>;

}  // namespace reactorl
