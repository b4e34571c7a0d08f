// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <vector>

#include "bit_generator.hpp"
#include "body.hpp"

namespace reactorl::native {

/// The transitions of a tabular environment; many environments share one table.
struct Table {
  struct Transition {
    double cumulative;  // probability of this one and those before it
    double reward;
    std::int64_t next;
    bool terminated;
  };

  std::int64_t actions = 0;
  std::vector<std::size_t> starts;  // of the transitions of (state, action); and the end
  std::vector<Transition> transitions;
  std::vector<double> initial;  // cumulative
  bool is_taxi = false;
  bool is_fickle = false;  // whether a passenger may change the destination
  double fickle_probability = 0;
};

/// Gymnasium's `FrozenLakeEnv`, `CliffWalkingEnv` and `TaxiEnv`.
struct Tabular {
  using Action = std::int64_t;
  static constexpr std::size_t kNumbers = 5;
  static constexpr std::size_t kNanoseconds = 15;
  static constexpr bool kResets = true;
  static constexpr std::int64_t kNone = -1;

  const Table* table = nullptr;
  std::int64_t s = 0;
  std::int64_t last_action = kNone;
  std::int64_t transition = kNone;  // that led here; none after a reset
  bool is_fickle_step = false;
  bool was_reset = false;  // since the state was imported

  void put(const double* n) {
    s = static_cast<std::int64_t>(n[0]);
    last_action = static_cast<std::int64_t>(n[1]);
    transition = static_cast<std::int64_t>(n[2]);
    is_fickle_step = n[3] != 0;
    was_reset = false;
  }
  void get(double* n) const {
    n[0] = static_cast<double>(s), n[1] = static_cast<double>(last_action);
    n[2] = static_cast<double>(transition), n[3] = is_fickle_step ? 1 : 0;
    n[4] = was_reset ? 1 : 0;
  }

  [[nodiscard]] auto step(Action action, BitGenerator& random, Outcome& out) -> bool {
    if (action < 0 || action >= table->actions) return false;
    const auto pair = static_cast<std::size_t>(s * table->actions + action);
    const std::size_t first = table->starts[pair];
    const std::size_t count = table->starts[pair + 1] - first;
    const double drawn = random.random();
    std::size_t k = 0;
    while (k < count && !(table->transitions[first + k].cumulative > drawn)) ++k;
    if (k == count) k = 0;  // as argmax of an array without a True
    const Table::Transition& taken = table->transitions[first + k];
    transition = static_cast<std::int64_t>(first + k);
    last_action = action;
    const std::int64_t before = s;
    s = taken.next;
    if (table->is_fickle && is_fickle_step) change_destination(before, random);
    out.reward = taken.reward;
    out.terminated = taken.terminated;
    return true;
  }

  void reset(BitGenerator& random) {
    const std::vector<double>& initial = table->initial;
    const auto found = std::upper_bound(initial.begin(), initial.end(), random.random());
    s = found == initial.end() ? 0 : found - initial.begin();
    last_action = transition = kNone;
    if (table->is_taxi) {
      is_fickle_step = table->is_fickle && random.random() < table->fickle_probability;
    }
    was_reset = true;
  }

  void observe(const Columns& to, std::size_t row) const { to.integer(0, row) = s; }

 private:
  /// Taxi: a passenger in the taxi chooses another destination once it has moved.
  void change_destination(std::int64_t before, BitGenerator& random) {
    constexpr std::int64_t kDestinations = 4;
    constexpr std::int64_t kPlaces = 5;
    constexpr std::int64_t kInTaxi = 4;
    const std::int64_t destination = before % kDestinations;
    const bool has_moved =
        s / (kDestinations * kPlaces) != before / (kDestinations * kPlaces);
    if (before / kDestinations % kPlaces != kInTaxi || !has_moved) return;
    is_fickle_step = false;
    std::int64_t chosen = random.below(kDestinations - 1);
    if (chosen >= destination) ++chosen;
    s = s - s % kDestinations + chosen;
  }
};

}  // namespace reactorl::native
