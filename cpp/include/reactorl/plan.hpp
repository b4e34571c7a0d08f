// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "reactorl.h"
#include "reactorl/ids.hpp"
#include "reactorl/tag.hpp"

namespace reactorl {

/// Lists of ids, one per row, stored back to back.
template <class Row, class Item>
struct Table {
  std::vector<std::uint32_t> start{0};  // row i is item[start[i] .. start[i+1])
  std::vector<Item> item;

  [[nodiscard]] auto operator[](Row row) const -> std::span<const Item> {
    return {item.data() + start[row], item.data() + start[row + 1]};
  }
  [[nodiscard]] auto rows() const -> std::size_t { return start.size() - 1; }
};

enum class TriggerKind : std::uint8_t {
  kTimer,
  kLogical,        // a logical action
  kPhysical,       // a physical action
  kStage,          // a connection with `after`
  kPhysicalStage,  // a physical connection
};

/// What happens to an event that comes too soon after the one before.
enum class Policy : std::uint8_t { kDefer, kDrop, kReplace, kUpdate };

inline constexpr Time kNoSpacing = -1;
inline constexpr Time kNoDeadline = -1;

/// Something that puts events on the queue.
struct Trigger {
  TriggerKind kind = TriggerKind::kTimer;
  Policy policy = Policy::kDefer;
  ModeId scope = kNone;       // the mode it lives in
  SlotId slot = kNone;        // present when it fires; holds the payload
  SlotId source = kNone;      // stages: the slot whose value they delay
  Time delay = 0;             // timer: offset; others: minimum delay
  Time spacing = kNoSpacing;  // timer: period (0: once); actions: minimum spacing
};

struct Reaction {
  LevelId level = 0;  // every reaction that must run earlier has a lower level
  ReactorId reactor = 0;
  WorkerId home = 0;     // the worker that runs it by preference
  ModeId scope = kNone;  // runs only while this mode is active
  Time deadline = kNoDeadline;
  SlotId forward_from = kNone;  // if given, the body is "copy one slot to another"
  SlotId forward_to = kNone;
  // Runs without the host, on a thread that has left it. Forwarding does so if it copies
  // between slots with a type.
  bool native = false;
  bool native_handler = false;  // the same for the deadline handler, or the lack of one
};

struct Mode {
  std::uint32_t modal = 0;  // which modal reactor; these are numbered outermost first
  ModeId scope = kNone;     // the mode that the modal reactor lives in
  bool initial = false;
};

/// A program as flat read-only tables. Everything the core needs, and no names.
struct Plan {
  std::vector<Reaction> reactions;
  std::vector<Trigger> triggers;
  std::vector<Mode> modes;
  std::uint32_t slots = 0;
  std::uint32_t modals = 0;
  std::uint32_t levels = 0;
  WorkerId workers = 1;
  Table<SlotId, ReactionId> slot_reactions;  // slot -> reactions it triggers
  Table<SlotId, TriggerId> slot_stages;      // slot -> stages (triggers) that delay it
  Table<ReactionId, ReactionId>
      downstream;  // reaction -> reactions that must run after it
  std::vector<ReactionId> startup;
  std::vector<ReactionId> shutdown;
  std::vector<ReactionId> reset;
  /// The types of the values of slots; `kUntyped`: values of the host. Empty: all are
  /// these. A slot with a type holds native values only, or null for REACTORL_NONE.
  std::vector<reactorl_type> slot_types;
  static constexpr reactorl_type kUntyped = ~reactorl_type{0};

  [[nodiscard]] auto type_of(SlotId slot) const -> reactorl_type {
    return slot_types.empty() ? kUntyped : slot_types[slot];
  }
  /// Whether any body or handler is native.
  [[nodiscard]] auto has_native() const -> bool;

  /// Throws `PlanError` if an id is out of range or a level does not increase along
  /// `downstream`.
  void validate() const;
  /// The same, as an expression.
  [[nodiscard]] auto validated() const -> const Plan& {
    validate();
    return *this;
  }
};

}  // namespace reactorl
