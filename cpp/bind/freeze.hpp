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
  static PyObject* const name = PyUnicode_InternFromString("setflags");
  PyObject* args[] = {array, Py_False};  // write=False
  PyObject* done = PyObject_VectorcallMethod(name, args, 2, nullptr);
  if (done == nullptr) return false;
  Py_DECREF(done);
  return true;
}

/// Freezes a new reference and gives it up.
inline auto freeze_and_drop(PyObject* item, int depth) -> bool {
  if (item == nullptr) return false;
  const bool ok = freeze(item, depth);
  Py_DECREF(item);
  return ok;
}

/// `fields` is the class's `__dataclass_fields__`.
inline auto freeze_fields(PyObject* value, PyObject* fields, int depth) -> bool {
  PyObject* names = PySequence_List(fields);
  bool ok = names != nullptr;
  for (Py_ssize_t i = 0; ok && i < PyList_GET_SIZE(names) && i < kFreezeItems; ++i) {
    PyObject* item = PyObject_GetAttr(value, PyList_GET_ITEM(names, i));
    if (item == nullptr && PyErr_ExceptionMatches(PyExc_AttributeError) != 0) {
      PyErr_Clear();  // a field without a value, or no field but a class variable
      continue;
    }
    ok = freeze_and_drop(item, depth);
  }
  Py_XDECREF(names);
  return ok;
}

}  // namespace detail

/// Makes NumPy arrays read-only: `value` itself, or inside tuples (also named ones),
/// lists, dicts and dataclasses. What was sent must not be changed afterwards, and this
/// is how most changes are found. False with an exception set if NumPy refuses.
inline auto freeze(PyObject* value, int depth) -> bool {
  PyTypeObject* type = Py_TYPE(value);
  if (value == Py_None || type == &PyLong_Type || type == &PyFloat_Type ||
      type == &PyBool_Type || type == &PyUnicode_Type || depth == 0) {
    return true;
  }
  if (PyTuple_Check(value)) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(value) && i < kFreezeItems; ++i) {
      if (!freeze(PyTuple_GET_ITEM(value, i), depth - 1)) return false;
    }
    return true;
  }
  if (type == &PyList_Type) {
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(value) && i < kFreezeItems; ++i) {
      // Not borrowed: another thread may hold the list.
      if (!detail::freeze_and_drop(PySequence_GetItem(value, i), depth - 1)) return false;
    }
    return true;
  }
  if (type == &PyDict_Type) {
    // The list of values does not count as a level.
    return detail::freeze_and_drop(PyDict_Values(value), depth);
  }
  // By name, because NumPy may not even be imported.
  if (std::strcmp(type->tp_name, "numpy.ndarray") == 0) {
    return detail::freeze_array(value);
  }
  if ((type->tp_flags & Py_TPFLAGS_HEAPTYPE) == 0) return true;  // no Python class
  static PyObject* const name = PyUnicode_InternFromString("__dataclass_fields__");
  PyObject* fields = PyObject_GetAttr(reinterpret_cast<PyObject*>(type), name);
  if (fields == nullptr) {
    PyErr_Clear();
    return true;
  }
  const bool ok = detail::freeze_fields(value, fields, depth - 1);
  Py_DECREF(fields);
  return ok;
}

}  // namespace reactorl::bind
