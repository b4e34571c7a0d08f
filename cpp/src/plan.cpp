// SPDX-License-Identifier: Apache-2.0
#include "reactorl/plan.hpp"

#include <algorithm>
#include <string>

#include "reactorl/error.hpp"
#include "reactorl/native_value.hpp"

namespace reactorl {
namespace {

void check(bool ok, const char* table, std::uint64_t row, const char* what) {
  if (!ok) throw PlanError(table, row, what);
}

/// `kNone` is allowed where `optional`.
void check_id(std::uint32_t id, std::size_t size, const char* table, std::uint64_t row) {
  check(id < size, table, row, "id out of range");
}

template <class Kind>
void check_optional(Id<Kind> id, std::size_t size, const char* table, std::uint64_t row) {
  if (id != kNone) check_id(id, size, table, row);
}

template <class Row, class Item>
void check_table(const Table<Row, Item>& table, std::size_t rows, std::size_t items,
                 const char* name) {
  check(table.rows() == rows, name, table.rows(), "wrong number of rows");
  check(table.start.front() == 0, name, 0, "does not start at 0");
  check(table.start.back() == table.item.size(), name, rows, "does not end at the end");
  for (std::size_t i = 0; i < rows; ++i) {
    check(table.start[i] <= table.start[i + 1], name, i, "negative length");
  }
  for (std::size_t i = 0; i < table.item.size(); ++i) {
    check_id(table.item[i], items, name, i);
  }
}

}  // namespace

auto Plan::has_native() const -> bool {
  return std::ranges::any_of(
      reactions, [](const Reaction& r) { return r.native || r.native_handler; });
}

void Plan::validate() const {
  check(workers >= 1, "workers", 0, "at least one is needed");
  check_table(slot_reactions, slots, reactions.size(), "slot_reactions");
  check_table(slot_stages, slots, triggers.size(), "slot_stages");
  check_table(downstream, reactions.size(), reactions.size(), "downstream");
  for (std::uint32_t i = 0; i < reactions.size(); ++i) {
    const Reaction& r = reactions[i];
    check_id(r.level, levels, "reactions", i);
    check_id(r.home, workers, "reactions", i);
    check_optional(r.scope, modes.size(), "reactions", i);
    check_optional(r.forward_from, slots, "reactions", i);
    check_optional(r.forward_to, slots, "reactions", i);
    for (const ReactionId later : downstream[ReactionId(i)]) {
      check(reactions[later].level > r.level, "downstream", i,
            "a later reaction must have a higher level");
    }
  }
  for (std::uint32_t i = 0; i < triggers.size(); ++i) {
    const Trigger& t = triggers[i];
    const bool stage =
        t.kind == TriggerKind::kStage || t.kind == TriggerKind::kPhysicalStage;
    check_id(t.slot, slots, "triggers", i);
    check_optional(t.source, slots, "triggers", i);
    check(!stage || t.source != kNone, "triggers", i, "id out of range");
    check_optional(t.scope, modes.size(), "triggers", i);
    check(t.delay >= 0, "triggers", i, "negative delay");
  }
  for (std::uint32_t i = 0; i < modes.size(); ++i) {
    check_id(modes[i].modal, modals, "modes", i);
    check_optional(modes[i].scope, modes.size(), "modes", i);
  }
  check(slot_types.empty() || slot_types.size() == slots, "slot_types", slot_types.size(),
        "wrong number of rows");
  for (std::uint32_t i = 0; i < slot_types.size(); ++i) {
    check(slot_types[i] == kUntyped || is_type(slot_types[i]), "slot_types", i,
          "not a type");
  }
  for (std::uint32_t i = 0; i < triggers.size(); ++i) {
    const Trigger& t = triggers[i];
    check(t.source == kNone || type_of(t.source) == type_of(t.slot), "triggers", i,
          "delays values of another type");
  }
  for (std::uint32_t i = 0; i < reactions.size(); ++i) {
    const Reaction& r = reactions[i];
    if (r.forward_from == kNone) continue;
    check(type_of(r.forward_from) == type_of(r.forward_to), "reactions", i,
          "forwards values of another type");
    check(!r.native || type_of(r.forward_from) != kUntyped, "reactions", i,
          "forwards values of the host without it");
  }
  for (const ReactionId r : startup) check_id(r, reactions.size(), "startup", r);
  for (const ReactionId r : shutdown) {
    check_id(r, reactions.size(), "shutdown", r);
  }
  for (const ReactionId r : reset) check_id(r, reactions.size(), "reset", r);
}

}  // namespace reactorl
