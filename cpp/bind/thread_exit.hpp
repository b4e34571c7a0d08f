// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace reactorl::bind {

/// Returns whether this is the main thread of the process, which nothing ends.
[[nodiscard]] auto is_main_thread() noexcept -> bool;

/// Calls `call(data)`; the thread sleeps for ever if `pthread_exit` is called inside.
///
/// Frames of C++ between here and there must need no clean-up.
void call_or_sleep(void (*call)(void*), void* data);

}  // namespace reactorl::bind
