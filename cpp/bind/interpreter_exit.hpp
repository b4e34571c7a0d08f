// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>
#include <utility>
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
template <class Call>
auto survives_interpreter_exit(Call call) noexcept {
#if defined(__GLIBCXX__) && PY_VERSION_HEX < 0x030E0000
  try {
    return call();
  } catch (abi::__forced_unwind&) {
    for (;;) pause();
  }
#else
  return call();
#endif
}

}  // namespace reactorl::bind
