// SPDX-License-Identifier: Apache-2.0
#include "native_types.hpp"

#include <cstring>
#include <limits>

namespace reactorl::bind {
namespace {

template <class Number>
auto read(const NativeValue& native) -> Number {
  Number number;
  std::memcpy(&number, native.data(), sizeof number);
  return number;
}

template <class Number>
auto pass(Number number, reactorl_type type, Value& out) -> bool {
  out = Value::adopt(NativeValue::make(type, &number));
  return true;
}

template <class Number>
auto pass_integer(PyObject* object, reactorl_type type, Value& out) -> bool {
  if (!PyLong_CheckExact(object)) return false;
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (overflow != 0 || number < std::numeric_limits<Number>::min() ||
      number > std::numeric_limits<Number>::max()) {
    return false;
  }
  return pass(static_cast<Number>(number), type, out);
}

auto pass_uint64(PyObject* object, reactorl_type type, Value& out) -> bool {
  if (!PyLong_CheckExact(object)) return false;
  const unsigned long long number = PyLong_AsUnsignedLongLong(object);
  if (number == static_cast<unsigned long long>(-1) && PyErr_Occurred() != nullptr) {
    return false;
  }
  return pass(static_cast<std::uint64_t>(number), type, out);
}

template <class Number>
auto pass_float(PyObject* object, reactorl_type type, Value& out) -> bool {
  if (!PyFloat_CheckExact(object)) return false;
  return pass(static_cast<Number>(PyFloat_AS_DOUBLE(object)), type, out);
}

auto pass_bytes(PyObject* object, reactorl_type type, Layout layout, Value& out) -> bool {
  PyObject* bytes = PyObject_CallOneArg(PyTuple_GET_ITEM(layout, 1), object);
  if (bytes == nullptr) return false;
  const bool fits = PyBytes_CheckExact(bytes) &&
                    static_cast<std::size_t>(PyBytes_GET_SIZE(bytes)) == size_of(type);
  if (fits) out = Value::adopt(NativeValue::make(type, PyBytes_AS_STRING(bytes)));
  Py_DECREF(bytes);
  return fits;
}

}  // namespace

auto to_python(const NativeValue& native, Layout layout) -> PyObject* {
  const reactorl_type type = native.type();
  if (!is_scalar(type)) {
    PyObject* bytes = PyBytes_FromStringAndSize(static_cast<const char*>(native.data()),
                                                static_cast<Py_ssize_t>(size_of(type)));
    if (bytes == nullptr) return nullptr;
    PyObject* object = PyObject_CallOneArg(PyTuple_GET_ITEM(layout, 0), bytes);
    Py_DECREF(bytes);
    return object;
  }
  switch (kind_of(type)) {
    case REACTORL_BOOL: return PyBool_FromLong(read<std::uint8_t>(native));
    case REACTORL_INT8: return PyLong_FromLong(read<std::int8_t>(native));
    case REACTORL_INT16: return PyLong_FromLong(read<std::int16_t>(native));
    case REACTORL_INT32: return PyLong_FromLong(read<std::int32_t>(native));
    case REACTORL_INT64: return PyLong_FromLongLong(read<std::int64_t>(native));
    case REACTORL_UINT8: return PyLong_FromLong(read<std::uint8_t>(native));
    case REACTORL_UINT16: return PyLong_FromLong(read<std::uint16_t>(native));
    case REACTORL_UINT32: return PyLong_FromLongLong(read<std::uint32_t>(native));
    case REACTORL_UINT64: return PyLong_FromUnsignedLongLong(read<std::uint64_t>(native));
    case REACTORL_FLOAT32: return PyFloat_FromDouble(read<float>(native));
    case REACTORL_FLOAT64: return PyFloat_FromDouble(read<double>(native));
    default: Py_RETURN_NONE;
  }
}

auto to_native(PyObject* object, reactorl_type type, Layout layout, Value& out) -> bool {
  if (!is_scalar(type)) return pass_bytes(object, type, layout, out);
  switch (kind_of(type)) {
    case REACTORL_BOOL:
      if (!PyBool_Check(object)) return false;
      return pass(static_cast<std::uint8_t>(object == Py_True ? 1 : 0), type, out);
    case REACTORL_INT8: return pass_integer<std::int8_t>(object, type, out);
    case REACTORL_INT16: return pass_integer<std::int16_t>(object, type, out);
    case REACTORL_INT32: return pass_integer<std::int32_t>(object, type, out);
    case REACTORL_INT64: return pass_integer<std::int64_t>(object, type, out);
    case REACTORL_UINT8: return pass_integer<std::uint8_t>(object, type, out);
    case REACTORL_UINT16: return pass_integer<std::uint16_t>(object, type, out);
    case REACTORL_UINT32: return pass_integer<std::uint32_t>(object, type, out);
    case REACTORL_UINT64: return pass_uint64(object, type, out);
    case REACTORL_FLOAT32: return pass_float<float>(object, type, out);
    case REACTORL_FLOAT64: return pass_float<double>(object, type, out);
    default: out = Value(); return object == Py_None;
  }
}

}  // namespace reactorl::bind
