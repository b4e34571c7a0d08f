// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "reactorl/ids.hpp"
#include "reactorl/port_store.hpp"
#include "reactorl/tag.hpp"
#include "reactorl/value.hpp"

namespace reactorl {

class Host;

/// What one worker noted during the current tag.
class TraceNotes {
 public:
  void begin(ReactionId reaction, bool missed);
  void set(SlotId slot) { sets_.push_back(slot); }
  void event(TriggerId trigger, std::optional<Tag> tag);
  void mode(ModeId mode, bool reset);
  /// Closes the note of the running reaction; takes snapshots of what it set.
  void end(const PortStore& ports, Host& host);

 private:
  friend class TraceLog;
  struct Note {
    ReactionId reaction;
    std::uint32_t words_begin;
    std::uint32_t words_end;
    std::uint32_t values_begin;
    std::uint32_t values_end;
  };
  std::vector<Note> notes_;
  std::vector<std::int64_t> words_;
  std::vector<Value> values_;
  std::vector<SlotId> sets_;          // of the running reaction
  std::vector<std::int64_t> events_;  // of the running reaction
  std::int64_t flags_ = 0;
  std::int64_t mode_ = -1;
  Note open_{};
};

/// Everything that happened, as numbers, reactions within a tag by (level, id).
///
/// Words per tag: time, microstep, count of reactions, then per reaction: id, flags
/// (1: missed its deadline, 2: mode entered by reset), mode or -1, count and ids of
/// slots set (one value each in `values`), count of events and for each trigger, time,
/// microstep (-1: dropped); then count of stage events and for each the same three.
class TraceLog {
 public:
  void tag(Tag tag, std::span<TraceNotes* const> workers,
           const std::vector<LevelId>& level_of);
  void stage_event(TriggerId trigger, std::optional<Tag> tag);
  /// Forgets the tag if nothing ran at it, unless `keep`.
  void end_tag(bool keep);

  [[nodiscard]] auto words() const -> const std::vector<std::int64_t>& { return words_; }
  [[nodiscard]] auto values() const -> const std::vector<Value>& { return values_; }

 private:
  std::vector<std::int64_t> words_;
  std::vector<Value> values_;
  std::size_t tag_begin_ = 0;
  std::size_t stage_count_at_ = 0;
};

}  // namespace reactorl
