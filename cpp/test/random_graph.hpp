// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "check.hpp"
#include "reactorl/plan.hpp"

namespace reactorl {

/// Rows of numbers, which become a table of whatever ids it is assigned to.
class Rows {
 public:
  explicit Rows(std::vector<std::vector<std::uint32_t>> rows) : rows_(std::move(rows)) {}

  template <class Row, class Item>
  operator Table<Row, Item>() const {
    Table<Row, Item> table;
    for (const auto& row : rows_) {
      for (const std::uint32_t item : row) table.item.push_back(Item(item));
      table.start.push_back(static_cast<std::uint32_t>(table.item.size()));
    }
    return table;
  }

 private:
  std::vector<std::vector<std::uint32_t>> rows_;
};

inline auto make_table(std::vector<std::vector<std::uint32_t>> rows) -> Rows {
  return Rows(std::move(rows));
}

/// A plan of bare reactions: who must run before whom, and nothing else.
struct Graph {
  Plan plan;
  std::vector<std::vector<bool>> before;  // before[a][b]: a must run before b
};

/// Gives each reaction the length of the longest path to it as its level.
inline void assign_levels(Plan& plan,
                          const std::vector<std::vector<std::uint32_t>>& later) {
  for (Reaction& r : plan.reactions) r.level = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (ReactionId a = 0; a < later.size(); ++a) {
      for (const std::uint32_t b : later[a]) {
        const LevelId least(plan.reactions[a].level + 1);
        if (plan.reactions[b].level < least) {
          plan.reactions[b].level = least;
          changed = true;
        }
      }
    }
  }
  plan.levels = 0;
  for (const Reaction& r : plan.reactions)
    plan.levels = std::max(plan.levels, r.level + 1);
}

/// Ids say nothing about order, and `percent` of the possible edges are there.
inline auto random_graph(check::Dice& dice, std::uint32_t size, unsigned percent,
                         WorkerId workers) -> Graph {
  Graph graph;
  std::vector<ReactionId> order(size);
  for (ReactionId r = 0; r < size; ++r) order[r] = r;
  for (std::uint32_t r = size; r > 1; --r) std::swap(order[r - 1], order[dice.below(r)]);

  std::vector<std::vector<std::uint32_t>> later(size);
  graph.before.assign(size, std::vector<bool>(size, false));
  for (std::uint32_t i = size; i-- > 0;) {
    for (std::uint32_t j = i + 1; j < size; ++j) {
      if (!dice.chance(percent)) continue;
      const ReactionId a = order[i];
      const ReactionId b = order[j];
      later[a].push_back(b);
      graph.before[a][b] = true;
      for (ReactionId c = 0; c < size; ++c) {
        if (graph.before[b][c]) graph.before[a][c] = true;
      }
    }
  }
  Plan& plan = graph.plan;
  plan.reactions.resize(size);
  for (Reaction& r : plan.reactions) r.home = dice.below(workers);
  assign_levels(plan, later);
  plan.workers = workers;
  plan.downstream = make_table(later);
  return graph;
}

}  // namespace reactorl
