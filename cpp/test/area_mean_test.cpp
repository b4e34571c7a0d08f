// SPDX-License-Identifier: Apache-2.0
#include "rl/area_mean.hpp"

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "check.hpp"

using namespace reactorl;

namespace {

using Bytes = std::vector<std::uint8_t>;

auto noise(std::size_t size, std::uint64_t seed) -> Bytes {
  check::Dice dice(seed);
  Bytes found(size);
  for (std::uint8_t& byte : found) byte = static_cast<std::uint8_t>(dice.below(256));
  return found;
}

auto shrink(const Bytes& picture, AreaMean::Shape old, std::size_t height,
            std::size_t width) -> Bytes {
  Bytes result(height * width * old.channels, 0xAA);
  AreaMean(old, height, width)(picture.data(), result.data());
  return result;
}

/// How much of an old pixel lies in a new one, if an old one is `new_length` long.
auto overlap(std::size_t old_index, std::size_t new_index, std::size_t length,
             std::size_t new_length) -> std::uint64_t {
  const std::size_t begin = std::max(old_index * new_length, new_index * length);
  const std::size_t end =
      std::min((old_index + 1) * new_length, (new_index + 1) * length);
  return end > begin ? end - begin : 0;
}

/// The same in integers alone, straight from the definition.
auto by_definition(const Bytes& picture, AreaMean::Shape old, std::size_t height,
                   std::size_t width) -> Bytes {
  const std::uint64_t total = std::uint64_t{old.height} * old.width;
  Bytes result;
  for (std::size_t y = 0; y < height; ++y) {
    for (std::size_t x = 0; x < width; ++x) {
      for (std::size_t channel = 0; channel < old.channels; ++channel) {
        std::uint64_t sum = 0;
        for (std::size_t row = 0; row < old.height; ++row) {
          const std::uint64_t units = overlap(row, y, old.height, height);
          if (units == 0) continue;
          for (std::size_t column = 0; column < old.width; ++column) {
            sum += units * overlap(column, x, old.width, width) *
                   picture[(row * old.width + column) * old.channels + channel];
          }
        }
        std::uint64_t mean = sum / total;
        const std::uint64_t twice = sum % total * 2;
        if (twice > total || (twice == total && mean % 2 == 1)) ++mean;
        result.push_back(static_cast<std::uint8_t>(mean));
      }
    }
  }
  return result;
}

}  // namespace

TEST(a_pixel_is_the_rounded_mean_of_its_area) {
  check::Dice dice(1);
  for (int round = 0; round < check::scaled(2000, 200); ++round) {
    const AreaMean::Shape old{1 + dice.below(40), 1 + dice.below(40), 1 + dice.below(4)};
    const std::size_t height = 1 + dice.below(old.height);
    const std::size_t width = 1 + dice.below(old.width);
    const Bytes picture = noise(old.height * old.width * old.channels, dice());

    CHECK_EQ(shrink(picture, old, height, width),
             by_definition(picture, old, height, width));
  }
}

TEST(ties_go_to_even) {
  const Bytes pairs{0, 1, 1, 2, 2, 3, 253, 254, 254, 255};

  CHECK_EQ(shrink(pairs, {1, 10, 1}, 1, 5), (Bytes{0, 2, 2, 254, 254}));
}

TEST(sums_have_room_for_white_whatever_the_shape) {
  // 257 units fit sums of 16 bits, 16,843,009 those of 32. All odd: no unit is longer
  // than half a pixel.
  for (const auto& [height, width] : {std::pair{1, 257}, std::pair{1, 259},
                                      std::pair{4103, 4105}, std::pair{4105, 4107}}) {
    const AreaMean::Shape old{static_cast<std::size_t>(height),
                              static_cast<std::size_t>(width), 1};
    const Bytes white(old.height * old.width, 255);
    const std::size_t new_height = std::min<std::size_t>(old.height, 2);
    CHECK_EQ(shrink(white, old, new_height, 2), Bytes(new_height * 2, 255));
  }
}

TEST(large_sums_are_exact) {
  const AreaMean::Shape old{4111, 4111, 1};
  const Bytes picture = noise(old.height * old.width, 2);

  CHECK_EQ(shrink(picture, old, 2, 2), by_definition(picture, old, 2, 2));
}

TEST(a_picture_of_the_same_size_is_the_same) {
  const Bytes picture = noise(21 * 16 * 3, 3);

  CHECK_EQ(shrink(picture, {21, 16, 3}, 21, 16), picture);
}

TEST(threads_share_one) {
  const AreaMean::Shape old{210, 160, 1};
  const AreaMean mean(old, 84, 84);
  std::vector<std::thread> threads;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    threads.emplace_back([&, seed] {
      const Bytes picture = noise(210 * 160, seed);
      const Bytes expected = shrink(picture, old, 84, 84);
      for (int round = 0; round < 20; ++round) {
        Bytes result(84 * 84);
        mean(picture.data(), result.data());
        CHECK(result == expected);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(pictures_are_not_made_larger) {
  for (const auto& [height, width] :
       {std::pair{21, 5}, std::pair{5, 21}, std::pair{0, 5}, std::pair{5, 0}}) {
    CHECK_THROWS(AreaMean({20, 20, 1}, static_cast<std::size_t>(height),
                          static_cast<std::size_t>(width)),
                 std::invalid_argument);
  }
}
