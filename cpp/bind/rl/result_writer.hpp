// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <vector>

#include <nanobind/nanobind.h>

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <numpy/ndarraytypes.h>

namespace nb = nanobind;

namespace reactorl::bind {

/// Memory of an array that only one environment writes at a time.
class Row {
 public:
  explicit Row(const nb::object& array) : array_(array) {
    if (!nb::isinstance(array, nb::module_::import_("numpy").attr("ndarray"))) {
      throw std::invalid_argument("a result lands in an array");
    }
    constexpr int kFlags = NPY_ARRAY_CARRAY;  // contiguous, aligned, writable
    if ((PyArray_FLAGS(get()) & kFlags) != kFlags || descr()->byteorder == '>' ||
        std::strchr("biuf", descr()->kind) == nullptr) {
      throw std::invalid_argument("an array whose memory holds anything but its numbers");
    }
    size_ = nb::cast<std::size_t>(array.attr("nbytes"));
    is_whole_ = ndim() == 0 && descr()->type_num == NPY_INT64;
  }

  /// The only element. Requires: there is one, of this type.
  template <typename T>
  [[nodiscard]] auto element(NPY_TYPES type) const -> T* {
    if (descr()->type_num != type || size_ != sizeof(T)) {
      throw std::invalid_argument("an array that is no place for one such value");
    }
    return static_cast<T*>(PyArray_DATA(get()));
  }

  /// Whether `value` has the very form of this row, or is a whole number and so is that.
  [[nodiscard]] auto fits(PyObject* value) const -> bool {
    if (Py_TYPE(value) != Py_TYPE(array_.ptr())) return is_whole_ && is_small(value);
    auto* other = reinterpret_cast<PyArrayObject*>(value);
    return PyArray_DESCR(other) == descr() && PyArray_NDIM(other) == ndim() &&
           (PyArray_FLAGS(other) & NPY_ARRAY_C_CONTIGUOUS) != 0 &&
           std::memcmp(PyArray_DIMS(other), dims(),
                       static_cast<std::size_t>(ndim()) * sizeof(npy_intp)) == 0;
  }

  /// Requires: it fits.
  void put(PyObject* value) const {
    if (Py_TYPE(value) == Py_TYPE(array_.ptr())) {
      // An environment may return this very row.
      std::memmove(PyArray_DATA(get()),
                   PyArray_DATA(reinterpret_cast<PyArrayObject*>(value)), size_);
    } else {
      int overflow = 0;
      *static_cast<npy_int64*>(PyArray_DATA(get())) =
          PyLong_AsLongLongAndOverflow(value, &overflow);
    }
  }

 private:
  static auto is_small(PyObject* value) -> bool {
    if (!PyLong_CheckExact(value)) return false;
    int overflow = 0;
    PyLong_AsLongLongAndOverflow(value, &overflow);
    return overflow == 0;
  }
  [[nodiscard]] auto get() const -> PyArrayObject* {
    return reinterpret_cast<PyArrayObject*>(array_.ptr());
  }
  [[nodiscard]] auto descr() const -> PyArray_Descr* { return PyArray_DESCR(get()); }
  [[nodiscard]] auto ndim() const -> int { return PyArray_NDIM(get()); }
  [[nodiscard]] auto dims() const -> const npy_intp* { return PyArray_DIMS(get()); }

  nb::object array_;
  std::size_t size_ = 0;
  bool is_whole_ = false;
};

/// What became of a step.
enum Landed : int { kLeft = 0, kGoesOn = 1, kEnded = 2 };

/// Where the results of one environment land: it puts what most steps return where it
/// belongs, without Python code in between. What is anything else is left to
/// `reactorl.rl.envs.sub_env`, which knows it all.
class ResultWriter {
 public:
  ResultWriter(const nb::object& observation, const nb::object& reward,
               const nb::object& terminated, const nb::object& truncated, bool ends)
      : is_tuple_(PyTuple_Check(observation.ptr())),
        ends_(ends),
        places_{Row(reward), Row(terminated), Row(truncated)},
        reward_(places_[0].element<double>(NPY_DOUBLE)),
        terminated_(places_[1].element<npy_bool>(NPY_BOOL)),
        truncated_(places_[2].element<npy_bool>(NPY_BOOL)) {
    if (is_tuple_) {
      for (const nb::handle row : observation) rows_.emplace_back(nb::borrow(row));
    } else {
      rows_.emplace_back(observation);
    }
  }

  /// Puts everything where it belongs, or nothing at all.
  [[nodiscard]] auto take(PyObject* result) const -> Landed {
    if (!PyTuple_CheckExact(result) || PyTuple_GET_SIZE(result) != 5) return kLeft;
    PyObject* const observation = PyTuple_GET_ITEM(result, 0);
    PyObject* const reward = PyTuple_GET_ITEM(result, 1);
    PyObject* const terminated = PyTuple_GET_ITEM(result, 2);
    PyObject* const truncated = PyTuple_GET_ITEM(result, 3);
    PyObject* const info = PyTuple_GET_ITEM(result, 4);
    if (!PyBool_Check(terminated) || !PyBool_Check(truncated)) return kLeft;
    const bool ended = terminated == Py_True || truncated == Py_True;
    if (ended && !ends_) return kLeft;
    if (!PyDict_CheckExact(info) || PyDict_GET_SIZE(info) != 0) return kLeft;
    // NumPy's float64 is a float, too.
    if (!PyFloat_Check(reward) || !fits(observation)) return kLeft;
    put(observation);
    *reward_ = PyFloat_AS_DOUBLE(reward);
    *terminated_ = static_cast<npy_bool>(terminated == Py_True);
    *truncated_ = static_cast<npy_bool>(truncated == Py_True);
    return ended ? kEnded : kGoesOn;
  }

  /// Likewise for the observation that a reset returns.
  [[nodiscard]] auto take_first(PyObject* result) const -> bool {
    if (!PyTuple_CheckExact(result) || PyTuple_GET_SIZE(result) != 2) return false;
    PyObject* const observation = PyTuple_GET_ITEM(result, 0);
    PyObject* const info = PyTuple_GET_ITEM(result, 1);
    if (!PyDict_CheckExact(info) || PyDict_GET_SIZE(info) != 0) return false;
    if (!fits(observation)) return false;
    put(observation);
    return true;
  }

  /// No reward, and no end: what a reset shows in place of a step.
  void clear() const {
    *reward_ = 0;
    *terminated_ = 0;
    *truncated_ = 0;
  }

 private:
  static auto item(PyObject* tuple, std::size_t place) -> PyObject* {
    return PyTuple_GET_ITEM(tuple, static_cast<Py_ssize_t>(place));
  }
  [[nodiscard]] auto fits(PyObject* observation) const -> bool {
    if (!is_tuple_) return rows_[0].fits(observation);
    if (!PyTuple_CheckExact(observation)) return false;
    const Py_ssize_t size = PyTuple_GET_SIZE(observation);
    if (static_cast<std::size_t>(size) != rows_.size()) return false;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (!rows_[i].fits(item(observation, i))) return false;
    }
    return true;
  }

  void put(PyObject* observation) const {
    if (is_tuple_) {
      for (std::size_t i = 0; i < rows_.size(); ++i) rows_[i].put(item(observation, i));
    } else {
      rows_[0].put(observation);
    }
  }

  bool is_tuple_;
  bool ends_;
  std::vector<Row> rows_;
  std::vector<Row> places_;
  double* reward_;
  npy_bool* terminated_;
  npy_bool* truncated_;
};

}  // namespace reactorl::bind
