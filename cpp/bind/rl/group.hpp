// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <numpy/ndarraytypes.h>
#include <numpy/random/bitgen.h>

#include "rl/native/acrobot.hpp"
#include "rl/native/blackjack.hpp"
#include "rl/native/bodies.hpp"
#include "rl/native/cart_pole.hpp"
#include "rl/native/mountain_car.hpp"
#include "rl/native/mountain_car_continuous.hpp"
#include "rl/native/pendulum.hpp"
#include "rl/native/tabular.hpp"

namespace nb = nanobind;

namespace reactorl::bind {

using native::Autoreset;
using native::BitGenerator;
using native::Bodies;
using native::BodiesOf;
using native::Table;

static_assert(sizeof(BitGenerator) == sizeof(bitgen_t) &&
              offsetof(BitGenerator, next_uint32) == offsetof(bitgen_t, next_uint32) &&
              offsetof(BitGenerator, next_double) == offsetof(bitgen_t, next_double));

/// Work that is worth giving the interpreter to other threads.
constexpr std::size_t kDetachedNanoseconds = 5000;

/// Whether an object is an array, and not of a subclass.
inline auto is_array(nb::handle object) -> bool {
  static PyObject* const type =
      nb::object(nb::module_::import_("numpy").attr("ndarray")).release().ptr();
  return reinterpret_cast<PyObject*>(Py_TYPE(object.ptr())) == type;
}

/// Returns the memory of an array of this type and size, which has these flags.
template <typename T>
auto memory_with(nb::handle array, NPY_TYPES type, std::size_t size, int flags) -> T* {
  if (!is_array(array)) throw std::invalid_argument("an array is missing");
  auto* const found = reinterpret_cast<PyArrayObject*>(array.ptr());
  if ((PyArray_FLAGS(found) & flags) != flags || PyArray_DESCR(found)->type_num != type ||
      PyArray_DESCR(found)->byteorder == '>' ||
      nb::cast<std::size_t>(array.attr("size")) != size) {
    throw std::invalid_argument("an array has another form");
  }
  return static_cast<T*>(PyArray_DATA(found));
}

/// Returns the memory of an array of this type and size that may be written.
template <typename T>
auto memory(nb::handle array, NPY_TYPES type, std::size_t size) -> T* {
  return memory_with<T>(array, type, size, NPY_ARRAY_CARRAY);
}

/// Returns the memory of an array of this type and size.
template <typename T>
auto readable(nb::handle array, NPY_TYPES type, std::size_t size) -> const T* {
  return memory_with<T>(array, type, size, NPY_ARRAY_CARRAY_RO);
}

/// The bit generator of a `numpy.random.Generator`, drawn from without its lock.
inline auto bit_generator(nb::handle generator) -> BitGenerator* {
  const nb::object capsule = generator.attr("bit_generator").attr("capsule");
  void* const found = PyCapsule_GetPointer(capsule.ptr(), "BitGenerator");
  if (found == nullptr) throw nb::python_error();
  return static_cast<BitGenerator*>(found);
}

inline auto make_bodies(const std::string& kind, std::size_t count, Autoreset autoreset,
                        std::shared_ptr<Table> table) -> std::unique_ptr<Bodies> {
  const auto made = [&]<typename Body>() -> std::unique_ptr<Bodies> {
    return std::make_unique<BodiesOf<Body>>(count, autoreset, std::move(table));
  };
  if (kind == "CartPole") return made.operator()<native::CartPole>();
  if (kind == "MountainCar") return made.operator()<native::MountainCar>();
  if (kind == "MountainCarContinuous") {
    return made.operator()<native::MountainCarContinuous>();
  }
  if (kind == "Pendulum") return made.operator()<native::Pendulum>();
  if (kind == "Acrobot") return made.operator()<native::Acrobot>();
  if (kind == "Blackjack") return made.operator()<native::Blackjack>();
  if (kind == "Tabular" && table != nullptr) return made.operator()<native::Tabular>();
  throw std::invalid_argument("there is no native body " + kind);
}

/// Bodies, with the Python objects that they use.
class Group {
 public:
  Group(const std::string& kind, std::size_t count, int autoreset,
        std::shared_ptr<Table> table)
      : bodies_(make_bodies(kind, count, static_cast<Autoreset>(autoreset),
                            std::move(table))),
        generators_(count) {}

  void assign(const nb::tuple& observations, nb::handle rewards, nb::handle terminations,
              nb::handle truncations, const nb::tuple& last, nb::handle status,
              nb::handle transitions, std::size_t row) {
    const std::size_t rows = nb::len(rewards);
    const std::size_t count = bodies_->episodes.size();
    if (row + count > rows) throw std::invalid_argument("there are too few rows");
    native::Results& results = bodies_->results;
    results.observations = columns(observations, rows);
    results.rewards = memory<double>(rewards, NPY_DOUBLE, rows);
    results.terminations = memory<std::uint8_t>(terminations, NPY_BOOL, rows);
    results.truncations = memory<std::uint8_t>(truncations, NPY_BOOL, rows);
    results.last = columns(last, count);
    results.status = memory<std::uint8_t>(status, NPY_UINT8, count);
    results.transitions = memory<std::int32_t>(transitions, NPY_INT32, count);
    row_ = row;
    kept_ = nb::make_tuple(observations, rewards, terminations, truncations, last, status,
                           transitions);
  }

  /// Takes the state of an environment over; false: another one has its generator.
  [[nodiscard]] auto adopt(std::size_t at, nb::handle generator,
                           const std::vector<double>& numbers, std::int64_t elapsed,
                           std::int64_t limit, bool has_ended, std::uint64_t steps)
      -> bool {
    if (numbers.size() != bodies_->numbers() || kept_.is_none()) {
      throw std::invalid_argument("the state of an environment has another size");
    }
    BitGenerator* const random = bit_generator(generator);
    if (!used_.insert(random).second) return false;
    native::Episode& episode = bodies_->episodes.at(at);
    bodies_->put(at, numbers.data());
    episode = {true, has_ended, elapsed, limit, steps, random};
    generators_[at] = nb::borrow(generator);
    return true;
  }

  /// Returns the state of an environment, which is no longer here.
  [[nodiscard]] auto release(std::size_t at)
      -> std::tuple<std::vector<double>, std::int64_t, bool, std::uint64_t> {
    native::Episode& episode = bodies_->episodes.at(at);
    std::vector<double> numbers(bodies_->numbers());
    bodies_->get(at, numbers.data());
    episode.is_live = false;
    used_.erase(episode.random);
    generators_[at] = nb::object();
    return {std::move(numbers), episode.elapsed, episode.has_ended, episode.steps};
  }

  /// Whether actions have the form that bodies take.
  [[nodiscard]] auto fits(nb::handle actions, std::size_t first_action) const -> bool {
    if (!is_array(actions)) return false;
    auto* const array = reinterpret_cast<PyArrayObject*>(actions.ptr());
    constexpr int kFlags = NPY_ARRAY_CARRAY_RO;
    const bool floats = bodies_->acts_with_floats();
    return (PyArray_FLAGS(array) & kFlags) == kFlags &&
           PyArray_DESCR(array)->type_num == (floats ? NPY_FLOAT : NPY_INT64) &&
           PyArray_DESCR(array)->byteorder != '>' &&
           PyArray_NDIM(array) == (floats ? 2 : 1) &&
           (!floats || PyArray_DIMS(array)[1] == 1) &&
           static_cast<std::size_t>(PyArray_DIMS(array)[0]) >=
               first_action + bodies_->episodes.size();
  }

  /// Steps all, with their rows of `actions`. Returns None if the actions have another
  /// form; else how many steps are left to Python, and how many episodes ended.
  [[nodiscard]] auto step(nb::handle actions, std::size_t first_action)
      -> std::optional<std::pair<std::size_t, std::size_t>> {
    if (!fits(actions, first_action)) return std::nullopt;
    const std::size_t count = bodies_->episodes.size();
    const bool floats = bodies_->acts_with_floats();
    auto* const array = reinterpret_cast<PyArrayObject*>(actions.ptr());
    const char* const data = PyArray_BYTES(array) +
                             first_action * (floats ? sizeof(float) : sizeof(npy_int64));
    native::Rest rest;
    if (count * bodies_->nanoseconds() < kDetachedNanoseconds) {
      rest = bodies_->step(data, 0, count, row_);
    } else {
      const nb::gil_scoped_release detached;
      rest = bodies_->step(data, 0, count, row_);
    }
    return std::pair{rest.left, rest.ended};
  }

  /// Steps one; returns false if its action has another form.
  [[nodiscard]] auto step_one(std::size_t at, nb::handle action) -> bool {
    if (at >= bodies_->episodes.size()) throw std::out_of_range("no such environment");
    if (bodies_->acts_with_floats()) {
      if (!is_array(action)) return false;
      auto* const array = reinterpret_cast<PyArrayObject*>(action.ptr());
      if (PyArray_DESCR(array)->type_num != NPY_FLOAT || PyArray_NDIM(array) != 1 ||
          PyArray_DIMS(array)[0] != 1 ||
          (PyArray_FLAGS(array) & NPY_ARRAY_CARRAY_RO) != NPY_ARRAY_CARRAY_RO) {
        return false;
      }
      bodies_->step(PyArray_DATA(array), at, at + 1, row_);
      return true;
    }
    nb::object whole;
    if (PyLong_CheckExact(action.ptr())) {
      whole = nb::borrow(action);
    } else {
      static PyObject* const int64 =
          nb::object(nb::module_::import_("numpy").attr("int64")).release().ptr();
      if (reinterpret_cast<PyObject*>(Py_TYPE(action.ptr())) != int64) return false;
      whole = nb::steal(PyNumber_Index(action.ptr()));
    }
    int overflow = 0;
    const std::int64_t value = PyLong_AsLongLongAndOverflow(whole.ptr(), &overflow);
    if (overflow != 0) return false;
    bodies_->step(&value, at, at + 1, row_);
    return true;
  }

  [[nodiscard]] auto is_live(std::size_t at) const -> bool {
    return bodies_->episodes.at(at).is_live;
  }

  [[nodiscard]] auto bodies() -> Bodies& { return *bodies_; }
  [[nodiscard]] auto row() const -> std::size_t { return row_; }

 private:
  static auto columns(const nb::tuple& arrays, std::size_t rows) -> native::Columns {
    native::Columns found;
    std::size_t part = 0;
    for (const nb::handle array : arrays) {
      if (part == 3 || !is_array(array) || nb::len(array) != rows) {
        throw std::invalid_argument("an array for observations has another form");
      }
      const auto size = nb::cast<std::size_t>(array.attr("size"));
      const bool floats =
          PyArray_DESCR(reinterpret_cast<PyArrayObject*>(array.ptr()))->type_num ==
          NPY_FLOAT;
      found.parts[part++] =
          floats ? static_cast<void*>(memory<float>(array, NPY_FLOAT, size))
                 : static_cast<void*>(memory<std::int64_t>(array, NPY_INT64, rows));
    }
    return found;
  }

  std::unique_ptr<Bodies> bodies_;
  std::vector<nb::object> generators_;
  std::unordered_set<const BitGenerator*> used_;
  nb::object kept_ = nb::none();
  std::size_t row_ = 0;
};

}  // namespace reactorl::bind
