// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "bodies.hpp"
#include "policy.hpp"

namespace reactorl::native {

/// How observations are encoded: as float32 numbers, or as so many int32 indices.
struct Encoding {
  std::size_t width = 0;  // numbers; 0: indices
  std::size_t parts = 1;  // indices

  [[nodiscard]] auto size() const -> std::size_t { return width != 0 ? width : parts; }

  void write(const Columns& from, std::size_t row, void* to, std::size_t place) const {
    if (width != 0) {
      std::copy_n(from.floats(row, width), width,
                  static_cast<float*>(to) + place * width);
      return;
    }
    auto* const out = static_cast<std::int32_t*>(to) + place * parts;
    for (std::size_t part = 0; part < parts; ++part) {
      out[part] = static_cast<std::int32_t>(from.integer(part, row));
    }
  }
};

/// Action masks of environments whose mask depends on their observation, an index.
struct MaskTable {
  const std::uint8_t* allowed = nullptr;  // [state][action]; null: there are no masks
  std::size_t actions = 0;

  /// Writes the masks of encoded observations.
  void write(const std::int32_t* states, std::size_t count, std::uint8_t* to) const {
    for (std::size_t k = 0; k < count; ++k) {
      std::copy_n(allowed + static_cast<std::size_t>(states[k]) * actions, actions,
                  to + k * actions);
    }
  }
};

/// The columns of a trajectory, `[step][environment]...`; see `trajectory.py`.
struct TrajectoryColumns {
  void* observations = nullptr;
  void* next_observations = nullptr;
  std::uint8_t* masks = nullptr;
  std::uint8_t* next_masks = nullptr;
  Choices choices;
  double* rewards = nullptr;
  std::uint8_t* terminations = nullptr;
  std::uint8_t* truncations = nullptr;
};

/// Sums over the current episode of each environment.
struct Sums {
  double* returns = nullptr;
  std::int64_t* lengths = nullptr;
};

/// An environment whose episode ended, its return and its length.
struct EndedEpisode {
  double episode_return;
  std::int64_t length;
};

/// Acts in environments and steps them, without the interpreter.
///
/// Thread safety: one thread at a time.
class Stepping {
 public:
  Stepping(Bodies& bodies, std::size_t row, Policy& policy, Encoding encoding,
           MaskTable masks)
      : bodies_(bodies),
        row_(row),
        policy_(policy),
        encoding_(encoding),
        masks_(masks),
        count_(bodies.episodes.size()) {}

  /// Collects steps `[from, until)` of a trajectory. Stops at a step that has to be
  /// finished in Python: its action has been done where the status of an environment does
  /// not say otherwise, but nothing after its choices is in the columns.
  ///
  /// Requires: all environments are live, with resets in the same step.
  ///
  /// Returns: the next step, or the one to be finished, which is below `until` then.
  auto collect(const TrajectoryColumns& to, const void* noise, std::size_t from,
               std::size_t until, const Sums& sums, std::vector<EndedEpisode>& ended)
      -> std::size_t {
    const Results& results = bodies_.results;
    for (std::size_t t = from; t < until; ++t) {
      const std::size_t first = t * count_;
      encode(to.observations, first);
      write_masks(to.observations, to.masks, first);
      act(to, noise, first);
      if (bodies_.step(actions(to, first), 0, count_, row_).left != 0) return t;
      encode(to.next_observations, first);
      for (std::size_t at = 0; at < count_; ++at) {
        const std::size_t place = first + at;
        to.rewards[place] = results.rewards[row_ + at];
        to.terminations[place] = results.terminations[row_ + at];
        to.truncations[place] = results.truncations[row_ + at];
        sums.returns[at] += results.rewards[row_ + at];
        ++sums.lengths[at];
        if (results.status[at] != kEnded) continue;
        encoding_.write(results.last, at, to.next_observations, place);
        ended.push_back({sums.returns[at], sums.lengths[at]});
        sums.returns[at] = 0, sums.lengths[at] = 0;
      }
      write_masks(to.next_observations, to.next_masks, first);
    }
    return until;
  }

  /// Does greedy steps in some environments, until an episode ends or is as long as
  /// allowed, or a step has to be finished in Python.
  ///
  /// Requires: the environments are live, without automatic resets.
  ///
  /// Returns: the number of steps, and whether the last one has to be finished, with
  /// the actions in `to`.
  auto play(const std::vector<std::size_t>& active, std::size_t limit, const Sums& sums,
            std::int64_t longest, const Choices& to) -> std::pair<std::size_t, bool> {
    const Results& results = bodies_.results;
    const std::size_t some = active.size();
    const std::size_t actions = policy_.network.outputs();
    encoded_.resize(some * encoding_.size() * sizeof(float));
    allowed_.resize(masks_.allowed == nullptr ? 0 : some * actions);
    for (std::size_t done = 1; done <= limit; ++done) {
      for (std::size_t k = 0; k < some; ++k) {
        encoding_.write(results.observations, row_ + active[k], encoded_.data(), k);
      }
      write_masks(encoded_.data(), allowed_.data(), 0, some);
      policy_.act(inputs_of(encoded_.data(), some), some, nullptr,
                  allowed_.empty() ? nullptr : allowed_.data(), to);
      bool is_left = false;
      bool is_over = false;
      for (std::size_t k = 0; k < some; ++k) {
        const std::size_t at = active[k];
        const bool floats = bodies_.acts_with_floats();
        const void* const action = floats ? static_cast<const void*>(to.actions + k)
                                          : static_cast<const void*>(to.indices + k);
        is_left |= bodies_.step(action, at, at + 1, row_).left != 0;
      }
      if (is_left) return {done, true};
      for (const std::size_t at : active) {
        sums.returns[at] += results.rewards[row_ + at];
        ++sums.lengths[at];
        is_over |= results.terminations[row_ + at] != 0 ||
                   results.truncations[row_ + at] != 0 || sums.lengths[at] >= longest;
      }
      if (is_over) return {done, false};
    }
    return {limit, false};
  }

 private:
  void encode(void* to, std::size_t first) const {
    for (std::size_t at = 0; at < count_; ++at) {
      encoding_.write(bodies_.results.observations, row_ + at, to, first + at);
    }
  }
  void write_masks(const void* encoded, std::uint8_t* to, std::size_t first) const {
    write_masks(encoded, to, first, count_);
  }
  void write_masks(const void* encoded, std::uint8_t* to, std::size_t first,
                   std::size_t count) const {
    if (masks_.allowed == nullptr) return;
    masks_.write(static_cast<const std::int32_t*>(encoded) + first, count,
                 to + first * masks_.actions);
  }

  /// The inputs of the network for encoded observations; valid until the next call.
  auto inputs_of(const void* encoded, std::size_t count) -> const float* {
    const std::size_t size = policy_.network.inputs();
    if (encoding_.width != 0 && policy_.inputs.mean.empty()) {
      return static_cast<const float*>(encoded);
    }
    rows_.resize(count * size);
    for (std::size_t k = 0; k < count; ++k) {
      float* const out = rows_.data() + k * size;
      if (encoding_.width != 0) {
        policy_.inputs.write(static_cast<const float*>(encoded) + k * size, size, out);
      } else {
        policy_.inputs.write(
            static_cast<const std::int32_t*>(encoded) + k * encoding_.parts, out);
      }
    }
    return rows_.data();
  }

  void act(const TrajectoryColumns& to, const void* noise, std::size_t first) {
    const std::size_t actions = policy_.network.outputs();
    const auto shifted = [](auto* array, std::size_t by) {
      return array == nullptr ? nullptr : array + by;
    };
    Choices row;
    row.indices = shifted(to.choices.indices, first);
    row.numbers = shifted(to.choices.numbers, first * actions);
    row.actions = shifted(to.choices.actions, first * actions);
    row.log_probs = shifted(to.choices.log_probs, first);
    const void* drawn = nullptr;
    switch (policy_.distribution.kind) {
      case Kind::kCategorical:
        drawn = static_cast<const double*>(noise) + first * actions;
        break;
      case Kind::kNormal:
        drawn = static_cast<const float*>(noise) + first * actions;
        break;
      case Kind::kEpsilonGreedy: drawn = static_cast<const double*>(noise) + first; break;
    }
    const std::size_t row_size = first * encoding_.size();
    const void* const encoded =
        encoding_.width != 0
            ? static_cast<const void*>(static_cast<const float*>(to.observations) +
                                       row_size)
            : static_cast<const void*>(static_cast<const std::int32_t*>(to.observations) +
                                       row_size);
    policy_.act(inputs_of(encoded, count_), count_, drawn,
                shifted(masks_.allowed == nullptr ? nullptr : to.masks, first * actions),
                row);
  }

  [[nodiscard]] auto actions(const TrajectoryColumns& to, std::size_t first) const
      -> const void* {
    if (bodies_.acts_with_floats()) {
      return to.choices.actions + first * policy_.network.outputs();
    }
    return to.choices.indices + first;
  }

  Bodies& bodies_;
  std::size_t row_;
  Policy& policy_;
  Encoding encoding_;
  MaskTable masks_;
  std::size_t count_;
  std::vector<float> rows_;
  std::vector<std::uint8_t> allowed_;
  std::vector<std::byte> encoded_;  // float32 or int32, which have the same size
};

}  // namespace reactorl::native
