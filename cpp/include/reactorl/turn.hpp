// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

namespace reactorl {

/// Lets several threads ask for something that one at a time may do, and none waits: who
/// finds another one doing it leaves, and that one does it again.
///
/// Who does it may call into an interpreter whose lock the others hold, so a mutex could
/// block all of them.
class Turn {
 public:
  /// Calls `act()` at least once after now, on this thread or on the one that is in it.
  template <class Act>
  void take(Act act) {
    due_.store(true);
    while (due_.load()) {
      bool free = false;
      if (!inside_.compare_exchange_strong(free, true)) return;
      due_.store(false);
      act();
      inside_.store(false);
    }
  }

 private:
  // All operations are seq_cst: one that is refused entry has set `due_` before, and the
  // one inside reads it after it has left.
  std::atomic<bool> due_{false};
  std::atomic<bool> inside_{false};
};

}  // namespace reactorl
