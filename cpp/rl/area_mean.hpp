// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <type_traits>
#include <vector>

namespace reactorl {

/// Makes pictures of one shape smaller: a new pixel is the mean of the area it covers.
///
/// Pixels at the edge of an area count by the part of them that it covers. These parts
/// are whole multiples of one unit, so all sums are exact; only the mean is rounded, ties
/// to even.
///
/// Thread safety: may be used by several threads at once.
class AreaMean {
 public:
  struct Shape {
    std::size_t height;
    std::size_t width;
    std::size_t channels;  // of a pixel, side by side in memory
  };

  AreaMean(Shape old, std::size_t height, std::size_t width)
      : old_(old), new_{height, width, old.channels} {
    if (height == 0 || height > old.height || width == 0 || width > old.width) {
      throw std::invalid_argument("a picture can only be made smaller");
    }
    rows_ = areas(old.height, height);
    columns_ = areas(old.width, width);
    total_ = std::uint64_t{old.height / std::gcd(old.height, height)} *
             std::uint64_t{old.width / std::gcd(old.width, width)};
  }

  [[nodiscard]] auto old_shape() const -> const Shape& { return old_; }
  [[nodiscard]] auto new_shape() const -> const Shape& { return new_; }

  /// Both are whole pictures, row by row.
  void operator()(const std::uint8_t* picture, std::uint8_t* result) const {
    if (fits<std::uint16_t>()) {
      shrink<std::uint16_t, float>(picture, result);
    } else if (fits<std::uint32_t>()) {
      shrink<std::uint32_t, double>(picture, result);
    } else {
      shrink<std::uint64_t, double>(picture, result);
    }
  }

 private:
  /// How many units of an old row or column belong to a new one.
  struct Share {
    std::size_t index;
    std::uint32_t units;
  };
  using Area = std::vector<Share>;

  /// Sums that are computed at once.
  template <class Sum>
  using Vector [[gnu::vector_size(16)]] = Sum;
  template <class Sum>
  static constexpr std::size_t kLanes = 16 / sizeof(Sum);

  static auto areas(std::size_t length, std::size_t new_length) -> std::vector<Area> {
    const std::size_t common = std::gcd(length, new_length);
    const std::size_t old_units = new_length / common;
    const std::size_t new_units = length / common;
    std::vector<Area> found(new_length);
    for (std::size_t i = 0; i < new_length; ++i) {
      const std::size_t end = (i + 1) * new_units;
      for (std::size_t at = i * new_units; at < end;) {
        const std::size_t index = at / old_units;
        const std::size_t next = std::min(end, (index + 1) * old_units);
        found[i].push_back({index, static_cast<std::uint32_t>(next - at)});
        at = next;
      }
    }
    return found;
  }

  template <std::unsigned_integral Sum>
  [[nodiscard]] auto fits() const -> bool {
    return total_ <= std::numeric_limits<Sum>::max() / 255;
  }

  /// Columns are summed as vectors of rows, so rows are turned over, a few at a time.
  template <std::unsigned_integral Sum, std::floating_point Quotient>
  void shrink(const std::uint8_t* picture, std::uint8_t* result) const {
    constexpr std::size_t kRows = kLanes<Sum>;
    const std::size_t row = old_.width * old_.channels;
    const std::size_t new_row = new_.width * new_.channels;
    std::vector<Sum> sums(kRows * row);
    std::vector<Sum> turned(kRows * row);
    std::vector<std::uint8_t> means(kRows * new_row);
    for (std::size_t first = 0; first < new_.height; first += kRows) {
      // Beyond the last row something is computed that nobody reads.
      const std::size_t rows = std::min(kRows, new_.height - first);
      for (std::size_t i = 0; i < rows; ++i) {
        sum_rows(picture, row, rows_[first + i], sums.data() + i * row);
      }
      turn(sums.data(), row, turned.data());
      sum_columns(turned.data(), sums.data());
      divide<Sum, Quotient>(sums.data(), kRows * new_row, means.data());
      for (std::size_t i = 0; i < rows; ++i) {
        std::uint8_t* const to = result + (first + i) * new_row;
        for (std::size_t at = 0; at < new_row; ++at) to[at] = means[at * kRows + i];
      }
    }
  }

  template <class Sum>
  static void sum_rows(const std::uint8_t* picture, std::size_t row, const Area& area,
                       Sum* sums) {
    std::fill_n(sums, row, Sum{0});
    // Up to three at a time, each number with a loop of its own: a plain loop over shares
    // writes sums more often, and gcc 12 does not vectorise it (it unrolls and jams it).
    const Share* share = area.data();
    for (std::size_t left = area.size(); left > 0;) {
      const std::size_t count = std::min<std::size_t>(left, 3);
      switch (count) {
        case 1: add_rows<1>(picture, row, share, sums); break;
        case 2: add_rows<2>(picture, row, share, sums); break;
        default: add_rows<3>(picture, row, share, sums);
      }
      share += count;
      left -= count;
    }
  }

  template <std::size_t kCount, class Sum>
  static void add_rows(const std::uint8_t* picture, std::size_t row, const Share* shares,
                       Sum* __restrict sums) {
    std::array<const std::uint8_t*, kCount> from;
    std::array<Sum, kCount> units;
    for (std::size_t i = 0; i < kCount; ++i) {
      from[i] = picture + shares[i].index * row;
      units[i] = static_cast<Sum>(shares[i].units);
    }
    for (std::size_t at = 0; at < row; ++at) {
      Sum sum = sums[at];
      for (std::size_t i = 0; i < kCount; ++i) {
        sum = static_cast<Sum>(sum + units[i] * from[i][at]);
      }
      sums[at] = sum;
    }
  }

  template <class Sum>
  static void turn(const Sum* __restrict rows, std::size_t row, Sum* __restrict turned) {
    for (std::size_t at = 0; at < row; ++at) {
      for (std::size_t i = 0; i < kLanes<Sum>; ++i) {
        turned[at * kLanes<Sum> + i] = rows[i * row + at];
      }
    }
  }

  template <class Sum>
  void sum_columns(const Sum* turned, Sum* sums) const {
    for (const Area& area : columns_) {
      for (std::size_t channel = 0; channel < old_.channels; ++channel) {
        Vector<Sum> sum{};
        for (const Share& share : area) {
          const std::size_t from = share.index * old_.channels + channel;
          Vector<Sum> rows;
          std::memcpy(&rows, turned + from * kLanes<Sum>, sizeof rows);
          sum += rows * static_cast<Sum>(share.units);
        }
        std::memcpy(sums, &sum, sizeof sum);
        sums += kLanes<Sum>;
      }
    }
  }

  template <class Sum, class Quotient>
  void divide(const Sum* __restrict sums, std::size_t count,
              std::uint8_t* __restrict means) const {
    const auto total = static_cast<Quotient>(total_);
    for (std::size_t i = 0; i < count; ++i) {
      means[i] = rounded(static_cast<Quotient>(sums[i]) / total);
    }
  }

  /// Ties go to even. A number this large has no binary places, so the addition rounds,
  /// and the result ends the sum's mantissa; unlike std::rint, vectors can do that.
  template <class Quotient>
  static auto rounded(Quotient mean) -> std::uint8_t {
    using Bits = std::conditional_t<sizeof(Quotient) == 4, std::uint32_t, std::uint64_t>;
    constexpr auto kWhole =
        static_cast<Quotient>(Bits{1} << (std::numeric_limits<Quotient>::digits - 1));
    return static_cast<std::uint8_t>(std::bit_cast<Bits>(mean + kWhole));
  }

  Shape old_;
  Shape new_;
  std::vector<Area> rows_;
  std::vector<Area> columns_;
  std::uint64_t total_ = 0;  // units in an area
};

}  // namespace reactorl
