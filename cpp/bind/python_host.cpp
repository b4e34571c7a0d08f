// SPDX-License-Identifier: Apache-2.0
#include "python_host.hpp"

#include <utility>

#include "interpreter_exit.hpp"
#include "raised.hpp"

namespace reactorl::bind {
namespace {

auto is_plain(PyObject* value) -> bool {
  PyTypeObject* type = Py_TYPE(value);
  return value == Py_None || type == &PyLong_Type || type == &PyFloat_Type ||
         type == &PyBool_Type || type == &PyUnicode_Type || type == &PyBytes_Type;
}

}  // namespace

void raise_mismatch(PyObject* mismatch, const char* kind, std::uint32_t element,
                    PyObject* value) {
  PyErr_Clear();  // why a layout's function refused; the error says what is expected
  PyObject* error = PyObject_CallFunction(mismatch, "sIO", kind, element, value);
  if (error == nullptr) return;
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error)), error);
  Py_DECREF(error);
}

auto PythonHost::invoke(ReactionId reaction, bool missed) noexcept -> bool {
  const Body& body = bodies[reaction];
  PyObject* function = missed ? body.handler : body.function;
  if (function == nullptr) return true;  // a missed deadline without a handler
  PyObject* args[2] = {nullptr, body.self};
  PyObject* result = survives_interpreter_exit([&] {
    return PyObject_Vectorcall(function, args + 1, 1 | PY_VECTORCALL_ARGUMENTS_OFFSET,
                               nullptr);
  });
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
  PyObject* surplus = nullptr;
  if (interrupt) {
    surplus = keep_interrupt(exception);
    scheduler->break_off();
  } else {
    // The scheduler's levels order failures as they order everything else.
    const std::pair key(scheduler->level(reaction), reaction);
    const std::lock_guard lock(mutex_);
    if (!failures_.emplace(key, exception).second) surplus = exception;
  }
  // Released without the mutex: this frees frames, runs finalizers and may hand the GIL
  // to a thread that then waits for the mutex.
  Py_XDECREF(surplus);
}

void PythonHost::end_by_exception() noexcept {
  Py_XDECREF(keep_interrupt(take_exception()));
  scheduler->break_off();
}

auto PythonHost::keep_interrupt(PyObject* exception) -> PyObject* {
  const std::lock_guard lock(mutex_);
  if (interrupt_ != nullptr) return exception;
  interrupt_ = exception;
  return nullptr;
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

auto PythonHost::late(ReactionId reaction, Time due) noexcept -> Lateness {
  const bool late = scheduler->clock().now() > due;
  if (late_hook == nullptr) return late ? Lateness::kLate : Lateness::kOnTime;
  PyObject* answer = PyObject_CallFunction(late_hook, "IO", std::uint32_t{reaction},
                                           late ? Py_True : Py_False);
  if (answer == nullptr) {
    keep_failure(reaction);
    return Lateness::kFailed;
  }
  const bool result = answer == Py_True;
  Py_DECREF(answer);
  return result ? Lateness::kLate : Lateness::kOnTime;
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
  if (keep == last) return std::nullopt;  // the trace has it already
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
  PyObject* wrapped = PyTuple_Pack(1, text);  // distinguishes it from a string value
  Py_DECREF(text);
  return Value::adopt(wrapped);
}

auto PythonHost::read_clock(ReactionId reaction, Time now) noexcept
    -> std::optional<Time> {
  if (clock_hook == nullptr) return now;
  PyObject* answer = PyObject_CallFunction(clock_hook, "IL", std::uint32_t{reaction},
                                           static_cast<long long>(now));
  const Time time = answer == nullptr ? -1 : PyLong_AsLongLong(answer);
  Py_XDECREF(answer);
  if (time != -1 || PyErr_Occurred() == nullptr) return time;
  keep_failure(reaction);
  return std::nullopt;
}

auto PythonHost::as_object(const Value& value) const -> PyObject* {
  if (const NativeValue* native = value.native()) {
    return to_python(*native, layout(native->type()));
  }
  auto* object = static_cast<PyObject*>(value.get());
  return Py_NewRef(object == nullptr ? Py_None : object);
}

auto PythonHost::as_value(PyObject* object, reactorl_type type, const char* kind,
                          std::uint32_t element, Value& out) const -> bool {
  if (type == Plan::kUntyped) {
    out = Value::share(object);
    return true;
  }
  if (to_native(object, type, layout(type), out)) return true;
  raise_mismatch(mismatch, kind, element, object);
  return false;
}

auto PythonHost::as_kept(const NativeValue& native) const -> PyObject* {
  const Layout how = layout(native.type());
  if (how == nullptr) return to_python(native, nullptr);
  if (describe != nullptr) {
    PyObject* object = to_python(native, how);
    PyObject* text = object == nullptr ? nullptr : PyObject_CallOneArg(describe, object);
    Py_XDECREF(object);
    if (text == nullptr) return nullptr;
    PyObject* wrapped = PyTuple_Pack(1, text);
    Py_DECREF(text);
    return wrapped;
  }
  return Py_NewRef(PyTuple_GET_ITEM(how, 2));
}

void PythonHost::delivered(TriggerId trigger, Tag tag, const Value& value) noexcept {
  if (deliver_hook == nullptr) return;
  PyObject* object = as_object(value);
  PyObject* result = object == nullptr
                         ? nullptr
                         : PyObject_CallFunction(
                               deliver_hook, "ILIO", std::uint32_t{trigger},
                               static_cast<long long>(tag.time), tag.microstep, object);
  Py_XDECREF(object);
  if (result == nullptr) PyErr_WriteUnraisable(deliver_hook);
  Py_XDECREF(result);
}

void PythonHost::thread_begins(WorkerId worker) noexcept {
  threads_[worker].state = PyThreadState_New(PyInterpreterState_Main());
  threads_[worker].ident.set(PyThread_get_thread_ident());
#if defined(_POSIX_THREAD_CPUTIME) && _POSIX_THREAD_CPUTIME >= 0 && !defined(__APPLE__)
  clockid_t clock = 0;
  if (pthread_getcpuclockid(pthread_self(), &clock) == 0) threads_[worker].cpu.set(clock);
#endif
}

void PythonHost::thread_ends(WorkerId worker) noexcept {
  threads_[worker].ident.set(0);
  PyEval_RestoreThread(threads_[worker].state);
  PyThreadState_Clear(threads_[worker].state);
  PyThreadState_DeleteCurrent();
  threads_[worker].state = nullptr;
}

void PythonHost::enter(WorkerId worker) noexcept {
  survives_interpreter_exit([&] { PyEval_RestoreThread(threads_[worker].state); });
}

void PythonHost::leave(WorkerId worker) noexcept {
  threads_[worker].state = PyEval_SaveThread();
}

auto PythonHost::poll() noexcept -> bool {
  if (PyErr_CheckSignals() == 0) return true;
  // The first interrupt is the one that is raised. Released without the mutex.
  Py_XDECREF(keep_interrupt(take_exception()));
  return false;
}

void PythonHost::hurry() noexcept {
  // Python code in other threads ends at its next bytecode. Repeated now and then, in
  // case a body catches the exception and continues.
  if (hurries_++ % 16 != 0) return;
  for (std::size_t w = 1; w < threads_.size(); ++w) {
    const unsigned long ident = threads_[w].ident.get();
    if (ident != 0) PyThreadState_SetAsyncExc(ident, PyExc_KeyboardInterrupt);
  }
}

void PythonHost::clear() {
  for (Body& body : bodies) {
    Py_CLEAR(body.function);
    Py_CLEAR(body.handler);
    Py_CLEAR(body.self);
  }
  bodies.clear();
  for (PyObject*& layout : layouts) Py_CLEAR(layout);
  Py_CLEAR(mismatch);
  Py_CLEAR(clock_hook);
  Py_CLEAR(refuse);
  Py_CLEAR(late_hook);
  Py_CLEAR(deliver_hook);
  Py_CLEAR(describe);
  Py_CLEAR(interrupt_);
  for (auto& failure : failures_) Py_DECREF(failure.second);
  failures_.clear();
}

}  // namespace reactorl::bind
