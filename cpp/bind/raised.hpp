// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

namespace reactorl::bind {

/// The raised exception, as one object with its traceback; a new reference. Clears the
/// error.
inline auto take_exception() -> PyObject* {
#if PY_VERSION_HEX >= 0x030C0000
  return PyErr_GetRaisedException();
#else
  PyObject* type = nullptr;
  PyObject* value = nullptr;
  PyObject* traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  if (traceback != nullptr) PyException_SetTraceback(value, traceback);
  Py_XDECREF(type);
  Py_XDECREF(traceback);
  return value;
#endif
}

}  // namespace reactorl::bind
