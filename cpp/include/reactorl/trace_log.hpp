// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "reactorl/blocks.hpp"
#include "reactorl/ids.hpp"
#include "reactorl/port_store.hpp"
#include "reactorl/tag.hpp"
#include "reactorl/value.hpp"

namespace reactorl {

class Host;

/// Where a reaction stands within its tag: by level, then by id.
using TraceKey = std::uint64_t;
inline constexpr TraceKey kLastKey = ~TraceKey{0};
[[nodiscard]] constexpr auto trace_key(LevelId level, ReactionId reaction) -> TraceKey {
  return (TraceKey{level} << 32U) | reaction;
}

/// What the trace holds of each slot's last value: the object itself, or what stands for
/// it. Most slots send the same kind of thing again and again; that is noted in a bit.
///
/// Thread safety: as for the slots themselves, see `PortStore`.
using TraceKept = std::vector<const void*>;

/// What one worker noted during the current tag.
class TraceNotes {
 public:
  void begin(TraceKey key, bool missed) {
    key_ = key;
    flags_ = missed ? 1 : 0;
    mode_ = kNone;
    sets_.clear();
    events_.clear();
  }
  void set(SlotId slot) { sets_.push_back(slot); }
  void event(TriggerId trigger, std::optional<Tag> tag) {
    events_.push_back({trigger, tag});
  }
  void mode(ModeId mode, bool reset) {
    mode_ = mode;
    flags_ = (flags_ & 1U) | (reset ? 2U : 0U);
  }
  /// Closes the note of the running reaction; takes snapshots of what it set. `values`:
  /// of native arrays and structs, too; else their type is enough.
  void end(const PortStore& ports, Host& host, TraceKept& kept, bool values);

  struct Event {
    TriggerId trigger;
    std::optional<Tag> tag;
  };

 private:
  friend class TraceLog;
  struct Note {
    TraceKey key;
    std::uint32_t bytes_end;  // where it begins, the one before ends
    std::uint32_t values_end;
  };
  auto room(std::size_t count) -> std::uint8_t*;
  void clear() {
    notes_.clear();
    values_.clear();
    used_ = 0;
  }

  std::vector<Note> notes_;
  std::vector<Value> values_;
  std::unique_ptr<std::uint8_t[]> bytes_;
  std::size_t used_ = 0;
  std::size_t size_ = 0;
  // Of the running reaction:
  std::vector<SlotId> sets_;
  std::vector<Event> events_;
  TraceKey key_ = 0;
  std::uint32_t flags_ = 0;
  ModeId mode_ = kNone;
};

/// Everything that happened, reactions within a tag by (level, id).
///
/// Kept as bytes: numbers in groups of seven bits, the lowest first, with the high bit
/// set on all but the last. A long run has many notes, and fresh memory costs more time
/// than anything else about them. `expand` gives plain numbers.
class TraceLog {
 public:
  /// Only if the run is traced: `notes` and all else cost nothing otherwise.
  void open(std::uint32_t slots) { kept_.resize(slots); }
  [[nodiscard]] auto kept() -> TraceKept& { return kept_; }

  void stage_event(TriggerId trigger, std::optional<Tag> tag) {
    stage_events_.push_back({trigger, tag});
  }
  [[nodiscard]] auto has_stage_events() const -> bool { return !stage_events_.empty(); }
  /// Takes the notes of a tag up to `last`. Without `keep`, a tag at which nothing ran is
  /// forgotten.
  void end_tag(Tag tag, std::span<TraceNotes* const> workers, bool keep,
               TraceKey last = kLastKey);

  [[nodiscard]] auto bytes() const -> std::vector<std::uint8_t>;
  /// Borrowed: what was kept, in the order that `Expanded::which` counts.
  [[nodiscard]] auto values() const -> std::vector<const Value*>;

 private:
  struct Ref {
    TraceKey key;
    TraceNotes* from;
    std::uint32_t note;
  };
  void append(const Ref& ref);
  void append_all(TraceNotes& notes);

  Blocks<std::uint8_t, (1U << 18U)> bytes_;
  Blocks<Value, (1U << 12U)> values_;
  TraceKept kept_;
  std::vector<TraceNotes::Event> stage_events_;
  std::vector<Ref> refs_;
  Time time_ = 0;  // of the tag before
};

/// Words per tag: time, microstep, count of reactions, then per reaction: id, flags
/// (1: missed its deadline, 2: mode entered by reset), mode or -1, count and ids of
/// slots set, count of events and for each trigger, time, microstep (-1: dropped); then
/// count of stage events and for each the same three.
struct Expanded {
  std::vector<std::int64_t> words;
  std::vector<std::int64_t> which;  // per slot set: which value, or -1 for none
};

/// Throws `std::invalid_argument` if the bytes are not those of a log.
[[nodiscard]] auto expand(std::span<const std::uint8_t> bytes) -> Expanded;

}  // namespace reactorl
