// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "reactorl/ids.hpp"
#include "reactorl/tag.hpp"
#include "reactorl/value.hpp"

namespace reactorl {

/// The events of one trigger that wait for their tag, earliest first; at most one per
/// tag. Owned by the reactor that may schedule the trigger, so it needs no lock.
class PendingEvents {
 public:
  struct Event {
    Tag tag;
    Value value;
  };

  [[nodiscard]] auto empty() const -> bool { return head_ == events_.size(); }
  [[nodiscard]] auto contains(Tag tag) const -> bool { return find(tag) != npos; }
  /// Requires: no event is there yet.
  void insert(Tag tag, Value value);
  /// Overwrites the payload of the event at `tag`; false if there is none.
  [[nodiscard]] auto replace(Tag tag, Value& value) -> bool;
  /// Removes the event at `tag`.
  [[nodiscard]] auto take(Tag tag) -> std::optional<Value>;
  /// Removes the events up to `tag`.
  void drop_until(Tag tag);
  /// Removes everything.
  [[nodiscard]] auto take_all() -> std::vector<Event>;

 private:
  static constexpr std::size_t npos = static_cast<std::size_t>(-1);
  [[nodiscard]] auto find(Tag tag) const -> std::size_t;

  std::vector<Event> events_;  // sorted by tag from head_ on
  std::size_t head_ = 0;
};

/// Which trigger fires when. Order depends on (tag, trigger id) alone, never on the
/// order or the thread of the calls; the scheduler's determinism rests on this.
///
/// An entry may be stale (its event was moved or removed since); the owner of the
/// trigger's `PendingEvents` has the last word.
///
/// Thread safety: only worker 0, between tags.
class EventQueue {
 public:
  struct Entry {
    Tag tag;
    TriggerId trigger;
    auto operator<=>(const Entry&) const = default;
  };

  void put(Tag tag, TriggerId trigger);
  [[nodiscard]] auto empty() const -> bool { return heap_.empty(); }
  /// Requires: not empty.
  [[nodiscard]] auto top() const -> const Entry& { return heap_.front(); }
  void pop();
  [[nodiscard]] auto size() const -> std::size_t { return heap_.size(); }
  /// Removes all entries but those that `wanted` wants, and all but one of equal ones.
  void keep(const std::function<bool(const Entry&)>& wanted);

 private:
  std::vector<Entry> heap_;
};

}  // namespace reactorl
