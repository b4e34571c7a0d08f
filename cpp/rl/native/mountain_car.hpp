// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "arithmetic.hpp"
#include "bit_generator.hpp"
#include "body.hpp"

namespace reactorl::native {

/// Gymnasium's `MountainCarEnv`.
struct MountainCar {
  using Action = std::int64_t;
  static constexpr std::size_t kNumbers = 11;
  static constexpr std::size_t kNanoseconds = 24;
  static constexpr bool kResets = true;

  double position, velocity;
  double has_stepped;  // then the state is a tuple, not an array
  double has_hit;      // the left wall, in the last step: the velocity is the integer 0
  double min_position, max_position, max_speed, goal_position, goal_velocity;
  double force, gravity;

  void put(const double* n) {
    position = n[0], velocity = n[1], has_stepped = n[2], has_hit = n[3];
    min_position = n[4], max_position = n[5], max_speed = n[6];
    goal_position = n[7], goal_velocity = n[8], force = n[9], gravity = n[10];
  }
  void get(double* n) const {
    n[0] = position, n[1] = velocity, n[2] = has_stepped, n[3] = has_hit;
  }

  [[nodiscard]] auto step(Action action, BitGenerator& /*unused*/, Outcome& out) -> bool {
    if (action < 0 || action > 2) return false;
    velocity +=
        static_cast<double>(action - 1) * force + std::cos(3 * position) * (-gravity);
    velocity = clip(velocity, -max_speed, max_speed);
    position += velocity;
    position = clip(position, min_position, max_position);
    has_hit = position == min_position && velocity < 0 ? 1 : 0;
    if (has_hit != 0) velocity = 0;
    has_stepped = 1;
    out.terminated = position >= goal_position && velocity >= goal_velocity;
    out.reward = -1.0;
    return true;
  }

  void reset(BitGenerator& random) {
    position = random.uniform(-0.6, -0.4);
    velocity = 0;
    has_stepped = has_hit = 0;
  }

  void observe(const Columns& to, std::size_t row) const {
    float* const out = to.floats(row, 2);
    out[0] = static_cast<float>(position);
    out[1] = static_cast<float>(velocity);
  }
};

}  // namespace reactorl::native
