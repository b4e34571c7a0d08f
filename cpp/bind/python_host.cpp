// SPDX-License-Identifier: Apache-2.0
#include "python_host.hpp"

#include <utility>

#include "raised.hpp"

namespace reactorl::bind {
namespace {

auto is_plain(PyObject* value) -> bool {
  PyTypeObject* type = Py_TYPE(value);
  return value == Py_None || type == &PyLong_Type || type == &PyFloat_Type ||
         type == &PyBool_Type || type == &PyUnicode_Type || type == &PyBytes_Type;
}

}  // namespace

auto PythonHost::invoke(ReactionId reaction, bool missed) noexcept -> bool {
  const Body& body = bodies[reaction];
  PyObject* function = missed ? body.handler : body.function;
  if (function == nullptr) return true;  // a missed deadline without a handler
  PyObject* args[2] = {nullptr, body.self};
  PyObject* result = PyObject_Vectorcall(function, args + 1,
                                         1 | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr);
  if (result != nullptr) {
    Py_DECREF(result);
    return true;
  }
  keep_failure(reaction);
  return false;
}

void PythonHost::keep_failure(ReactionId reaction) {
  const bool interrupt = PyErr_ExceptionMatches(PyExc_KeyboardInterrupt) != 0;
  PyObject* exception = take_exception();
  const std::lock_guard lock(mutex_);
  if (interrupt) {
    scheduler->break_off();
    if (interrupt_ == nullptr) {
      interrupt_ = exception;
      return;
    }
    Py_DECREF(exception);
    return;
  }
  // The scheduler's levels order failures as they order everything else.
  failures_.emplace(std::pair(scheduler->level(reaction), reaction), exception);
}

auto PythonHost::take_failure() -> std::pair<ReactionId, PyObject*> {
  const std::lock_guard lock(mutex_);
  if (interrupt_ != nullptr) return {kNone, std::exchange(interrupt_, nullptr)};
  if (failures_.empty()) return {kNone, nullptr};
  const auto first = failures_.begin();
  const std::pair<ReactionId, PyObject*> failure{first->first.second, first->second};
  failures_.erase(first);
  return failure;
}

auto PythonHost::late(ReactionId reaction, Time due) noexcept -> bool {
  const bool late = scheduler->clock().now() > due;
  if (late_hook == nullptr) return late;
  PyObject* answer =
      PyObject_CallFunction(late_hook, "IO", reaction, late ? Py_True : Py_False);
  if (answer == nullptr) {
    keep_failure(reaction);
    return late;
  }
  const bool result = answer == Py_True;
  Py_DECREF(answer);
  return result;
}

auto PythonHost::snapshot(const Value& value, const void* last) noexcept
    -> std::optional<Value> {
  auto* object = static_cast<PyObject*>(value.get());
  void* keep = object;  // a scalar itself, of anything else the type
  if (object != nullptr && !is_plain(object)) {
    keep = Py_TYPE(object);
    if (describe != nullptr) {
      PyObject* text = PyObject_CallOneArg(describe, object);
      if (text != nullptr) return described(text, last);
      PyErr_Clear();
    }
  }
  if (keep == last) return std::nullopt;  // neither counted nor kept once more
  return Value::share(keep);
}

auto PythonHost::described(PyObject* text, const void* last) noexcept
    -> std::optional<Value> {
  auto* before = static_cast<PyObject*>(const_cast<void*>(last));
  if (before != nullptr && PyTuple_CheckExact(before) &&
      PyUnicode_Compare(PyTuple_GET_ITEM(before, 0), text) == 0) {
    Py_DECREF(text);
    return std::nullopt;
  }
  PyObject* wrapped = PyTuple_Pack(1, text);  // told apart from a string value
  Py_DECREF(text);
  return Value::adopt(wrapped);
}

void PythonHost::delivered(TriggerId trigger, Tag tag, const Value& value) noexcept {
  if (deliver_hook == nullptr) return;
  auto* object = static_cast<PyObject*>(value.get());
  PyObject* result = PyObject_CallFunction(
      deliver_hook, "ILIO", trigger, static_cast<long long>(tag.time), tag.microstep,
      object == nullptr ? Py_None : object);
  if (result == nullptr) PyErr_WriteUnraisable(deliver_hook);
  Py_XDECREF(result);
}

void PythonHost::thread_begins(WorkerId worker) noexcept {
  threads_[worker].state = PyThreadState_New(PyInterpreterState_Main());
  threads_[worker].ident = PyThread_get_thread_ident();
#if defined(_POSIX_THREAD_CPUTIME) && _POSIX_THREAD_CPUTIME >= 0 && !defined(__APPLE__)
  clockid_t clock = 0;
  if (pthread_getcpuclockid(pthread_self(), &clock) == 0) threads_[worker].cpu.set(clock);
#endif
}

void PythonHost::thread_ends(WorkerId worker) noexcept {
  PyEval_RestoreThread(threads_[worker].state);
  PyThreadState_Clear(threads_[worker].state);
  PyThreadState_DeleteCurrent();
  threads_[worker].state = nullptr;
}

void PythonHost::enter(WorkerId worker) noexcept {
  PyEval_RestoreThread(threads_[worker].state);
}

void PythonHost::leave(WorkerId worker) noexcept {
  threads_[worker].state = PyEval_SaveThread();
}

auto PythonHost::poll() noexcept -> bool {
  if (PyErr_CheckSignals() == 0) return true;
  PyObject* exception = take_exception();
  const std::lock_guard lock(mutex_);
  Py_XDECREF(std::exchange(interrupt_, exception));
  return false;
}

void PythonHost::hurry() noexcept {
  // Python code in other threads ends at its next bytecode. Said again now and then,
  // in case a body swallowed it.
  if (hurries_++ % 16 != 0) return;
  for (std::size_t w = 1; w < threads_.size(); ++w) {
    if (threads_[w].state != nullptr) {
      PyThreadState_SetAsyncExc(threads_[w].ident, PyExc_KeyboardInterrupt);
    }
  }
}

void PythonHost::clear() {
  for (Body& body : bodies) {
    Py_CLEAR(body.function);
    Py_CLEAR(body.handler);
    Py_CLEAR(body.self);
  }
  bodies.clear();
  Py_CLEAR(refuse);
  Py_CLEAR(late_hook);
  Py_CLEAR(deliver_hook);
  Py_CLEAR(describe);
  Py_CLEAR(interrupt_);
  for (auto& failure : failures_) Py_DECREF(failure.second);
  failures_.clear();
}

}  // namespace reactorl::bind
