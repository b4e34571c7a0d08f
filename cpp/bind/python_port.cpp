// SPDX-License-Identifier: Apache-2.0
#include "python_port.hpp"

namespace reactorl::bind {
namespace {

/// A new tuple (kind, final, peer, time, microstep, index, time, microstep, key, value,
/// promise), the promise being None or (time, microstep, time, microstep); null with an
/// exception set if there is no memory.
auto as_tuple(const Message& m) -> PyObject* {
  auto* value = static_cast<PyObject*>(m.value.get());
  PyObject* promise = nullptr;
  if (m.promise) {
    promise = Py_BuildValue(
        "(LILI)", static_cast<long long>(m.promise->low.time), m.promise->low.microstep,
        static_cast<long long>(m.promise->next.time), m.promise->next.microstep);
    if (promise == nullptr) return nullptr;
  } else {
    promise = Py_NewRef(Py_None);
  }
  return Py_BuildValue("(iOILIILIKON)", static_cast<int>(m.kind),
                       m.final ? Py_True : Py_False, m.peer,
                       static_cast<long long>(m.tag.time), m.tag.microstep, m.index,
                       static_cast<long long>(m.at.time), m.at.microstep,
                       static_cast<unsigned long long>(m.key),
                       value == nullptr ? Py_None : value, promise);
}

auto as_tuple(const std::vector<std::uint64_t>& counts) -> PyObject* {
  PyObject* tuple = PyTuple_New(static_cast<Py_ssize_t>(counts.size()));
  if (tuple == nullptr) return nullptr;
  Py_ssize_t i = 0;
  for (const std::uint64_t count : counts) {
    PyObject* number = PyLong_FromUnsignedLongLong(count);
    if (number == nullptr) {
      Py_DECREF(tuple);
      return nullptr;
    }
    PyTuple_SET_ITEM(tuple, i++, number);
  }
  return tuple;
}

}  // namespace

void PythonPort::call(PyObject* function, PyObject* argument) noexcept {
  PyObject* result =
      argument == nullptr ? nullptr : PyObject_CallOneArg(function, argument);
  Py_XDECREF(argument);
  if (result == nullptr) host_.end_by_exception();
  Py_XDECREF(result);
}

void PythonPort::say(std::vector<Message>& messages) noexcept {
  PyObject* list = PyList_New(0);
  for (const Message& message : messages) {
    if (list == nullptr) break;
    PyObject* tuple = as_tuple(message);
    if (tuple == nullptr || PyList_Append(list, tuple) < 0) Py_CLEAR(list);
    Py_XDECREF(tuple);
  }
  call(say_, list);
}

void PythonPort::wait(const Report& report) noexcept {
  PyObject* sent = as_tuple(report.sent);
  PyObject* received = as_tuple(report.received);
  PyObject* argument = nullptr;
  if (sent != nullptr && received != nullptr) {
    argument =
        Py_BuildValue("(LILILILIOKOO)", static_cast<long long>(report.next.time),
                      report.next.microstep, static_cast<long long>(report.bound.time),
                      report.bound.microstep, static_cast<long long>(report.done.time),
                      report.done.microstep, static_cast<long long>(report.horizon.time),
                      report.horizon.microstep, report.inside ? Py_True : Py_False,
                      static_cast<unsigned long long>(report.taken), sent, received);
  }
  Py_XDECREF(sent);
  Py_XDECREF(received);
  call(wait_, argument);
}

void PythonPort::clear() {
  Py_CLEAR(say_);
  Py_CLEAR(wait_);
}

}  // namespace reactorl::bind
