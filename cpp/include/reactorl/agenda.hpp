// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "reactorl/event_queue.hpp"
#include "reactorl/ids.hpp"
#include "reactorl/modes.hpp"
#include "reactorl/plan.hpp"
#include "reactorl/tag.hpp"
#include "reactorl/value.hpp"

namespace reactorl {

/// Which events are due at which tags, and what modes do to them: the events of a mode
/// that is not active are suspended, and continue or restart when it is entered.
///
/// Thread safety: only worker 0, between tags; `place` also for bodies, each for the
/// triggers of its own reactor.
class Agenda {
 public:
  /// `replay`: events of physical triggers come from a recording, with their final tags.
  Agenda(const Plan& plan, bool replay);

  /// Adds a recorded event; `tag` counts from the start. Before `start`.
  void preload(TriggerId trigger, Tag tag, Value value);
  /// Fixes the time of the first tag, and that of the last one to `timeout` later at the
  /// latest (kForever: none); queues recorded events and timers.
  void start(Time start, Time timeout);

  /// The tag at which the program ends at the latest.
  [[nodiscard]] auto stop() const -> Tag { return stop_; }
  void stop_by(Tag tag) { stop_ = std::min(stop_, tag); }

  /// The earliest tag at which something is due.
  [[nodiscard]] auto next() -> std::optional<Tag>;
  /// Takes what is due at `now`: calls `deliver(trigger, value)` for each event in the
  /// order of trigger ids, and `enter()` when reactions to the entry of modes are due.
  template <class Deliver, class Enter>
  void take_due(Tag now, Deliver deliver, Enter enter) {
    while (!queue_.empty() && queue_.top().tag <= now) {
      const auto [tag, trigger] = queue_.top();
      queue_.pop();
      if (trigger == kModeEntry) {
        enter();
        continue;
      }
      std::optional<Value> value = take(trigger, tag);
      if (!value) continue;
      deliver(trigger, std::move(*value));
      repeat_timer(trigger, now);
    }
  }

  /// Finds the tag of an event that wants `wanted`, by the rules of its trigger, and
  /// keeps the event there; nothing if it is dropped. The caller queues the tag.
  [[nodiscard]] auto place(TriggerId trigger, Tag wanted, Value value, Tag now)
      -> std::optional<Tag>;
  /// Queues an event that was placed.
  void queue(Tag tag, TriggerId trigger) { queue_.put(tag, trigger); }
  /// Adds an event whose tag another federate found.
  void add(Tag tag, TriggerId trigger, Value value) {
    triggers_[trigger].pending.insert(tag, std::move(value));
    queue(tag, trigger);
  }
  /// Forgets events up to `now` of a trigger that others deliver.
  void forget(TriggerId trigger, Tag now) { triggers_[trigger].pending.drop_until(now); }
  /// Drops entries whose events were moved or removed, if they are many.
  void compact();

  [[nodiscard]] auto modes() -> Modes& { return modes_; }
  [[nodiscard]] auto modes() const -> const Modes& { return modes_; }
  /// Makes the switches that were requested at the tag `now`.
  void commit_modes(Tag now);
  /// Calls `add(reaction)` for the reactions to modes that were entered, once.
  template <class Add>
  void take_entries(Add add) {
    for (const ReactionId r : plan_.startup) {
      if (is_in(first_entered_, plan_.reactions[r].scope)) add(r);
    }
    for (const ReactionId r : plan_.reset) {
      if (is_in(reset_entered_, plan_.reactions[r].scope)) add(r);
    }
    first_entered_.clear();
    reset_entered_.clear();
  }

 private:
  struct TriggerState {
    PendingEvents pending;
    Tag last{};
    bool has_last = false;
    bool suspended = false;  // its mode is not active
  };

  [[nodiscard]] static auto is_in(const std::vector<ModeId>& sorted, ModeId mode) -> bool;
  [[nodiscard]] auto recorded(TriggerId trigger) const -> bool;
  [[nodiscard]] auto is_valid(const EventQueue::Entry& entry) const -> bool;
  auto take(TriggerId trigger, Tag tag) -> std::optional<Value>;
  void put_timer(TriggerId timer, Tag tag);
  void repeat_timer(TriggerId trigger, Tag now);
  void restart(ModeId mode, Tag now);
  void resume(ModeId mode, Tag now);

  const Plan& plan_;
  bool replay_;
  Time start_ = 0;
  Tag stop_ = kLastTag;
  EventQueue queue_;
  std::size_t compact_at_;  // size of the queue
  std::vector<TriggerState> triggers_;
  Modes modes_;
  std::vector<std::vector<TriggerId>> triggers_in_;  // per mode
  std::vector<ModeId> first_entered_;  // modes whose startup reactions are due next
  std::vector<ModeId> reset_entered_;  // modes whose reset reactions are due next
};

}  // namespace reactorl
