// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "reactorl/tag.hpp"

namespace reactorl {

/// Lets threads wait for "something changed" without missing it: read `epoch`, look
/// for work, and if there is none `wait` for a later epoch. Raising it costs one load
/// while no thread waits; the mutex is only for those that sleep.
class Signal {
 public:
  [[nodiscard]] auto epoch() const -> std::uint32_t { return epoch_.load(); }
  [[nodiscard]] auto has_waiters() const -> bool { return waiters_.load() != 0; }

  void raise() {
    epoch_.fetch_add(1);
    if (waiters_.load() == 0) return;
    {
      const std::lock_guard lock(mutex_);
    }  // no waiter is between test and sleep
    changed_.notify_all();
  }

  /// Returns when the epoch is no longer `seen`, or after `at_most` nanoseconds.
  void wait(std::uint32_t seen, Time at_most) {
    waiters_.fetch_add(1);
    {
      std::unique_lock lock(mutex_);
      const auto moved = [&] { return epoch_.load() != seen; };
      if (at_most == kForever) {
        changed_.wait(lock, moved);
      } else {
        changed_.wait_for(lock, std::chrono::nanoseconds(at_most), moved);
      }
    }
    waiters_.fetch_sub(1);
  }

 private:
  std::atomic<std::uint32_t> epoch_{0};
  std::atomic<std::uint32_t> waiters_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
};

}  // namespace reactorl
