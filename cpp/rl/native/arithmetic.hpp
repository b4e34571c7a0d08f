// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

namespace reactorl::native {

// What Python and NumPy do with numbers. The results must have the same bits, so the
// order of operations is theirs, nothing is contracted (see CMakeLists.txt), and sines,
// cosines and powers are calls of the C library, as theirs are.

inline constexpr double kPi = 3.141592653589793;

/// `np.clip(x, low, high)` of a number.
template <typename T>
[[nodiscard]] auto clip(T x, T low, T high) -> T {
  const T raised = (std::isnan(x) || x > low) ? x : low;
  return (std::isnan(raised) || raised < high) ? raised : high;
}

/// Python's `min(max(x, low), high)`.
[[nodiscard]] inline auto bound(double x, double low, double high) -> double {
  const double raised = low > x ? low : x;
  return high < raised ? high : raised;
}

/// NumPy's `x % divisor`: the result has the sign of the divisor.
[[nodiscard]] inline auto floor_mod(double x, double divisor) -> double {
  if (x > 0 && x < divisor) return x;  // what `fmod` returns, in a tenth of its time
  double rest = std::fmod(x, divisor);
  if (rest == 0) return std::copysign(0.0, divisor);
  if ((divisor < 0) != (rest < 0)) rest += divisor;
  return rest;
}

/// `x ** 2` of a NumPy number, which is not always `x * x`.
[[nodiscard]] inline auto squared(double x) -> double { return std::pow(x, 2.0); }
[[nodiscard]] inline auto squared(float x) -> float { return powf(x, 2.0F); }

}  // namespace reactorl::native
