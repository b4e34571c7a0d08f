// SPDX-License-Identifier: Apache-2.0
#include "reactorl/modes.hpp"

#include <algorithm>

namespace reactorl {

Modes::Modes(const Plan& plan)
    : plan_(plan), state_(plan.modes.size()), modals_(plan.modals) {
  for (ModeId m = 0; m < plan.modes.size(); ++m) {
    Modal& modal = modals_[plan.modes[m].modal];
    modal.scope = plan.modes[m].scope;
    if (plan.modes[m].initial) modal.initial = modal.current = m;
  }
  // Outer modes have lower ids than the modes inside them.
  for (ModeId m = 0; m < plan.modes.size(); ++m) {
    const Mode& mode = plan.modes[m];
    state_[m].active = modals_[mode.modal].current == m && active(mode.scope);
    state_[m].visited = state_[m].active;
  }
}

void Modes::request(ModeId mode, bool reset) {
  Modal& modal = modals_[plan_.modes[mode].modal];
  modal.next = mode;
  modal.reset = reset;
}

auto Modes::commit(Time now) -> Change {
  Change change;
  if (std::ranges::all_of(modals_, [](const Modal& m) { return m.next == kNone; })) {
    return change;
  }
  std::vector<bool> reset_now(state_.size(), false);
  for (Modal& modal : modals_) {
    if (modal.scope != kNone && reset_now[modal.scope]) {
      modal.next = modal.initial;  // a reset reaches everything inside the mode
      modal.reset = true;
    }
    if (modal.next == kNone) continue;
    modal.current = modal.next;
    if (modal.reset) {
      reset_now[modal.current] = true;
      state_[modal.current].reset_due = true;
    }
    modal.next = kNone;
  }
  for (ModeId m = 0; m < state_.size(); ++m) {
    State& state = state_[m];
    const bool was = state.active;
    const Mode& mode = plan_.modes[m];
    state.active = modals_[mode.modal].current == m && active(mode.scope);
    if (was && !state.active) {
      change.left.push_back(m);
      state.left_at = now;
      state.was_left = true;
    }
    if (!state.active) continue;
    if (state.reset_due) {
      state.reset_due = false;
      change.entered_by_reset.push_back(m);
    } else if (!was) {
      change.entered_by_history.push_back(m);
    }
    if (!state.visited) {
      state.visited = true;
      change.first.push_back(m);
    }
  }
  return change;
}

}  // namespace reactorl
