// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>
#include <cstring>

namespace reactorl::bind {

/// How deep and how wide containers are searched for arrays.
inline constexpr int kFreezeDepth = 4;
inline constexpr Py_ssize_t kFreezeItems = 256;

inline auto freeze(PyObject* value, int depth = kFreezeDepth) -> bool;

namespace detail {

inline auto freeze_array(PyObject* array) -> bool {
  PyObject* done = PyObject_CallMethod(array, "setflags", "O", Py_False);
  if (done == nullptr) return false;
  Py_DECREF(done);
  return true;
}

}  // namespace detail

/// Makes NumPy arrays read-only: `value` itself, or inside tuples, lists and dicts. What
/// was sent must not be changed afterwards, and this is how most changes are found.
/// False with an exception set if NumPy refuses.
inline auto freeze(PyObject* value, int depth) -> bool {
  PyTypeObject* type = Py_TYPE(value);
  if (value == Py_None || type == &PyLong_Type || type == &PyFloat_Type ||
      type == &PyBool_Type || type == &PyUnicode_Type || depth == 0) {
    return true;
  }
  if (type == &PyTuple_Type) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(value) && i < kFreezeItems; ++i) {
      if (!freeze(PyTuple_GET_ITEM(value, i), depth - 1)) return false;
    }
    return true;
  }
  if (type == &PyList_Type) {
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(value) && i < kFreezeItems; ++i) {
      PyObject* item = PySequence_GetItem(value, i);
      if (item == nullptr) return false;
      const bool ok = freeze(item, depth - 1);
      Py_DECREF(item);
      if (!ok) return false;
    }
    return true;
  }
  if (type == &PyDict_Type) {
    // A copy of the values: somebody else may hold the dict.
    PyObject* values = PyDict_Values(value);
    if (values == nullptr) return false;
    const bool ok = freeze(values, depth);  // the list does not count as a level
    Py_DECREF(values);
    return ok;
  }
  // By name, because NumPy may not even be imported.
  if (std::strcmp(type->tp_name, "numpy.ndarray") == 0) {
    return detail::freeze_array(value);
  }
  return true;
}

}  // namespace reactorl::bind
