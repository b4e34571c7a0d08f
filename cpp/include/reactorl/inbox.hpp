// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

#include "reactorl/clock.hpp"
#include "reactorl/ids.hpp"
#include "reactorl/value.hpp"

namespace reactorl {

/// Events from the physical world, in the order of their stamps.
///
/// Thread safety: any thread may `put`; only worker 0 may `take`. The stamp is read
/// under the lock: whatever is put after a `take` has a stamp no earlier than that.
class Inbox {
 public:
  struct Event {
    TriggerId trigger;
    Time stamp;
    Value value;
  };

  /// Starts `clock`; events that came before count from its start.
  void open(Clock& clock, Time start) {
    const std::lock_guard lock(mutex_);
    clock.start(start);
    open_ = true;
    for (Event& event : events_) event.stamp = add_time(clock.start_time(), event.stamp);
  }
  /// Stamps the event `delay` after now.
  void put(TriggerId trigger, Time delay, Value value, const Clock& clock) {
    const std::lock_guard lock(mutex_);
    const Time stamp = open_ ? add_time(clock.now(), delay) : delay;
    events_.push_back({trigger, stamp, std::move(value)});
    waiting_.store(true);
  }
  /// No event that is put from now on, or waits, has an earlier stamp.
  [[nodiscard]] auto earliest(const Clock& clock) -> Time {
    const std::lock_guard lock(mutex_);
    Time least = clock.now();
    for (const Event& event : events_) least = std::min(least, event.stamp);
    return least;
  }
  [[nodiscard]] auto waiting() const -> bool { return waiting_.load(); }
  [[nodiscard]] auto take() -> std::vector<Event> {
    if (!waiting_.load()) return {};
    const std::lock_guard lock(mutex_);
    waiting_.store(false);
    return std::exchange(events_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<Event> events_;  // guarded by mutex_
  bool open_ = false;          // guarded by mutex_
  std::atomic<bool> waiting_{false};
};

}  // namespace reactorl
