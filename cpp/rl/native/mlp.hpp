// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace reactorl::native {

// Multilayer perceptrons of float32 numbers.
//
// An output is its bias plus the products of inputs and weights, added in the order of
// the inputs, each rounded once: the same operations for every row, wherever the row is
// in a batch, on every thread, and with every set of vector instructions, whose lanes are
// different outputs. So the bits do not depend on how rows are split into batches, nor on
// the machine (see `-ffp-contract=off` in CMakeLists.txt).

enum class Activation : std::uint8_t { kNone, kRelu, kTanh };

using Lanes = float __attribute__((vector_size(32)));
inline constexpr std::size_t kLanes = 8;
/// Rows that go through all layers before the next ones do.
inline constexpr std::size_t kBlock = 32;

/// The hyperbolic tangent in float32, with an error of at most 6 units in the last place.
/// A quotient of polynomials, fitted to the smallest relative error within +-9; beyond,
/// it is 1. The C library's would differ between its versions, and take ten times as
/// long.
template <typename Number>  // float, or Lanes
[[gnu::always_inline]] inline void tanh_of(Number& x) {
  const Number limit = Number{} + 9.0F;
  const Number one = Number{} + 1.0F;
  x = x > limit ? limit : x;  // a NaN stays one
  x = x < -limit ? -limit : x;
  const Number s = x * x;
  Number above = s * 3.68389351e-11F + 1.11326684e-07F;
  above = above * s + 4.22998600e-05F;
  above = above * s + 4.42696035e-03F;
  above = above * s + 1.40999680e-01F;
  above = above * s + 1.0F;
  Number below = s * 2.95677561e-09F + 2.60628612e-06F;
  below = below * s + 5.01028891e-04F;
  below = below * s + 2.92046319e-02F;
  below = below * s + 4.74333012e-01F;
  below = below * s + 1.0F;
  x = x * above / below;
  x = x > one ? one : x;
  x = x < -one ? -one : x;
}

/// A fully connected layer, in columns that fill all lanes.
struct Layer {
  const float* weights = nullptr;  // [input][width]
  const float* bias = nullptr;     // [width]
  std::size_t inputs = 0;
  std::size_t outputs = 0;
  std::size_t width = 0;  // outputs, and zeros to fill the lanes
  Activation activation = Activation::kNone;
};

/// Computes `Rows` rows and `Groups` times 8 columns of a layer.
template <std::size_t Rows, std::size_t Groups>
[[gnu::always_inline]] inline void tile(const Layer& layer, const float* in,
                                        std::size_t in_stride, float* out,
                                        std::size_t out_stride, std::size_t column) {
  Lanes sums[Rows][Groups];
  for (std::size_t g = 0; g < Groups; ++g) {
    Lanes bias;
    std::memcpy(&bias, layer.bias + column + g * kLanes, sizeof bias);
    for (std::size_t r = 0; r < Rows; ++r) sums[r][g] = bias;
  }
  const float* weights = layer.weights + column;
  for (std::size_t i = 0; i < layer.inputs; ++i, weights += layer.width) {
    Lanes w[Groups];
    std::memcpy(&w, weights, sizeof w);
    for (std::size_t r = 0; r < Rows; ++r) {
      const float x = in[r * in_stride + i];
      for (std::size_t g = 0; g < Groups; ++g) sums[r][g] += x * w[g];
    }
  }
  for (std::size_t r = 0; r < Rows; ++r) {
    for (std::size_t g = 0; g < Groups; ++g) {
      Lanes& found = sums[r][g];
      if (layer.activation == Activation::kTanh) tanh_of(found);
      if (layer.activation == Activation::kRelu)
        found = found < Lanes{} ? Lanes{} : found;
      std::memcpy(out + r * out_stride + column + g * kLanes, &found, sizeof found);
    }
  }
}

template <std::size_t Rows>
[[gnu::always_inline]] inline void row_tiles(const Layer& layer, const float* in,
                                             std::size_t in_stride, float* out,
                                             std::size_t out_stride) {
  std::size_t column = 0;
  for (; column + 2 * kLanes <= layer.width; column += 2 * kLanes) {
    tile<Rows, 2>(layer, in, in_stride, out, out_stride, column);
  }
  if (column < layer.width) tile<Rows, 1>(layer, in, in_stride, out, out_stride, column);
}

/// Computes a layer for some rows. `in` and `out` have a row every so many numbers.
[[gnu::always_inline]] inline void apply_any(const Layer& layer, const float* in,
                                             std::size_t in_stride, float* out,
                                             std::size_t out_stride, std::size_t rows) {
  for (; rows >= 4; rows -= 4, in += 4 * in_stride, out += 4 * out_stride) {
    row_tiles<4>(layer, in, in_stride, out, out_stride);
  }
  if (rows == 3) row_tiles<3>(layer, in, in_stride, out, out_stride);
  if (rows == 2) row_tiles<2>(layer, in, in_stride, out, out_stride);
  if (rows == 1) row_tiles<1>(layer, in, in_stride, out, out_stride);
}

inline void apply_plain(const Layer& layer, const float* in, std::size_t in_stride,
                        float* out, std::size_t out_stride, std::size_t rows) {
  apply_any(layer, in, in_stride, out, out_stride, rows);
}

#if defined(__x86_64__)
// Without fused multiply-add, which other machines do not have.
[[gnu::target("avx2")]] inline void apply_avx2(const Layer& layer, const float* in,
                                               std::size_t in_stride, float* out,
                                               std::size_t out_stride, std::size_t rows) {
  apply_any(layer, in, in_stride, out, out_stride, rows);
}
#endif

using Apply = void (*)(const Layer&, const float*, std::size_t, float*, std::size_t,
                       std::size_t);

/// The fastest way to compute a layer on this machine; all give the same bits.
[[nodiscard]] inline auto fastest_apply() -> Apply {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return &apply_avx2;
#endif
  return &apply_plain;
}

/// Layers, one after the other.
///
/// Thread safety: one thread at a time.
class Mlp {
 public:
  /// Adds a layer. Its arrays must outlive this, unless they had to be copied.
  void add(const float* weights, const float* bias, std::size_t inputs,
           std::size_t outputs, Activation activation) {
    if (inputs == 0 || outputs == 0 ||
        (!layers_.empty() && layers_.back().outputs != inputs)) {
      throw std::invalid_argument("the sizes of two layers do not fit");
    }
    const std::size_t width = (outputs + kLanes - 1) / kLanes * kLanes;
    if (width != outputs) {
      std::vector<float>& own = copies_.emplace_back((inputs + 1) * width, 0.0F);
      for (std::size_t i = 0; i < inputs; ++i) {
        std::copy_n(weights + i * outputs, outputs, own.data() + i * width);
      }
      std::copy_n(bias, outputs, own.data() + inputs * width);
      weights = own.data(), bias = own.data() + inputs * width;
    }
    layers_.push_back({weights, bias, inputs, outputs, width, activation});
    widest_ = std::max(widest_, width);
  }

  [[nodiscard]] auto inputs() const -> std::size_t { return layers_.front().inputs; }
  [[nodiscard]] auto outputs() const -> std::size_t { return layers_.back().outputs; }
  [[nodiscard]] auto is_empty() const -> bool { return layers_.empty(); }
  /// Number of products for a row.
  [[nodiscard]] auto products() const -> std::size_t {
    std::size_t found = 0;
    for (const Layer& layer : layers_) found += layer.inputs * layer.width;
    return found;
  }

  /// Computes rows that follow one another in memory.
  void apply(const float* rows, std::size_t count, float* out, Apply how) {
    for (auto& scratch : scratch_) scratch.resize(kBlock * widest_);
    for (std::size_t first = 0; first < count; first += kBlock) {
      const std::size_t some = std::min(kBlock, count - first);
      const float* in = rows + first * inputs();
      std::size_t stride = inputs();
      std::size_t turn = 0;
      for (const Layer& layer : layers_) {
        float* const to = scratch_[turn % 2].data();
        how(layer, in, stride, to, layer.width, some);
        in = to, stride = layer.width, ++turn;
      }
      for (std::size_t r = 0; r < some; ++r) {
        std::copy_n(in + r * stride, outputs(), out + (first + r) * outputs());
      }
    }
  }

 private:
  std::vector<Layer> layers_;
  std::vector<std::vector<float>> copies_;
  std::array<std::vector<float>, 2> scratch_;
  std::size_t widest_ = 0;
};

}  // namespace reactorl::native
