// SPDX-License-Identifier: Apache-2.0
// Compiled without exceptions: with them, `pthread_cleanup_push` is a destructor, which
// is what cannot run here (see interpreter_exit.hpp).
#include "thread_exit.hpp"

#include <pthread.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif

namespace reactorl::bind {
namespace {

void sleep_for_ever(void* /*unused*/) {
  for (;;) pause();
}

}  // namespace

auto is_main_thread() noexcept -> bool {
#ifdef __linux__
  thread_local const bool found = syscall(SYS_gettid) == getpid();
  return found;
#else
  return false;
#endif
}

void call_or_sleep(void (*call)(void*), void* data) {
  pthread_cleanup_push(sleep_for_ever, nullptr);
  call(data);
  pthread_cleanup_pop(0);
}

}  // namespace reactorl::bind
