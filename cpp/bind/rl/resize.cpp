// SPDX-License-Identifier: Apache-2.0
// What `reactorl.rl` does with pictures. Registers and converts; decides nothing.
#include <cstddef>
#include <cstdint>
#include <new>
#include <stdexcept>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "rl/area_mean.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace reactorl::bind {
namespace {

using Picture = nb::ndarray<const std::uint8_t, nb::numpy, nb::c_contig, nb::device::cpu>;
using Result = nb::ndarray<std::uint8_t, nb::numpy, nb::c_contig, nb::device::cpu>;

void check_size(std::size_t size, const AreaMean::Shape& shape) {
  if (size != shape.height * shape.width * shape.channels) {
    throw std::invalid_argument("a picture has the wrong size");
  }
}

void shrink(const AreaMean& mean, const Picture& picture, const Result& result) {
  check_size(picture.size(), mean.old_shape());
  check_size(result.size(), mean.new_shape());
  const nb::gil_scoped_release release;
  mean(picture.data(), result.data());
}

}  // namespace
}  // namespace reactorl::bind

NB_MODULE(_resize, m) {
  using namespace reactorl;
  using namespace reactorl::bind;

  m.doc() = "Work on pictures. Use `reactorl.rl.wrappers.resize`.";

  nb::class_<AreaMean>(m, "AreaMean", "Shrinks pictures of one shape by area.")
      .def(
          "__init__",
          [](AreaMean* self, std::size_t height, std::size_t width, std::size_t channels,
             std::size_t new_height, std::size_t new_width) {
            new (self) AreaMean({height, width, channels}, new_height, new_width);
          },
          nb::kw_only(), "height"_a, "width"_a, "channels"_a, "new_height"_a,
          "new_width"_a)
      .def("__call__", &shrink, "picture"_a.noconvert(), "result"_a.noconvert(),
           "Write a picture in its new size into the result.");
}
