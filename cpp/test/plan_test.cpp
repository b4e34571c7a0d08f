// SPDX-License-Identifier: Apache-2.0
#include "reactorl/plan.hpp"

#include <functional>
#include <string>

#include "check.hpp"
#include "random_graph.hpp"
#include "reactorl/error.hpp"

using namespace reactorl;

namespace {

/// A small plan with something in every table.
auto sound_plan() -> Plan {
  Plan plan;
  plan.slots = 3;
  plan.workers = 2;
  plan.levels = 2;
  plan.modals = 1;
  plan.reactions.resize(2);
  plan.reactions[1].level = 1;
  plan.reactions[1].home = 1;
  plan.reactions[1].scope = 0;
  plan.modes.resize(2);
  plan.modes[0].initial = true;
  plan.triggers.resize(2);
  plan.triggers[0].slot = 0;
  plan.triggers[1].kind = TriggerKind::kStage;
  plan.triggers[1].slot = 2;
  plan.triggers[1].source = 1;
  plan.slot_reactions = make_table({{0}, {1}, {}});
  plan.slot_stages = make_table({{}, {1}, {}});
  plan.downstream = make_table({{1}, {}});
  plan.startup = {0};
  plan.shutdown = {1};
  plan.reset = {1};
  return plan;
}

/// The error that a plan with one fault raises; empty if it raises none.
auto fault(const std::function<void(Plan&)>& spoil) -> std::string {
  Plan plan = sound_plan();
  spoil(plan);
  try {
    plan.validate();
  } catch (const PlanError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST(rows_of_a_table_lie_back_to_back) {
  const Table<SlotId, SlotId> table = make_table({{3, 1}, {}, {2}});

  CHECK_EQ(table.rows(), std::size_t{3});
  CHECK_EQ(table[0].size(), std::size_t{2});
  CHECK_EQ(table[0][1], 1U);
  CHECK(table[1].empty());
  CHECK_EQ(table[2][0], 2U);
  CHECK_EQ((Table<SlotId, SlotId>().rows()), std::size_t{0});
}

TEST(sound_plans_pass) {
  CHECK_EQ(fault([](Plan&) {}), "");
  Plan().validate();
  check::Dice dice(9);
  for (int i = 0; i < 20; ++i)
    random_graph(dice, 1 + dice.below(40), 10, 3).plan.validate();
}

TEST(ids_out_of_range_are_refused) {
  const std::vector<std::function<void(Plan&)>> spoils{
      [](Plan& p) { p.slot_reactions.item[0] = 2; },
      [](Plan& p) { p.slot_stages.item[0] = kNone; },
      [](Plan& p) { p.downstream.item[0] = 9; },
      [](Plan& p) { p.reactions[0].level = 2; },
      [](Plan& p) { p.reactions[0].home = 2; },
      [](Plan& p) { p.reactions[0].scope = 2; },
      [](Plan& p) { p.reactions[0].forward_from = 3; },
      [](Plan& p) { p.reactions[0].forward_to = 3; },
      [](Plan& p) { p.triggers[0].slot = kNone; },
      [](Plan& p) { p.triggers[1].source = kNone; },
      [](Plan& p) { p.triggers[1].scope = 2; },
      [](Plan& p) { p.modes[1].modal = 1; },
      [](Plan& p) { p.modes[1].scope = 2; },
      [](Plan& p) { p.startup = {2}; },
      [](Plan& p) { p.shutdown = {kNone}; },
      [](Plan& p) { p.reset = {2}; },
  };

  for (const auto& spoil : spoils) {
    CHECK(fault(spoil).find("id out of range") != std::string::npos);
  }
}

TEST(tables_of_the_wrong_shape_are_refused) {
  CHECK_EQ(fault([](Plan& p) { p.slots = 4; }),
           "slot_reactions[3]: wrong number of rows");
  CHECK_EQ(fault([](Plan& p) { p.slot_stages.start[0] = 1; }),
           "slot_stages[0]: does not start at 0");
  CHECK_EQ(fault([](Plan& p) { p.slot_stages.item.push_back(0); }),
           "slot_stages[3]: does not end at the end");
  CHECK_EQ(fault([](Plan& p) { p.slot_stages.start = {0, 1, 0, 1}; }),
           "slot_stages[1]: negative length");
  CHECK(!fault([](Plan& p) { p.downstream.start.clear(); }).empty());
}

TEST(levels_must_rise_along_the_order) {
  CHECK_EQ(fault([](Plan& p) { p.reactions[1].level = 0; }),
           "downstream[0]: a later reaction must have a higher level");
  CHECK(!fault([](Plan& p) { p.downstream = make_table({{0}, {}}); }).empty());
}

TEST(other_nonsense_is_refused) {
  CHECK_EQ(fault([](Plan& p) { p.workers = 0; }), "workers[0]: at least one is needed");
  CHECK_EQ(fault([](Plan& p) { p.triggers[1].delay = -1; }),
           "triggers[1]: negative delay");
}
