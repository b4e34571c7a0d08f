// SPDX-License-Identifier: Apache-2.0
// Events: where in time they go, and what modes do to them.
#include <algorithm>

#include "reactorl/scheduler.hpp"

namespace reactorl {

void Scheduler::put_timer(TriggerId timer, Tag tag) {
  if (tag > stop_ || tag.time == kForever) return;
  triggers_[timer].pending.insert(tag, Value());
  queue_.put(tag, timer);
}

auto Scheduler::place(TriggerId id, Tag wanted, Value value) -> std::optional<Tag> {
  const Trigger& trigger = plan_.triggers[id];
  TriggerState& state = triggers_[id];
  Tag tag = wanted;
  if (trigger.spacing != kNoSpacing && state.has_last) {
    const Tag last = state.last;
    const Tag earliest = trigger.spacing == 0
                             ? next_microstep(last)
                             : Tag{add_time(last.time, trigger.spacing), 0};
    const bool too_soon = trigger.spacing == 0 ? tag <= last : tag.time < earliest.time;
    if (too_soon) {
      switch (trigger.policy) {
        case Policy::kDrop: return std::nullopt;
        case Policy::kReplace:
          if (state.pending.replace(last, value)) return last;
          tag = earliest;
          break;
        case Policy::kUpdate: static_cast<void>(state.pending.take(last)); break;
        case Policy::kDefer: tag = earliest; break;
      }
    }
  }
  if (tag <= now_) tag = next_microstep(now_);
  while (tag.time != kForever && state.pending.contains(tag)) tag = next_microstep(tag);
  if (tag > stop_ || tag.time == kForever) return std::nullopt;  // never happens
  state.last = tag;
  state.has_last = true;
  state.pending.insert(tag, std::move(value));
  return tag;
}

void Scheduler::schedule(Worker& worker, TriggerId action, Time extra, Value value) {
  const Trigger& trigger = plan_.triggers[action];
  const Time delay = add_time(std::max<Time>(extra, 0), trigger.delay);
  std::optional<Tag> tag;
  if (modes_.active(trigger.scope)) {
    tag = place(action, delayed(now_, delay), std::move(value));
  }
  // A replaced payload yields an entry for an event that has one already; the second
  // entry finds nothing and is passed over.
  if (tag) worker.outbox.push_back({*tag, action});
  if (options_.trace) {
    if (tag) tag->time -= clock_.start_time();
    worker.notes.event(action, tag);
  }
}

void Scheduler::schedule_physical(TriggerId action, Time extra, Value value) {
  if (options_.replay) return;
  const Time delay = add_time(std::max<Time>(extra, 0), plan_.triggers[action].delay);
  inbox_.put(action, delay, std::move(value), clock_);
  woken_.raise();
}

void Scheduler::request_stop() {
  stop_requested_.store(true);
  woken_.raise();
}

void Scheduler::break_off() {
  broken_off_.store(true);
  woken_.raise();
  changed_.raise();
}

void Scheduler::switch_mode(Worker& worker, ModeId mode, bool reset) {
  modes_.request(mode, reset);
  if (options_.trace) worker.notes.mode(mode, reset);
}

auto Scheduler::recorded(TriggerId trigger) const -> bool {
  const TriggerKind kind = plan_.triggers[trigger].kind;
  return options_.replay &&
         (kind == TriggerKind::kPhysical || kind == TriggerKind::kPhysicalStage);
}

void Scheduler::commit_modes() {
  const Modes::Change change = modes_.commit(now_.time);
  for (const ModeId mode : change.left) {
    for (const TriggerId t : triggers_in_[mode]) {
      triggers_[t].standing_still = !recorded(t);
    }
  }
  for (const ModeId mode : change.entered_by_reset) restart(mode);
  for (const ModeId mode : change.entered_by_history) resume(mode);
  entries_first_ = change.first;
  entries_reset_ = change.entered_by_reset;
  const auto due = [&](const std::vector<ReactionId>& reactions,
                       const std::vector<ModeId>& entered) {
    return std::ranges::any_of(reactions, [&](ReactionId r) {
      return std::ranges::binary_search(entered, plan_.reactions[r].scope);
    });
  };
  if (due(plan_.startup, entries_first_) || due(plan_.reset, entries_reset_)) {
    queue_.put(next_microstep(now_), kNone);
  } else {
    entries_first_.clear();
    entries_reset_.clear();
  }
}

void Scheduler::enqueue_entries() {
  for (const ReactionId r : plan_.startup) {
    const ModeId scope = plan_.reactions[r].scope;
    if (std::ranges::binary_search(entries_first_, scope)) ready_.add(r);
  }
  for (const ReactionId r : plan_.reset) {
    const ModeId scope = plan_.reactions[r].scope;
    if (std::ranges::binary_search(entries_reset_, scope)) ready_.add(r);
  }
  entries_first_.clear();
  entries_reset_.clear();
}

void Scheduler::restart(ModeId mode) {
  for (const TriggerId t : triggers_in_[mode]) {
    if (recorded(t)) continue;
    TriggerState& state = triggers_[t];
    static_cast<void>(state.pending.take_all());
    state.has_last = false;
    state.standing_still = false;
    if (plan_.triggers[t].kind == TriggerKind::kTimer) {
      put_timer(t, delayed(now_, plan_.triggers[t].delay));
    }
  }
}

void Scheduler::resume(ModeId mode) {
  const Time left_at = modes_.left_at(mode, clock_.start_time());
  for (const TriggerId t : triggers_in_[mode]) {
    if (recorded(t)) continue;
    TriggerState& state = triggers_[t];
    state.standing_still = false;
    const Tag last = state.last;
    if (state.has_last) state.last.time = add_time(last.time, now_.time - left_at);
    for (auto& event : state.pending.take_all()) {
      Tag tag = delayed(now_, std::max<Time>(event.tag.time - left_at, 0));
      while (tag.time != kForever && state.pending.contains(tag)) {
        tag = next_microstep(tag);
      }
      if (tag > stop_ || tag.time == kForever) continue;
      if (state.has_last && event.tag == last) state.last = tag;
      state.pending.insert(tag, std::move(event.value));
      queue_.put(tag, t);
    }
  }
}

}  // namespace reactorl
