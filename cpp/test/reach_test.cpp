// SPDX-License-Identifier: Apache-2.0
#include "reactorl/reach.hpp"

#include <thread>
#include <vector>

#include "check.hpp"
#include "random_graph.hpp"

using namespace reactorl;

namespace {

constexpr std::size_t kPlenty = std::size_t{1} << 20U;

void check_all(const Reach& reach, const Graph& graph) {
  const auto size = static_cast<ReactionId>(graph.plan.reactions.size());
  for (ReactionId a = 0; a < size; ++a) {
    for (ReactionId b = 0; b < size; ++b) {
      CHECK_EQ(reach.before(a, b), static_cast<bool>(graph.before[a][b]));
    }
  }
}

}  // namespace

TEST(reach_is_reachability) {
  check::Dice dice(4);
  for (int round = 0; round < check::scaled(100, 20); ++round) {
    const std::uint32_t size = 1 + dice.below(140);
    const Graph graph = random_graph(dice, size, 1 + dice.below(8), 1);
    const Reach reach(graph.plan, kPlenty);

    check_all(reach, graph);
    check_all(reach, graph);  // now from what it kept
  }
}

TEST(nothing_is_before_itself) {
  check::Dice dice(5);
  const Graph graph = random_graph(dice, 65, 5, 1);
  const Reach reach(graph.plan, kPlenty);

  for (ReactionId r = 0; r < 65; ++r) CHECK(!reach.before(r, r));
}

TEST(without_memory_a_lower_level_counts_as_before) {
  check::Dice dice(6);
  for (const std::size_t budget : {0, 1, 7, 8, 64, 200}) {
    const Graph graph = random_graph(dice, 50, 4, 1);
    const Reach reach(graph.plan, budget);
    std::size_t exact = 0;  // rows whose answers are all right

    for (ReactionId a = 0; a < 50; ++a) {
      bool right = true;
      for (ReactionId b = 0; b < 50; ++b) {
        const bool lower = graph.plan.reactions[a].level < graph.plan.reactions[b].level;
        const bool answer = reach.before(a, b);
        CHECK(answer || !graph.before[a][b]);  // never wrongly free
        CHECK(answer == graph.before[a][b] || (answer && lower));
        right = right && answer == graph.before[a][b];
      }
      if (right) ++exact;
    }
    CHECK(exact >= budget / 8);  // a row of 50 bits takes 8 bytes
  }
}

TEST(all_workers_may_ask_at_once) {
  check::Dice dice(7);
  for (int round = 0; round < check::scaled(40, 10); ++round) {
    const Graph graph = random_graph(dice, 90, 4, 1);
    const Reach reach(graph.plan, kPlenty);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] { check_all(reach, graph); });
    }
    for (std::thread& thread : threads) thread.join();
  }
}

TEST(racing_workers_do_not_eat_up_the_budget) {
  check::Dice dice(8);
  for (int round = 0; round < check::scaled(40, 10); ++round) {
    const Graph graph = random_graph(dice, 60, 6, 1);
    // Room for every row once, and for three copies that lose the race.
    const Reach reach(graph.plan, (60 + 3) * 8);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (ReactionId a = 0; a < 60; ++a)
          static_cast<void>(reach.before(a, ReactionId(59 - a)));
      });
    }
    for (std::thread& thread : threads) thread.join();

    check_all(reach, graph);
  }
}
