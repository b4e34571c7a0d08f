// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "reactorl/ids.hpp"
#include "reactorl/plan.hpp"
#include "reactorl/tag.hpp"

namespace reactorl {

/// Which modes are active, and how they change between tags.
///
/// Thread safety: `request` is called by reactions of the modal reactor, which never
/// overlap; everything else by worker 0 between tags.
class Modes {
 public:
  /// What a change of modes means for timers, actions and delayed connections.
  struct Change {
    std::vector<ModeId> entered_by_reset;    // start anew
    std::vector<ModeId> entered_by_history;  // continue where they stopped
    std::vector<ModeId> left;                // stand still
    std::vector<ModeId> first;               // active for the first time
  };

  explicit Modes(const Plan& plan);

  [[nodiscard]] auto active(ModeId scope) const -> bool {
    return scope == kNone || state_[scope].active;
  }
  /// Whether `scope` was active at any time.
  [[nodiscard]] auto visited(ModeId scope) const -> bool {
    return scope == kNone || state_[scope].visited;
  }
  /// When `mode` was left last; `start` if it was never active.
  [[nodiscard]] auto left_at(ModeId mode, Time start) const -> Time {
    return state_[mode].was_left ? state_[mode].left_at : start;
  }

  /// Asks for a switch at the end of this tag; the last request wins.
  void request(ModeId mode, bool reset);
  /// Makes the requested switches at the end of a tag at `now`, outermost first.
  [[nodiscard]] auto commit(Time now) -> Change;
  [[nodiscard]] auto any() const -> bool { return !modals_.empty(); }

 private:
  struct State {
    bool active = false;
    bool visited = false;
    bool reset_due = false;  // entered by reset, perhaps while an outer mode is inactive
    bool was_left = false;
    Time left_at = 0;
  };
  struct Modal {
    ModeId current = kNone;
    ModeId next = kNone;
    ModeId initial = kNone;
    ModeId scope = kNone;
    bool reset = false;
  };

  const Plan& plan_;
  std::vector<State> state_;  // per mode
  std::vector<Modal> modals_;
};

}  // namespace reactorl
