// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "arithmetic.hpp"
#include "bit_generator.hpp"
#include "body.hpp"

namespace reactorl::native {

/// Gymnasium's `PendulumEnv`. The torque is a float32 in sums of float64.
struct Pendulum {
  using Action = float;
  static constexpr std::size_t kNumbers = 10;
  static constexpr std::size_t kNanoseconds = 84;
  static constexpr bool kResets = true;

  double theta, theta_dot;
  double last_torque, has_torque;
  double dt, max_speed, max_torque;
  double swing;  // angular acceleration by gravity, without the sine
  float push;    // and by a unit of torque
  double sine, cosine;

  void put(const double* n) {
    theta = n[0], theta_dot = n[1], last_torque = n[2], has_torque = n[3];
    const double g = n[4], m = n[5], l = n[6];
    dt = n[7], max_speed = n[8], max_torque = n[9];
    swing = 3 * g / (2 * l);
    push = static_cast<float>(3.0 / (m * squared(l)));
    look();
  }
  void get(double* n) const {
    n[0] = theta, n[1] = theta_dot, n[2] = last_torque, n[3] = has_torque;
  }

  [[nodiscard]] auto step(Action action, BitGenerator& /*unused*/, Outcome& out) -> bool {
    if (std::isnan(action)) return false;
    const auto limit = static_cast<float>(max_torque);
    const float u = clip(action, -limit, limit);
    const double angle = floor_mod(theta + kPi, 2 * kPi) - kPi;
    const double costs = squared(angle) + 0.1 * squared(theta_dot) +
                         static_cast<double>(0.001F * squared(u));
    const double speed = theta_dot + (swing * sine + static_cast<double>(push * u)) * dt;
    theta_dot = clip(speed, -max_speed, max_speed);
    theta = theta + theta_dot * dt;
    look();
    last_torque = static_cast<double>(u);
    has_torque = 1;
    out.reward = -costs;
    return true;
  }

  void reset(BitGenerator& random) {
    theta = random.uniform(-kPi, kPi);
    theta_dot = random.uniform(-1.0, 1.0);
    last_torque = has_torque = 0;
    look();
  }

  void observe(const Columns& to, std::size_t row) const {
    float* const out = to.floats(row, 3);
    out[0] = static_cast<float>(cosine);
    out[1] = static_cast<float>(sine);
    out[2] = static_cast<float>(theta_dot);
  }

 private:
  /// Both the observation and the next step need them.
  void look() {
    cosine = std::cos(theta);
    sine = std::sin(theta);
  }
};

}  // namespace reactorl::native
