// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <ctime>

#include "reactorl/counter.hpp"
#include "reactorl/tag.hpp"

namespace reactorl {

/// The physical time of a run: starts at the run's start time and advances with the
/// steady clock, so that stepping the machine's clock cannot move it backwards.
///
/// Thread safety: one thread calls `start`; any thread may read, also meanwhile.
class Clock {
 public:
  /// Makes now the instant `start`; kForever means the machine's own time.
  void start(Time start) {
    const Time time = start != kForever ? start : wall();
    offset_.set(time - ticks_now());
    start_.set(time);
  }
  [[nodiscard]] auto start_time() const -> Time { return start_.get(); }
  [[nodiscard]] auto now() const -> Time { return ticks_now() + offset_.get(); }
  /// The machine's own time, in nanoseconds since 1970.
  [[nodiscard]] static auto wall() -> Time {
    return ticks(std::chrono::system_clock::now().time_since_epoch());
  }
  /// Processor time of the calling thread; 0 where the system does not tell.
  [[nodiscard]] static auto thread_busy() -> Time {
#if defined(CLOCK_THREAD_CPUTIME_ID)
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<Time>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
#else
    return 0;
#endif
  }
  /// A cheap monotonic count of nanoseconds with an arbitrary origin.
  [[nodiscard]] static auto ticks_now() -> Time {
    return ticks(std::chrono::steady_clock::now().time_since_epoch());
  }

 private:
  template <class D>
  static auto ticks(D duration) -> Time {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count();
  }
  Counter<Time> offset_;  // from the steady clock to this one
  Counter<Time> start_;
};

}  // namespace reactorl
