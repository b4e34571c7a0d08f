// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>
#include <type_traits>
#include <utility>

#include "thread_exit.hpp"
#if defined(__GLIBCXX__) && PY_VERSION_HEX < 0x030E0000
#include <cxxabi.h>
#include <unistd.h>
#endif

namespace reactorl::bind {

[[nodiscard]] inline auto interpreter_is_ending() -> bool {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsFinalizing() != 0;
#else
  return _Py_IsFinalizing() != 0;
#endif
}

/// Returns `call()`, which enters the interpreter or runs Python code.
///
/// Before CPython 3.14 a daemon thread that asks for the GIL while the interpreter ends
/// is ended by `pthread_exit`, which unwinds the stack as an exception does. Unwinding
/// through the scheduler would run destructors without the GIL, or abort the process in
/// a `noexcept` function. The thread sleeps instead until the process ends, as it does
/// in later versions.
///
/// With libstdc++ that exception can be caught. With libc++, as in our wheels, it cannot
/// even pass: glibc unwinds with libgcc, whose frames the unwinder that is linked into
/// the extension does not understand. There the thread sleeps before the first frame
/// that has something to clean up; `call` itself must have nothing.
template <class Call>
auto survives_interpreter_exit(Call call) noexcept {
#if defined(__GLIBCXX__) && PY_VERSION_HEX < 0x030E0000
  try {
    return call();
  } catch (abi::__forced_unwind&) {
    for (;;) pause();
  }
#elif PY_VERSION_HEX < 0x030E0000
  using Result = decltype(call());
  if (is_main_thread()) return call();  // never ended, and spared the cost
  if constexpr (std::is_void_v<Result>) {
    call_or_sleep([](void* data) { (*static_cast<Call*>(data))(); }, &call);
  } else {
    std::pair<Call*, Result> both(&call, Result());
    call_or_sleep(
        [](void* data) {
          auto* found = static_cast<std::pair<Call*, Result>*>(data);
          found->second = (*found->first)();
        },
        &both);
    return both.second;
  }
#else
  return call();
#endif
}

}  // namespace reactorl::bind
