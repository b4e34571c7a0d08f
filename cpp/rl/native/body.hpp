// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace reactorl::native {

/// What a step gave, apart from the observation.
struct Outcome {
  double reward = 0;
  bool terminated = false;
};

/// Where observations are written: one array for each part of an observation, with a row
/// for each environment.
struct Columns {
  void* parts[3] = {nullptr, nullptr, nullptr};

  [[nodiscard]] auto floats(std::size_t row, std::size_t width) const -> float* {
    return static_cast<float*>(parts[0]) + row * width;
  }
  [[nodiscard]] auto integer(std::size_t part, std::size_t row) const -> std::int64_t& {
    return static_cast<std::int64_t*>(parts[part])[row];
  }
};

// A body is the state of one environment, with its parameters:
//
//   Action        std::int64_t, or float for a vector of one number
//   kNumbers      how many numbers its state and parameters are
//   kNanoseconds  about how long a step takes
//   kResets       whether resets are done here; if not, they are left to Python
//   put, get      import and export state and parameters, in the order of the Python side
//   step          false: this step is left to Python, and nothing has changed
//   reset         begins an episode, as `reset()` without seed and options
//   observe       writes the observation
//
// The Python side is in `reactorl.rl.envs.native`.

}  // namespace reactorl::native
