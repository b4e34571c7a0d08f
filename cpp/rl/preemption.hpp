// SPDX-License-Identifier: Apache-2.0
// Pauses threads at arbitrary instructions, so that others run in between.
//
// A scheduler rarely takes a thread off its core within a short function, so a race in
// one shows up once in thousands of calls, and on a busy machine even less often. Here a
// timer interrupts each thread after some 10 microseconds. The handler of its signal does
// not return until the other threads have used some processor time, whatever the load of
// the machine.
#pragma once

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>

#if defined(__linux__)
#include <csignal>
#include <ctime>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace reactorl {

class Preemption {
 public:
  using Nanos = std::chrono::nanoseconds;
  // Asked in a signal handler on the thread itself.
  using MayPause = bool (*)(void* context);
  static constexpr std::size_t kMostThreads = 8;

  Preemption(Nanos period, Nanos progress, Nanos longest)
      : period_(period.count()), progress_(progress.count()), longest_(longest.count()) {}
  Preemption(const Preemption&) = delete;
  Preemption& operator=(const Preemption&) = delete;

  // Number of interruptions of a thread that was running.
  [[nodiscard]] std::uint64_t chances() const { return chances_; }
  // Number of those at which the thread was paused.
  [[nodiscard]] std::uint64_t pauses() const { return pauses_; }

#if defined(__linux__)
  static constexpr bool kWorks = true;

  // Lets the calling thread be paused, until it leaves.
  void enter(MayPause may_pause, void* context) {
    struct sigaction action{};
    action.sa_handler = &Preemption::handle;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(kSignal, &action, nullptr);

    Victim& mine = free_slot();
    mine.owner = this;
    mine.may_pause = may_pause;
    mine.context = context;
    pthread_getcpuclockid(pthread_self(), &mine.clock);
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = kSignal;
    event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
    if (timer_create(CLOCK_MONOTONIC, &event, &mine.timer) != 0) {
      mine.taken = false;
      throw std::runtime_error("timer_create failed");
    }
    mine.active = true;
    self_ = &mine;
    arm(mine);
  }

  void leave() {
    Victim* const mine = self_;
    if (mine == nullptr) {
      return;
    }
    timer_delete(mine->timer);
    self_ = nullptr;  // a signal on its way finds nothing to do
    mine->active = false;
    mine->taken = false;
  }

 private:
  // Ignored by default, and libraries expect it at any time.
  static constexpr int kSignal = SIGURG;

  struct Victim {
    Preemption* owner = nullptr;
    MayPause may_pause = nullptr;
    void* context = nullptr;
    clockid_t clock{};
    timer_t timer{};
    std::int64_t used = 0;  // processor time when the timer was armed
    std::uint64_t random = 0;
    std::atomic<bool> taken{false};
    std::atomic<bool> active{false};
  };

  static std::int64_t nanos(clockid_t clock) {
    timespec now{};
    return clock_gettime(clock, &now) == 0
               ? std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec
               : 0;
  }

  Victim& free_slot() {
    for (std::size_t index = 0; index < victims_.size(); ++index) {
      if (!victims_[index].taken.exchange(true)) {
        victims_[index].random = 0x9E3779B97F4A7C15U * (index + 1);
        return victims_[index];
      }
    }
    throw std::runtime_error("too many threads");
  }

  static void handle(int) {
    const int error = errno;
    if (Victim* const mine = self_; mine != nullptr) {
      mine->owner->interrupt(*mine);
      mine->owner->arm(*mine);
    }
    errno = error;
  }

  void arm(Victim& mine) const {
    // Not a fixed period: it could be that of a loop in the thread.
    mine.random ^= mine.random << 13;
    mine.random ^= mine.random >> 7;
    mine.random ^= mine.random << 17;
    const auto limit = static_cast<std::uint64_t>(period_) * 2;
    mine.used = nanos(mine.clock);
    itimerspec when{};
    when.it_value.tv_nsec = 1 + static_cast<long>(mine.random % limit);
    timer_settime(mine.timer, 0, &when, nullptr);
  }

  void interrupt(Victim& mine) {
    // A thread that waits, for the GIL or another lock, has no work to be stopped in.
    if (nanos(mine.clock) - mine.used < period_ / 4) {
      return;
    }
    ++chances_;
    if (!mine.may_pause(mine.context) || pausing_.exchange(true)) {
      return;
    }
    const std::int64_t used = used_by_others(mine);
    const std::int64_t end = nanos(CLOCK_MONOTONIC) + longest_;
    while (used_by_others(mine) < used + progress_ && nanos(CLOCK_MONOTONIC) < end) {
      const timespec moment{.tv_sec = 0, .tv_nsec = 20'000};
      nanosleep(&moment, nullptr);
    }
    ++pauses_;
    pausing_ = false;
  }

  [[nodiscard]] std::int64_t used_by_others(const Victim& mine) const {
    std::int64_t used = 0;
    for (const Victim& victim : victims_) {
      if (&victim != &mine && victim.active) {
        used += nanos(victim.clock);
      }
    }
    return used;
  }

  static inline thread_local Victim* self_ = nullptr;

  std::array<Victim, kMostThreads> victims_;
  std::atomic<bool> pausing_{false};
#else
  // Timers that interrupt one thread are Linux's own: elsewhere threads just run.
  static constexpr bool kWorks = false;

  void enter(MayPause, void*) {}
  void leave() {}

 private:
#endif
  const std::int64_t period_;
  const std::int64_t progress_;
  const std::int64_t longest_;
  std::atomic<std::uint64_t> chances_{0};
  std::atomic<std::uint64_t> pauses_{0};
};

}  // namespace reactorl
