// SPDX-License-Identifier: Apache-2.0
#include "reactorl/agenda.hpp"

#include <algorithm>
#include <utility>

namespace reactorl {
namespace {

constexpr std::size_t kFewEntries = 1024;

auto is_physical(TriggerKind kind) -> bool {
  return kind == TriggerKind::kPhysical || kind == TriggerKind::kPhysicalStage;
}

}  // namespace

Agenda::Agenda(const Plan& plan, bool replay)
    : plan_(plan),
      replay_(replay),
      compact_at_(kFewEntries),
      triggers_(plan.triggers.size()),
      modes_(plan),
      triggers_in_(plan.modes.size()) {
  for (TriggerId t = 0; t < plan.triggers.size(); ++t) {
    const ModeId scope = plan.triggers[t].scope;
    if (scope != kNone) triggers_in_[scope].push_back(t);
  }
}

void Agenda::preload(TriggerId trigger, Tag tag, Value value) {
  triggers_[trigger].pending.insert(tag, std::move(value));  // shifted by `start`
}

void Agenda::start(Time start, Time timeout) {
  start_ = start;
  if (stop_ != kLastTag) stop_.time = add_time(start, stop_.time);
  if (timeout != kForever) stop_by({add_time(start, timeout), 0});
  for (TriggerId t = 0; t < triggers_.size(); ++t) {
    const Trigger& trigger = plan_.triggers[t];
    TriggerState& state = triggers_[t];
    state.suspended = !modes_.active(trigger.scope) && !recorded(t);
    for (auto& event : state.pending.take_all()) {
      const Tag tag{add_time(start, event.tag.time), event.tag.microstep};
      state.pending.insert(tag, std::move(event.value));
      queue_.put(tag, t);
    }
    if (trigger.kind == TriggerKind::kTimer) {
      put_timer(t, {add_time(start, trigger.delay), 0});
    }
  }
}

auto Agenda::next() -> std::optional<Tag> {
  while (!queue_.empty()) {
    if (is_valid(queue_.top())) return queue_.top().tag;
    queue_.pop();
  }
  return std::nullopt;
}

auto Agenda::is_valid(const EventQueue::Entry& entry) const -> bool {
  if (entry.trigger == kModeEntry) {
    return !(first_entered_.empty() && reset_entered_.empty());
  }
  const TriggerState& state = triggers_[entry.trigger];
  return !state.suspended && state.pending.contains(entry.tag);
}

void Agenda::compact() {
  // Without this a program that keeps moving an alarm would collect entries until the
  // alarm's time.
  if (queue_.size() <= compact_at_) return;
  queue_.keep([this](const EventQueue::Entry& entry) {
    return entry.trigger == kModeEntry || is_valid(entry);
  });
  compact_at_ = std::max(kFewEntries, 2 * queue_.size());
}

auto Agenda::take(TriggerId trigger, Tag tag) -> std::optional<Value> {
  TriggerState& state = triggers_[trigger];
  if (state.suspended) return std::nullopt;
  std::optional<Value> value = state.pending.take(tag);
  if (value && recorded(trigger) && !modes_.active(plan_.triggers[trigger].scope)) {
    return std::nullopt;
  }
  return value;
}

auto Agenda::place(TriggerId id, Tag wanted, Value value, Tag now) -> std::optional<Tag> {
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
  if (tag <= now) tag = next_microstep(now);
  while (tag.time != kForever && state.pending.contains(tag)) tag = next_microstep(tag);
  if (tag > stop_ || tag.time == kForever) return std::nullopt;  // never happens
  state.last = tag;
  state.has_last = true;
  state.pending.insert(tag, std::move(value));
  return tag;
}

void Agenda::put_timer(TriggerId timer, Tag tag) {
  if (tag > stop_ || tag.time == kForever) return;
  triggers_[timer].pending.insert(tag, Value());
  queue_.put(tag, timer);
}

void Agenda::repeat_timer(TriggerId id, Tag now) {
  const Trigger& trigger = plan_.triggers[id];
  if (trigger.kind == TriggerKind::kTimer && trigger.spacing > 0) {
    put_timer(id, delayed({now.time, 0}, trigger.spacing));
  }
}

auto Agenda::recorded(TriggerId trigger) const -> bool {
  return replay_ && is_physical(plan_.triggers[trigger].kind);
}

auto Agenda::is_in(const std::vector<ModeId>& sorted, ModeId mode) -> bool {
  return std::ranges::binary_search(sorted, mode);
}

void Agenda::commit_modes(Tag now) {
  const Modes::Change change = modes_.commit(now.time);
  for (const ModeId mode : change.left) {
    for (const TriggerId t : triggers_in_[mode]) triggers_[t].suspended = !recorded(t);
  }
  for (const ModeId mode : change.entered_by_reset) restart(mode, now);
  for (const ModeId mode : change.entered_by_history) resume(mode, now);
  first_entered_ = change.first;
  reset_entered_ = change.entered_by_reset;
  const auto due = [&](const std::vector<ReactionId>& reactions,
                       const std::vector<ModeId>& entered) {
    return std::ranges::any_of(reactions, [&](ReactionId r) {
      return is_in(entered, plan_.reactions[r].scope);
    });
  };
  if (due(plan_.startup, first_entered_) || due(plan_.reset, reset_entered_)) {
    queue_.put(next_microstep(now), kModeEntry);
  } else {
    first_entered_.clear();
    reset_entered_.clear();
  }
}

void Agenda::restart(ModeId mode, Tag now) {
  for (const TriggerId t : triggers_in_[mode]) {
    if (recorded(t)) continue;
    TriggerState& state = triggers_[t];
    static_cast<void>(state.pending.take_all());
    state.has_last = false;
    state.suspended = false;
    if (plan_.triggers[t].kind == TriggerKind::kTimer) {
      put_timer(t, delayed(now, plan_.triggers[t].delay));
    }
  }
}

void Agenda::resume(ModeId mode, Tag now) {
  const Time left_at = modes_.left_at(mode, start_);
  for (const TriggerId t : triggers_in_[mode]) {
    if (recorded(t)) continue;
    TriggerState& state = triggers_[t];
    state.suspended = false;
    const Tag last = state.last;
    if (state.has_last) state.last.time = add_time(last.time, now.time - left_at);
    for (auto& event : state.pending.take_all()) {
      Tag tag = delayed(now, std::max<Time>(event.tag.time - left_at, 0));
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
