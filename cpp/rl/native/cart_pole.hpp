// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "arithmetic.hpp"
#include "bit_generator.hpp"
#include "body.hpp"

namespace reactorl::native {

/// Gymnasium's `CartPoleEnv`.
struct CartPole {
  using Action = std::int64_t;
  static constexpr std::size_t kNumbers = 16;
  static constexpr std::size_t kNanoseconds = 35;
  static constexpr bool kResets = true;

  double x, x_dot, theta, theta_dot;
  double steps_beyond;  // -1: None
  double sutton_barto;
  double gravity, pole_mass, total_mass, length, pole_mass_length, force_mag, tau;
  double euler;
  double theta_threshold, x_threshold;

  void put(const double* n) {
    x = n[0], x_dot = n[1], theta = n[2], theta_dot = n[3];
    steps_beyond = n[4], sutton_barto = n[5];
    gravity = n[6], pole_mass = n[7], total_mass = n[8], length = n[9];
    pole_mass_length = n[10], force_mag = n[11], tau = n[12], euler = n[13];
    theta_threshold = n[14], x_threshold = n[15];
  }
  void get(double* n) const {
    n[0] = x, n[1] = x_dot, n[2] = theta, n[3] = theta_dot, n[4] = steps_beyond;
  }

  [[nodiscard]] auto step(Action action, BitGenerator& /*unused*/, Outcome& out) -> bool {
    if (action < 0 || action > 1 || steps_beyond >= 0) return false;
    const double force = action == 1 ? force_mag : -force_mag;
    const double cosine = std::cos(theta);
    const double sine = std::sin(theta);
    const double temp =
        (force + pole_mass_length * (theta_dot * theta_dot) * sine) / total_mass;
    const double theta_acc =
        (gravity * sine - cosine * temp) /
        (length * (4.0 / 3.0 - pole_mass * (cosine * cosine) / total_mass));
    const double x_acc = temp - pole_mass_length * theta_acc * cosine / total_mass;
    if (euler != 0) {
      x = x + tau * x_dot;
      x_dot = x_dot + tau * x_acc;
      theta = theta + tau * theta_dot;
      theta_dot = theta_dot + tau * theta_acc;
    } else {
      x_dot = x_dot + tau * x_acc;
      x = x + tau * x_dot;
      theta_dot = theta_dot + tau * theta_acc;
      theta = theta + tau * theta_dot;
    }
    out.terminated = x < -x_threshold || x > x_threshold || theta < -theta_threshold ||
                     theta > theta_threshold;
    if (out.terminated) {
      steps_beyond = 0;
      out.reward = sutton_barto != 0 ? -1.0 : 1.0;
    } else {
      out.reward = sutton_barto != 0 ? 0.0 : 1.0;
    }
    return true;
  }

  void reset(BitGenerator& random) {
    x = random.uniform(-0.05, 0.05);
    x_dot = random.uniform(-0.05, 0.05);
    theta = random.uniform(-0.05, 0.05);
    theta_dot = random.uniform(-0.05, 0.05);
    steps_beyond = -1;
  }

  void observe(const Columns& to, std::size_t row) const {
    float* const out = to.floats(row, 4);
    out[0] = static_cast<float>(x);
    out[1] = static_cast<float>(x_dot);
    out[2] = static_cast<float>(theta);
    out[3] = static_cast<float>(theta_dot);
  }
};

}  // namespace reactorl::native
