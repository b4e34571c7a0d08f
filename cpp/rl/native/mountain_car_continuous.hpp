// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "arithmetic.hpp"
#include "bit_generator.hpp"
#include "body.hpp"

namespace reactorl::native {

/// Gymnasium's `Continuous_MountainCarEnv`.
///
/// Its state is float64 after a reset, and float32 after a step. Python's numbers adapt
/// to NumPy's: a product of a float32 and a Python float is a float32. Some branches
/// replace a NumPy number by a Python float, which then compares in double precision.
struct MountainCarContinuous {
  using Action = float;
  static constexpr std::size_t kNumbers = 11;
  static constexpr std::size_t kNanoseconds = 33;
  static constexpr bool kResets = true;

  double position, velocity;
  double is_single;  // whether the state is float32
  double min_action, max_action, min_position, max_position, max_speed;
  double goal_position, goal_velocity, power;

  void put(const double* n) {
    position = n[0], velocity = n[1], is_single = n[2];
    min_action = n[3], max_action = n[4], min_position = n[5], max_position = n[6];
    max_speed = n[7], goal_position = n[8], goal_velocity = n[9], power = n[10];
  }
  void get(double* n) const { n[0] = position, n[1] = velocity, n[2] = is_single; }

  [[nodiscard]] auto step(Action action, BitGenerator& /*unused*/, Outcome& out) -> bool {
    if (std::isnan(action)) return false;
    if (is_single != 0) {
      move<float>(action, out);
    } else {
      move<double>(action, out);
    }
    return true;
  }

  void reset(BitGenerator& random) {
    position = random.uniform(-0.6, -0.4);
    velocity = 0;
    is_single = 0;
  }

  void observe(const Columns& to, std::size_t row) const {
    float* const out = to.floats(row, 2);
    out[0] = static_cast<float>(position);
    out[1] = static_cast<float>(velocity);
  }

 private:
  /// A number of NumPy, of type T, or a Python float that has replaced it.
  template <typename T>
  struct Number {
    double value;
    bool is_python = false;

    [[nodiscard]] auto is_above(double limit) const -> bool {
      return is_python ? value > limit : static_cast<T>(value) > static_cast<T>(limit);
    }
    [[nodiscard]] auto is_below(double limit) const -> bool {
      return is_python ? value < limit : static_cast<T>(value) < static_cast<T>(limit);
    }
    [[nodiscard]] auto reaches(double limit) const -> bool {
      return is_python ? value >= limit : static_cast<T>(value) >= static_cast<T>(limit);
    }
    [[nodiscard]] auto equals(double other) const -> bool {
      return is_python ? value == other : static_cast<T>(value) == static_cast<T>(other);
    }
  };

  template <typename T>
  void move(float action, Outcome& out) {
    const T slope = 3 * static_cast<T>(position);
    const double pull = 0.0025 * std::cos(static_cast<double>(slope));
    T speed = static_cast<T>(velocity);
    if (static_cast<float>(min_action) > action) {
      speed += static_cast<T>(min_action * power - pull);
    } else if (static_cast<float>(max_action) < action) {
      speed += static_cast<T>(max_action * power - pull);
    } else {
      const float push = action * static_cast<float>(power);
      speed += static_cast<T>(push - static_cast<float>(pull));
    }
    Number<T> v{static_cast<double>(speed)};
    if (v.is_above(max_speed)) v = {max_speed, true};
    if (v.is_below(-max_speed)) v = {-max_speed, true};
    const T place = static_cast<T>(position) + static_cast<T>(v.value);
    Number<T> p{static_cast<double>(place)};
    if (p.is_above(max_position)) p = {max_position, true};
    if (p.is_below(min_position)) p = {min_position, true};
    if (p.equals(min_position) && v.value < 0) v = {0, true};
    out.terminated = p.reaches(goal_position) && v.reaches(goal_velocity);
    out.reward = out.terminated ? 100.0 : 0.0;
    out.reward -= std::pow(static_cast<double>(action), 2.0) * 0.1;
    position = static_cast<double>(static_cast<float>(p.value));
    velocity = static_cast<double>(static_cast<float>(v.value));
    is_single = 1;
  }
};

}  // namespace reactorl::native
