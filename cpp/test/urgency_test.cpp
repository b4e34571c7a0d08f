// SPDX-License-Identifier: Apache-2.0
#include "reactorl/urgency.hpp"

#include <map>
#include <vector>

#include "check.hpp"
#include "random_graph.hpp"

using namespace reactorl;

namespace {

constexpr Time kMillisecond = 1'000'000;

/// 0 -> 1 -> 3, and 2 beside them.
auto chain(WorkerId workers = 2) -> Plan {
  Plan plan;
  plan.workers = workers;
  for (const LevelId level : std::vector<LevelId>{0, 1, 0, 2}) {
    Reaction reaction;
    reaction.level = level;
    plan.reactions.push_back(reaction);
  }
  plan.levels = 3;
  plan.downstream = make_table({{1}, {3}, {}, {}});
  return plan;
}

auto costs_of(const std::vector<Time>& spent) -> Costs {
  Costs costs(spent.size());
  for (ReactionId r = 0; r < spent.size(); ++r) {
    CHECK(costs.start(r));
    costs.stop(r, spent[r]);
  }
  return costs;
}

auto noted(const Urgency& urgency) -> std::map<ReactionId, Time> {
  std::map<ReactionId, Time> found;
  urgency.for_each([&](ReactionId r, Time rank) { found[r] = rank; });
  return found;
}

}  // namespace

TEST(a_rank_is_what_the_longest_chain_from_there_takes) {
  const Plan plan = chain();
  Urgency urgency(plan);
  urgency.refresh(costs_of({1'000, 2'000, 3 * kMillisecond, 4 * kMillisecond}), 1);

  CHECK_EQ(urgency.rank(3), 4 * kMillisecond);
  CHECK_EQ(urgency.rank(1), 4 * kMillisecond + 2'000);
  CHECK_EQ(urgency.rank(0), 4 * kMillisecond + 3'000);
  CHECK_EQ(urgency.rank(2), 3 * kMillisecond);
}

TEST(of_two_chains_the_longer_one_counts) {
  Plan plan = chain();
  plan.downstream = make_table({{1, 3}, {}, {}, {}});  // 0 -> 1 and 0 -> 3
  Urgency urgency(plan);
  urgency.refresh(costs_of({1'000, 3 * kMillisecond, 0, 4 * kMillisecond}), 1);

  CHECK_EQ(urgency.rank(0), 4 * kMillisecond + 1'000);
}

TEST(only_what_takes_long_is_noted) {
  const Plan plan = chain();
  Urgency urgency(plan);
  urgency.refresh(costs_of({1'000, 1'000, 9'000, kMillisecond}), 1);
  urgency.begin();
  for (ReactionId r = 0; r < 4; ++r) urgency.add(r);

  CHECK(urgency.any());
  const auto found = noted(urgency);
  CHECK_EQ(found.size(), std::size_t{3});
  CHECK(!found.contains(2));

  urgency.begin();
  CHECK(!urgency.any());
}

TEST(where_everything_is_short_nothing_is_urgent) {
  const Plan plan = chain();
  Urgency urgency(plan);
  urgency.refresh(costs_of({400'000, 400'000, 400'000, 400'000}), 1);
  urgency.begin();
  for (ReactionId r = 0; r < 4; ++r) urgency.add(r);

  CHECK(!urgency.any());
  CHECK_EQ(urgency.rank(0), 0);
}

TEST(one_worker_has_nothing_to_choose) {
  const Plan plan = chain(1);
  Urgency urgency(plan);
  urgency.refresh(costs_of({kMillisecond, kMillisecond, kMillisecond, kMillisecond}), 1);
  for (ReactionId r = 0; r < 4; ++r) urgency.add(r);

  CHECK(!urgency.any());
}

TEST(ranks_follow_what_reactions_take_later) {
  const Plan plan = chain();
  Urgency urgency(plan);
  urgency.refresh(costs_of({0, 0, 0, kMillisecond}), 1);
  const Costs later = costs_of({0, 0, 0, 9 * kMillisecond});

  urgency.refresh(later, 3);  // not yet
  CHECK_EQ(urgency.rank(3), kMillisecond);
  urgency.refresh(later, 4);
  CHECK_EQ(urgency.rank(3), 9 * kMillisecond);
  urgency.refresh(costs_of({0, 0, 0, 700'000}), 192);
  CHECK_EQ(urgency.rank(3), 700'000);
}

TEST(more_than_there_is_room_for_is_left_to_the_levels) {
  Plan plan;
  plan.workers = 2;
  plan.levels = 1;
  plan.reactions.resize(tuning::kMostUrgent + 9);
  plan.downstream =
      make_table(std::vector<std::vector<std::uint32_t>>(plan.reactions.size()));
  Urgency urgency(plan);
  urgency.refresh(costs_of(std::vector<Time>(plan.reactions.size(), kMillisecond)), 1);
  for (ReactionId r = 0; r < plan.reactions.size(); ++r) urgency.add(r);

  CHECK_EQ(noted(urgency).size(), tuning::kMostUrgent);
}
