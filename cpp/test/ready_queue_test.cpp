// SPDX-License-Identifier: Apache-2.0
// One thread; where several workers take part, their calls are interleaved at random.
// See ready_queue_stress_test.cpp for real threads.
#include "reactorl/ready_queue.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "active_set.hpp"
#include "check.hpp"
#include "random_graph.hpp"

using namespace reactorl;

namespace {

/// Reactions of the given levels, with no order but the levels, all at home with 0.
auto flat(const std::vector<LevelId>& levels, WorkerId workers = 1) -> Plan {
  Plan plan;
  plan.workers = workers;
  for (const LevelId level : levels) {
    Reaction reaction;
    reaction.level = level;
    plan.reactions.push_back(reaction);
    plan.levels = std::max(plan.levels, level + 1);
  }
  plan.downstream =
      make_table(std::vector<std::vector<std::uint32_t>>(plan.reactions.size()));
  return plan;
}

/// Claims and finishes until nothing is left.
auto drain(ReadyQueue& ready) -> std::vector<ReactionId> {
  std::vector<ReactionId> order;
  while (!ready.finished()) {
    const ReactionId reaction = ready.claim(0);
    CHECK(reaction != kNone);
    if (reaction == kNone) break;
    order.push_back(reaction);
    ready.finish(0, reaction);
  }
  return order;
}

}  // namespace

TEST(nothing_is_ready_at_first) {
  const Plan plan = flat({0, 1});
  ReadyQueue ready(plan, 0);
  ready.begin(1);

  CHECK(ready.finished());
  CHECK_EQ(ready.claim(0), kNone);
  CHECK_EQ(ready.look_ahead(0), kNone);
}

TEST(a_plan_without_reactions_is_finished) {
  const Plan plan;
  ReadyQueue ready(plan, 0);
  ready.begin(1);

  CHECK(ready.finished());
  CHECK_EQ(ready.claim(0), kNone);
}

TEST(reactions_are_claimed_by_level) {
  const Plan plan = flat({2, 0, 130, 1, 0, 64, 63});
  ReadyQueue ready(plan, 0);
  for (Epoch epoch = 1; epoch < 5; ++epoch) {
    ready.begin(epoch);
    for (const ReactionId r : std::vector<ReactionId>{2, 5, 3, 6, 0, 4, 1}) ready.add(r);
    CHECK_EQ(ready.outstanding(), 7U);

    CHECK_EQ(drain(ready), (std::vector<ReactionId>{4, 1, 3, 0, 6, 5, 2}));
  }
}

TEST(a_reaction_is_queued_once_per_tag) {
  const Plan plan = flat({0, 1});
  ReadyQueue ready(plan, 0);
  for (Epoch epoch = 1; epoch < 4; ++epoch) {
    ready.begin(epoch);
    ready.add(1);
    ready.add(1);
    CHECK_EQ(ready.outstanding(), 1U);
    const ReactionId reaction = ready.claim(0);
    ready.add(1);  // while it runs
    ready.finish(0, reaction);
    ready.add(1);  // and after

    CHECK(ready.finished());
  }
}

TEST(what_a_running_reaction_adds_runs_later_in_the_tag) {
  const Plan plan = flat({0, 3, 70});
  ReadyQueue ready(plan, 0);
  ready.begin(1);
  ready.add(0);

  for (const ReactionId expected : std::vector<ReactionId>{0, 1, 2}) {
    const ReactionId reaction = ready.claim(0);
    CHECK_EQ(reaction, expected);
    CHECK_EQ(ready.current_level(), plan.reactions[reaction].level);
    if (expected < 2) ready.add(ReactionId(expected + 1));
    ready.finish(0, reaction);
  }
  CHECK(ready.finished());
}

TEST(queued_reactions_of_a_level_can_be_visited) {
  const Plan plan = flat({0, 0, 0, 1});
  ReadyQueue ready(plan, 0);
  ready.begin(1);
  for (ReactionId r = 0; r < 4; ++r) ready.add(r);
  const ReactionId taken = ready.claim(0);
  std::vector<ReactionId> seen;
  ready.for_each_queued(0, [&](ReactionId r) {
    seen.push_back(r);
    return true;
  });
  int visits = 0;
  ready.for_each_queued(0, [&](ReactionId) { return ++visits < 1; });

  CHECK_EQ(taken, 0U);
  CHECK_EQ(seen, (std::vector<ReactionId>{1, 2}));
  CHECK_EQ(visits, 1);
}

TEST(a_worker_takes_its_own_reactions_first) {
  Plan plan = flat({0, 0, 0, 0}, 2);
  plan.reactions[2].home = plan.reactions[3].home = 1;
  ReadyQueue ready(plan, 0);
  ready.begin(1);
  ready.share(true);
  for (ReactionId r = 0; r < 4; ++r) ready.add(r);

  for (const ReactionId expected : std::vector<ReactionId>{2, 3, 0, 1}) {
    CHECK_EQ(ready.claim(1), expected);
    ready.finish(1, expected);
  }
}

TEST(a_worker_that_stays_home_takes_nothing_else) {
  Plan plan = flat({0, 0, 1}, 2);
  plan.reactions[1].home = 1;
  ReadyQueue ready(plan, 0);
  ready.begin(1);
  ready.stay_home(true);
  ready.share(true);
  for (ReactionId r = 0; r < 3; ++r) ready.add(r);

  CHECK_EQ(ready.claim(1), 1U);
  ready.finish(1, 1);
  CHECK_EQ(ready.claim(1), kNone);
  CHECK_EQ(ready.look_ahead(1), kNone);
  CHECK_EQ(ready.claim(0), 0U);
  ready.finish(0, 0);
  CHECK_EQ(ready.claim(1), kNone);
  CHECK_EQ(ready.claim(0), 2U);
}

TEST(a_long_reaction_delays_only_what_depends_on_it) {
  // 0 is long; 1 -> 2 -> 3 is a chain beside it; 4 follows both.
  Plan plan = flat({0, 0, 1, 2, 3}, 2);
  plan.downstream = make_table({{4}, {2}, {3}, {4}, {}});
  ReadyQueue ready(plan, 0);
  ready.begin(1);
  for (const ReactionId r : std::vector<ReactionId>{0, 1, 4}) ready.add(r);
  CHECK_EQ(ready.claim(0), 0U);
  ready.share(true);

  CHECK_EQ(ready.look_ahead(1), kNone);  // the level has more to claim
  CHECK_EQ(ready.claim(1), 1U);
  for (const ReactionId r : std::vector<ReactionId>{2, 3}) {
    ready.add(r);
    ready.finish(1, ReactionId(r - 1));
    CHECK_EQ(ready.claim(1), kNone);
    CHECK_EQ(ready.look_ahead(1), r);
  }
  ready.finish(1, 3);
  CHECK_EQ(ready.look_ahead(1), kNone);  // 4 waits for 0
  ready.finish(0, 0);
  CHECK_EQ(ready.claim(1), 4U);
}

TEST(what_is_urgent_may_go_before_its_level) {
  // 3 is deep and follows 2 alone; 0 and 1 are beside it.
  Plan plan = flat({0, 0, 0, 1}, 2);
  plan.downstream = make_table({{}, {}, {3}, {}});
  ReadyQueue ready(plan, 0);
  ready.begin(1);
  ready.share(true);
  for (const ReactionId r : std::vector<ReactionId>{0, 1, 2}) CHECK(ready.add(r));
  CHECK(!ready.add(0));

  CHECK(!ready.take_ahead(0, 3));  // it was not added
  CHECK(ready.take_ahead(0, 2));
  CHECK(!ready.take_ahead(1, 2));
  CHECK(ready.add(3));
  CHECK(!ready.take_ahead(1, 3));  // 2 is not done
  ready.finish(0, 2);
  CHECK(ready.queued(3));
  CHECK(ready.take_ahead(0, 3));
  CHECK(!ready.queued(3));
  for (const ReactionId r : std::vector<ReactionId>{0, 1}) {
    CHECK_EQ(ready.claim(1), r);
    ready.finish(1, r);
  }
  CHECK(!ready.finished());
  ready.finish(0, 3);
  CHECK(ready.finished());
}

TEST(random_interleavings_keep_the_order) {
  check::Dice dice(10);
  for (int round = 0; round < check::scaled(300, 60); ++round) {
    const WorkerId workers = 1 + dice.below(5);
    const Graph graph =
        random_graph(dice, 1 + dice.below(40), 2 + dice.below(20), workers);
    const std::uint64_t shuffle = round % 2 == 0 ? 0 : dice();
    ReadyQueue ready(graph.plan, shuffle);
    ActiveSet active(graph);
    for (Epoch epoch = 1; epoch < 12; ++epoch) {
      ready.begin(epoch);
      active.begin(epoch);
      for (ReactionId r = 0; r < graph.plan.reactions.size(); ++r) {
        if (dice.chance(30)) active.add(ready, r);
      }
      ready.share(workers > 1);
      std::vector<std::optional<ReactionId>> running(workers);
      while (!ready.finished()) {
        const WorkerId w = dice.below(workers);
        if (running[w]) {
          active.run(ready, *running[w], 50);
          active.finish(ready, w, *running[w]);
          running[w].reset();
          continue;
        }
        ReactionId r = dice.chance(50) ? ready.claim(w) : kNone;
        if (r == kNone && dice.chance(70)) r = ready.look_ahead(w);
        if (r == kNone) {
          // A worker that looks at every level finds all that may run.
          r = ready.claim(w);
          if (r == kNone) r = ready.look_ahead(w);
          CHECK(r != kNone || !active.any_free());
        }
        if (r == kNone) continue;
        active.start(r);
        running[w] = r;
      }
      active.check_all_finished();
      ready.share(false);
    }
  }
}

TEST(shuffle_changes_the_order_within_the_rules) {
  check::Dice dice(11);
  const Graph graph = random_graph(dice, 60, 4, 1);
  std::vector<std::vector<ReactionId>> orders;
  for (std::uint64_t shuffle = 0; shuffle < 8; ++shuffle) {
    ReadyQueue ready(graph.plan, shuffle);
    for (Epoch epoch = 1; epoch < 8; ++epoch) {
      ready.begin(epoch);
      for (ReactionId r = 0; r < 60; ++r) ready.add(r);
      const auto order = drain(ready);

      CHECK_EQ(order.size(), std::size_t{60});
      for (std::size_t i = 0; i < order.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) CHECK(!graph.before[order[i]][order[j]]);
      }
      orders.push_back(order);
    }
  }
  std::ranges::sort(orders);
  const auto twice = std::ranges::unique(orders);
  orders.erase(twice.begin(), twice.end());

  CHECK(orders.size() > 20);  // without shuffle there is one
}

TEST(what_is_held_stops_its_level_and_what_depends_on_it) {
  // 0 and 1 at level 0, 2 after 0, 3 after 1; 0 runs elsewhere.
  Plan plan = flat({0, 0, 1, 1});
  plan.downstream = make_table(std::vector<std::vector<std::uint32_t>>{{2}, {3}, {}, {}});
  ReadyQueue ready(plan, 0);
  ready.begin(1);
  ready.hold(0);
  for (const ReactionId r : {ReactionId(1), ReactionId(2), ReactionId(3)}) {
    static_cast<void>(ready.add(r));
  }

  CHECK_EQ(ready.outstanding(), 3U);
  CHECK_EQ(ready.claim(0), ReactionId(1));
  ready.finish(0, 1);
  CHECK_EQ(ready.claim(0), kNone);
  CHECK_EQ(ready.look_ahead(0), ReactionId(3));
  ready.finish(0, 3);
  CHECK_EQ(ready.look_ahead(0), kNone);
  CHECK(ready.quiet());
  CHECK(!ready.finished());
  ready.release(0);
  CHECK_EQ(ready.claim(0), ReactionId(2));
  ready.finish(0, 2);
  CHECK(ready.finished());
}

TEST(a_reaction_has_passed_when_nothing_unfinished_can_add_it) {
  // 0 before 2 before 4; 1 before 3. 5 is at the level of 4 and depends on nothing.
  Plan plan = flat({0, 0, 1, 1, 2, 2}, 2);
  plan.downstream =
      make_table(std::vector<std::vector<std::uint32_t>>{{2}, {3}, {4}, {}, {}, {}});
  ReadyQueue ready(plan, 0);
  ready.begin(1);
  static_cast<void>(ready.add(0));
  static_cast<void>(ready.add(3));
  ready.attend(0, true);
  ready.attend(1, true);

  CHECK(!ready.passed(0));
  CHECK(!ready.passed(4));  // 0 may add 2, which may add it
  CHECK(ready.passed(5));
  CHECK(ready.passed(1));
  ready.share(true);
  CHECK_EQ(ready.claim(0), ReactionId(0));
  CHECK(!ready.quiet());
  CHECK(!ready.passed(4));  // 0 runs
  CHECK(ready.passed(5));
  static_cast<void>(ready.add(2));
  ready.finish(0, 0);
  CHECK(ready.passed(0));
  CHECK(!ready.passed(4));  // 2 is queued
  ready.share(false);
  CHECK_EQ(drain(ready).size(), 2U);
  CHECK(ready.passed(4));
}
