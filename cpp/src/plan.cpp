// SPDX-License-Identifier: Apache-2.0
#include "reactorl/plan.hpp"

#include <string>

#include "reactorl/error.hpp"

namespace reactorl {
namespace {

void check(bool ok, const char* table, std::uint64_t row, const char* what) {
  if (!ok) throw PlanError(table, row, what);
}

/// `kNone` is allowed where `optional`.
void check_id(std::uint32_t id, std::size_t size, bool optional, const char* table,
              std::uint64_t row) {
  check(id < size || (optional && id == kNone), table, row, "id out of range");
}

void check_table(const Table& table, std::size_t rows, std::size_t items,
                 const char* name) {
  check(table.rows() == rows, name, table.rows(), "wrong number of rows");
  check(table.start.front() == 0, name, 0, "does not start at 0");
  check(table.start.back() == table.item.size(), name, rows, "does not end at the end");
  for (std::size_t i = 0; i < rows; ++i) {
    check(table.start[i] <= table.start[i + 1], name, i, "negative length");
  }
  for (std::size_t i = 0; i < table.item.size(); ++i) {
    check_id(table.item[i], items, false, name, i);
  }
}

}  // namespace

void Plan::validate() const {
  check(workers >= 1, "workers", 0, "at least one is needed");
  check_table(slot_reactions, slots, reactions.size(), "slot_reactions");
  check_table(slot_stages, slots, triggers.size(), "slot_stages");
  check_table(downstream, reactions.size(), reactions.size(), "downstream");
  for (std::uint32_t i = 0; i < reactions.size(); ++i) {
    const Reaction& r = reactions[i];
    check_id(r.level, levels, false, "reactions", i);
    check_id(r.home, workers, false, "reactions", i);
    check_id(r.scope, modes.size(), true, "reactions", i);
    check_id(r.forward_from, slots, true, "reactions", i);
    check_id(r.forward_to, slots, true, "reactions", i);
    for (const ReactionId later : downstream[i]) {
      check(reactions[later].level > r.level, "downstream", i,
            "a later reaction has no higher level");
    }
  }
  for (std::uint32_t i = 0; i < triggers.size(); ++i) {
    const Trigger& t = triggers[i];
    const bool stage =
        t.kind == TriggerKind::kStage || t.kind == TriggerKind::kPhysicalStage;
    check_id(t.slot, slots, false, "triggers", i);
    check_id(t.source, slots, !stage, "triggers", i);
    check_id(t.scope, modes.size(), true, "triggers", i);
    check(t.delay >= 0, "triggers", i, "negative delay");
  }
  for (std::uint32_t i = 0; i < modes.size(); ++i) {
    check_id(modes[i].modal, modals, false, "modes", i);
    check_id(modes[i].scope, modes.size(), true, "modes", i);
  }
  for (const ReactionId r : startup) check_id(r, reactions.size(), false, "startup", r);
  for (const ReactionId r : shutdown) {
    check_id(r, reactions.size(), false, "shutdown", r);
  }
  for (const ReactionId r : reset) check_id(r, reactions.size(), false, "reset", r);
}

}  // namespace reactorl
