// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "arithmetic.hpp"
#include "bit_generator.hpp"
#include "body.hpp"

namespace reactorl::native {

/// Gymnasium's `AcrobotEnv`, integrated by the Runge-Kutta method of fourth order.
///
/// The first observation of an episode has sines of float32, which NumPy computes in its
/// own way: resets are left to Python.
struct Acrobot {
  using Action = std::int64_t;
  static constexpr std::size_t kNumbers = 20;
  static constexpr std::size_t kNanoseconds = 500;
  static constexpr bool kResets = false;

  std::array<double, 4> s;
  double has_stepped;  // then the state is float64
  double length_1, mass_1, mass_2, center_1, center_2, inertia;
  double max_speed_1, max_speed_2, dt, noise, by_book;
  std::array<double, 3> torques;
  double length_1_squared, center_1_squared, center_2_squared;

  void put(const double* n) {
    s = {n[0], n[1], n[2], n[3]};
    has_stepped = n[4];
    length_1 = n[5], mass_1 = n[6], mass_2 = n[7], center_1 = n[8], center_2 = n[9];
    inertia = n[10], max_speed_1 = n[11], max_speed_2 = n[12], dt = n[13];
    noise = n[14], by_book = n[15];
    torques = {n[16], n[17], n[18]};
    length_1_squared = squared(length_1);
    center_1_squared = squared(center_1);
    center_2_squared = squared(center_2);
  }
  void get(double* n) const {
    for (std::size_t i = 0; i < 4; ++i) n[i] = s[i];
    n[4] = has_stepped;
  }

  [[nodiscard]] auto step(Action action, BitGenerator& random, Outcome& out) -> bool {
    if (action < 0 || action > 2) return false;
    double torque = torques[static_cast<std::size_t>(action)];
    if (noise > 0) torque += random.uniform(-noise, noise);
    const State y{s[0], s[1], s[2], s[3], torque};
    const double half = dt / 2.0;
    const State k1 = derivative(y);
    const State k2 = derivative(moved(y, half, k1));
    const State k3 = derivative(moved(y, half, k2));
    const State k4 = derivative(moved(y, dt, k3));
    const double sixth = dt / 6.0;
    for (std::size_t i = 0; i < 4; ++i) {
      s[i] = y[i] + sixth * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]);
    }
    s[0] = wrap(s[0]);
    s[1] = wrap(s[1]);
    s[2] = bound(s[2], -max_speed_1, max_speed_1);
    s[3] = bound(s[3], -max_speed_2, max_speed_2);
    has_stepped = 1;
    out.terminated = -std::cos(s[0]) - std::cos(s[1] + s[0]) > 1.0;
    out.reward = out.terminated ? 0.0 : -1.0;
    return true;
  }

  void reset(BitGenerator& /*unused*/) {}

  void observe(const Columns& to, std::size_t row) const {
    float* const out = to.floats(row, 6);
    out[0] = static_cast<float>(std::cos(s[0]));
    out[1] = static_cast<float>(std::sin(s[0]));
    out[2] = static_cast<float>(std::cos(s[1]));
    out[3] = static_cast<float>(std::sin(s[1]));
    out[4] = static_cast<float>(s[2]);
    out[5] = static_cast<float>(s[3]);
  }

 private:
  using State = std::array<double, 5>;

  [[nodiscard]] static auto moved(const State& y, double by, const State& k) -> State {
    State found;
    for (std::size_t i = 0; i < 5; ++i) found[i] = y[i] + by * k[i];
    return found;
  }

  [[nodiscard]] static auto wrap(double x) -> double {
    constexpr double kWhole = kPi - -kPi;
    while (x > kPi) x = x - kWhole;
    while (x < -kPi) x = x + kWhole;
    return x;
  }

  [[nodiscard]] auto derivative(const State& y) const -> State {
    const double m1 = mass_1, m2 = mass_2, l1 = length_1, lc1 = center_1, lc2 = center_2;
    constexpr double kG = 9.8;
    const double theta1 = y[0], theta2 = y[1], dtheta1 = y[2], dtheta2 = y[3];
    const double a = y[4];
    const double cos2 = std::cos(theta2);
    const double sin2 = std::sin(theta2);
    const double d1 = m1 * center_1_squared +
                      m2 * (length_1_squared + center_2_squared + 2 * l1 * lc2 * cos2) +
                      inertia + inertia;
    const double d2 = m2 * (center_2_squared + l1 * lc2 * cos2) + inertia;
    const double phi2 = m2 * lc2 * kG * std::cos(theta1 + theta2 - kPi / 2.0);
    const double phi1 = -m2 * l1 * lc2 * squared(dtheta2) * sin2 -
                        2 * m2 * l1 * lc2 * dtheta2 * dtheta1 * sin2 +
                        (m1 * lc1 + m2 * l1) * kG * std::cos(theta1 - kPi / 2) + phi2;
    const double below = m2 * center_2_squared + inertia - squared(d2) / d1;
    double ddtheta2 = 0;
    if (by_book != 0) {
      ddtheta2 =
          (a + d2 / d1 * phi1 - m2 * l1 * lc2 * squared(dtheta1) * sin2 - phi2) / below;
    } else {
      ddtheta2 = (a + d2 / d1 * phi1 - phi2) / below;
    }
    const double ddtheta1 = -(d2 * ddtheta2 + phi1) / d1;
    return {dtheta1, dtheta2, ddtheta1, ddtheta2, 0.0};
  }
};

}  // namespace reactorl::native
