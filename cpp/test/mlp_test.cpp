// SPDX-License-Identifier: Apache-2.0
// Layers: the bits of a row depend neither on its batch nor on the instructions.
#include "rl/native/mlp.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "check.hpp"

using namespace reactorl::native;

namespace {

/// Numbers between -1 and 1, the same ones in each run.
auto numbers(std::size_t count, std::uint64_t seed) -> std::vector<float> {
  std::vector<float> found(count);
  for (float& each : found) {
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    each = static_cast<float>(seed >> 40U) / 8388608.0F - 1.0F;
  }
  return found;
}

struct Network {
  std::vector<std::vector<float>> arrays;
  Mlp layers;

  Network(const std::vector<std::size_t>& sizes, Activation hidden) {
    for (std::size_t k = 0; k + 1 < sizes.size(); ++k) {
      arrays.push_back(numbers(sizes[k] * sizes[k + 1], k + 1));
      arrays.push_back(numbers(sizes[k + 1], k + 100));
    }
    for (std::size_t k = 0; k + 1 < sizes.size(); ++k) {
      const bool last = k + 2 == sizes.size();
      layers.add(arrays[2 * k].data(), arrays[2 * k + 1].data(), sizes[k], sizes[k + 1],
                 last ? Activation::kNone : hidden);
    }
  }

  auto operator()(const std::vector<float>& rows, std::size_t count, Apply how)
      -> std::vector<float> {
    std::vector<float> out(count * layers.outputs());
    layers.apply(rows.data(), count, out.data(), how);
    return out;
  }
};

auto same(const std::vector<float>& a, const std::vector<float>& b) -> bool {
  return a.size() == b.size() &&
         std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

}  // namespace

TEST(bits_do_not_depend_on_instructions_or_batches) {
  for (const Activation hidden :
       {Activation::kNone, Activation::kRelu, Activation::kTanh}) {
    for (const std::vector<std::size_t>& sizes :
         {std::vector<std::size_t>{4, 64, 64, 2}, {1, 1}, {3, 17, 9}, {37, 8, 24, 5}}) {
      Network network(sizes, hidden);
      constexpr std::size_t kRows = 71;
      const std::vector<float> rows = numbers(kRows * sizes[0], 7);
      const std::vector<float> whole = network(rows, kRows, &apply_plain);
      CHECK(same(whole, network(rows, kRows, fastest_apply())));
      for (std::size_t size = 1; size <= 9; ++size) {
        std::vector<float> parts;
        for (std::size_t first = 0; first < kRows; first += size) {
          const std::size_t some = std::min(size, kRows - first);
          const auto from = rows.begin() + static_cast<std::ptrdiff_t>(first * sizes[0]);
          const std::vector<float> part(
              from, from + static_cast<std::ptrdiff_t>(some * sizes[0]));
          for (const float each : network(part, some, fastest_apply())) {
            parts.push_back(each);
          }
        }
        CHECK(same(whole, parts));
      }
    }
  }
}

TEST(sums_are_rounded_in_the_order_of_the_inputs) {
  Network network({5, 3}, Activation::kNone);
  const std::vector<float> row = numbers(5, 9);
  const std::vector<float> found = network(row, 1, fastest_apply());
  for (std::size_t k = 0; k < 3; ++k) {
    volatile float sum = network.arrays[1][k];
    for (std::size_t i = 0; i < 5; ++i) {
      volatile const float product = row[i] * network.arrays[0][i * 3 + k];
      sum = sum + product;
    }
    CHECK(found[k] == sum);
  }
}

TEST(tanh_has_its_limits) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float x : {infinity, 9.5F, 1e30F}) {
    float above = x;
    float below = -x;
    tanh_of(above);
    tanh_of(below);
    CHECK(above == 1.0F);
    CHECK(below == -1.0F);
  }
  float nan = std::numeric_limits<float>::quiet_NaN();
  tanh_of(nan);
  CHECK(std::isnan(nan));
  for (float x = -10; x < 10; x += 0.001F) {
    float found = x;
    tanh_of(found);
    CHECK(std::abs(found - std::tanh(static_cast<double>(x))) < 4e-7);
  }
}
