// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace reactorl::native {

/// The C interface of NumPy's bit generators: the layout of its `bitgen_t`, which
/// `cpp/bind/rl/native.cpp` checks. Drawing from it advances the very generator that
/// Python code holds.
struct BitGenerator {
  void* state;
  std::uint64_t (*next_uint64)(void* state);
  std::uint32_t (*next_uint32)(void* state);
  double (*next_double)(void* state);
  std::uint64_t (*next_raw)(void* state);

  /// `Generator.random()`.
  [[nodiscard]] auto random() -> double { return next_double(state); }

  /// `Generator.uniform(low, high)`.
  [[nodiscard]] auto uniform(double low, double high) -> double {
    const double range = high - low;
    return low + range * next_double(state);
  }

  /// `Generator.integers(count)`, which also chooses an item in `Generator.choice`.
  /// Lemire's method, as NumPy has it for ranges of less than 2^32. Requires: above 1.
  [[nodiscard]] auto below(std::uint32_t count) -> std::uint32_t {
    std::uint64_t product = std::uint64_t{next_uint32(state)} * count;
    auto left = static_cast<std::uint32_t>(product);
    if (left < count) {
      const std::uint32_t threshold = (UINT32_MAX - (count - 1)) % count;
      while (left < threshold) {
        product = std::uint64_t{next_uint32(state)} * count;
        left = static_cast<std::uint32_t>(product);
      }
    }
    return static_cast<std::uint32_t>(product >> 32U);
  }
};

}  // namespace reactorl::native
