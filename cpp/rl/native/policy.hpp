// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "arithmetic.hpp"
#include "mlp.hpp"

namespace reactorl::native {

/// The logit of a forbidden action.
inline constexpr float kForbidden = -1e9F;
/// Normalized observations are clipped to this range.
inline constexpr float kNormalizedLimit = 10.0F;

/// How encoded observations become inputs of a network: `network_input` and `normalized`.
struct Inputs {
  std::vector<std::int64_t> values;   // of each input: the index for which it is 1
  std::vector<std::int32_t> sources;  // of each input: the component that it depends on
  std::vector<float> mean;
  std::vector<float> scale;  // both empty: not normalized

  void write(const float* row, std::size_t size, float* out) const {
    std::copy_n(row, size, out);
    normalize(out, size);
  }
  void write(const std::int32_t* row, float* out) const {
    for (std::size_t k = 0; k < values.size(); ++k) {
      const std::size_t source =
          sources.empty() ? 0 : static_cast<std::size_t>(sources[k]);
      out[k] = row[source] == values[k] ? 1.0F : 0.0F;
    }
    normalize(out, values.size());
  }

 private:
  void normalize(float* out, std::size_t size) const {
    if (mean.empty()) return;
    for (std::size_t k = 0; k < size; ++k) {
      out[k] = clip((out[k] - mean[k]) * scale[k], -kNormalizedLimit, kNormalizedLimit);
    }
  }
};

/// Where the choices of a policy for some rows are written; null: not wanted.
struct Choices {
  std::int64_t* indices = nullptr;  // of `kCategorical` and `kEpsilonGreedy`
  float* numbers = nullptr;         // of `kNormal`, before they are scaled and clipped
  float* actions = nullptr;         // of `kNormal`
  float* log_probs = nullptr;
};

/// What random numbers a row needs, and how choices follow from outputs.
enum class Kind : std::uint8_t {
  kCategorical,    // a Gumbel variable (float64) for each action
  kNormal,         // a normal variable (float32) for each component
  kEpsilonGreedy,  // a uniform variable (float64)
};

/// A distribution over actions for each row of outputs; see `distributions.py`.
struct Distribution {
  Kind kind = Kind::kCategorical;
  // kNormal: of each component
  std::vector<float> log_std;
  std::vector<float> low, high, middle, half;
  double epsilon = 0;  // kEpsilonGreedy

  /// Chooses for a row; without noise the most probable choice.
  void choose(const float* outputs, std::size_t count, const void* noise,
              const std::uint8_t* mask, std::size_t row, const Choices& to) const {
    switch (kind) {
      case Kind::kCategorical: {
        const auto* const gumbel = static_cast<const double*>(noise);
        const std::size_t chosen = best(
            outputs, count, gumbel == nullptr ? nullptr : gumbel + row * count, mask);
        to.indices[row] = static_cast<std::int64_t>(chosen);
        if (to.log_probs != nullptr) {
          to.log_probs[row] = log_probability(outputs, count, mask, chosen);
        }
        break;
      }
      case Kind::kNormal: {
        const auto* const normal = static_cast<const float*>(noise);
        choose_numbers(outputs, count, normal == nullptr ? nullptr : normal + row * count,
                       row, to);
        break;
      }
      case Kind::kEpsilonGreedy: {
        const auto* const drawn = static_cast<const double*>(noise);
        to.indices[row] = static_cast<std::int64_t>(
            explore(outputs, count, drawn == nullptr ? 1.0 : drawn[row], mask));
        break;
      }
    }
  }

 private:
  static auto allowed(const std::uint8_t* mask, std::size_t action) -> bool {
    return mask == nullptr || mask[action] != 0;
  }
  static auto logit(const float* outputs, const std::uint8_t* mask, std::size_t action)
      -> float {
    return allowed(mask, action) ? outputs[action] : kForbidden;
  }

  /// The first of the largest sums of logit and noise; a NaN counts as the largest.
  static auto best(const float* outputs, std::size_t count, const double* noise,
                   const std::uint8_t* mask) -> std::size_t {
    std::size_t found = 0;
    double largest = 0;
    for (std::size_t k = 0; k < count; ++k) {
      double value = logit(outputs, mask, k);
      if (noise != nullptr) value += noise[k];
      if (k == 0 || value > largest || std::isnan(value)) largest = value, found = k;
      if (std::isnan(value)) break;
    }
    return found;
  }

  static auto log_probability(const float* outputs, std::size_t count,
                              const std::uint8_t* mask, std::size_t chosen) -> float {
    double largest = logit(outputs, mask, 0);
    for (std::size_t k = 1; k < count; ++k) {
      largest = std::max(largest, static_cast<double>(logit(outputs, mask, k)));
    }
    double sum = 0;
    for (std::size_t k = 0; k < count; ++k) {
      sum += std::exp(logit(outputs, mask, k) - largest);
    }
    return static_cast<float>(logit(outputs, mask, chosen) - largest - std::log(sum));
  }

  void choose_numbers(const float* outputs, std::size_t count, const float* noise,
                      std::size_t row, const Choices& to) const {
    constexpr double kLog2Pi = 1.8378770664093453;
    double log_prob = 0;
    for (std::size_t k = 0; k < count; ++k) {
      float choice = outputs[k];
      if (noise != nullptr) {
        const double log_std_k = log_std[k];
        choice += static_cast<float>(std::exp(log_std_k)) * noise[k];
        const double deviation =
            (static_cast<double>(choice) - outputs[k]) * std::exp(-log_std_k);
        log_prob += -0.5 * (deviation * deviation + kLog2Pi) - log_std_k;
      }
      if (to.numbers != nullptr) to.numbers[row * count + k] = choice;
      const float scaled = choice * half[k] + middle[k];
      to.actions[row * count + k] = clip(scaled, low[k], high[k]);
    }
    if (to.log_probs != nullptr) to.log_probs[row] = static_cast<float>(log_prob);
  }

  /// The greedy action, or a uniform one if `drawn` is below epsilon.
  [[nodiscard]] auto explore(const float* outputs, std::size_t count, double drawn,
                             const std::uint8_t* mask) const -> std::size_t {
    if (drawn < epsilon) {
      std::size_t possible = 0;
      for (std::size_t k = 0; k < count; ++k) possible += allowed(mask, k) ? 1 : 0;
      const double share = static_cast<double>(possible) / epsilon;
      const auto nth = std::min(static_cast<std::size_t>(drawn * share), possible - 1);
      std::size_t seen = 0;
      for (std::size_t k = 0; k < count; ++k) {
        if (allowed(mask, k) && seen++ == nth) return k;
      }
    }
    std::size_t found = count;
    for (std::size_t k = 0; k < count; ++k) {
      if (!allowed(mask, k)) continue;
      if (std::isnan(outputs[k])) return k;
      if (found == count || outputs[k] > outputs[found]) found = k;
    }
    return found;
  }
};

/// A network and what its outputs mean.
///
/// Thread safety: one thread at a time.
class Policy {
 public:
  Mlp network;
  Inputs inputs;
  Distribution distribution;

  /// Acts on rows of inputs. `masks` has a row for each, or is null.
  void act(const float* rows, std::size_t count, const void* noise,
           const std::uint8_t* masks, const Choices& to) {
    const std::size_t size = network.outputs();
    outputs_.resize(count * size);
    network.apply(rows, count, outputs_.data(), apply_);
    for (std::size_t row = 0; row < count; ++row) {
      const std::uint8_t* const mask = masks == nullptr ? nullptr : masks + row * size;
      distribution.choose(outputs_.data() + row * size, size, noise, mask, row, to);
    }
  }

 private:
  Apply apply_ = fastest_apply();
  std::vector<float> outputs_;
};

}  // namespace reactorl::native
