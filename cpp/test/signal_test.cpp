// SPDX-License-Identifier: Apache-2.0
#include "reactorl/signal.hpp"

#include <atomic>
#include <thread>
#include <vector>

#include "check.hpp"
#include "reactorl/clock.hpp"

using namespace reactorl;

namespace {
constexpr Time kMillisecond = 1'000'000;
}

TEST(raising_moves_the_epoch) {
  Signal signal;
  const auto seen = signal.epoch();
  signal.raise();

  CHECK(signal.epoch() != seen);
  CHECK(!signal.has_waiters());
}

TEST(a_wait_for_what_has_happened_returns_at_once) {
  Signal signal;
  const auto seen = signal.epoch();
  signal.raise();

  signal.wait(seen, kForever);
}

TEST(a_wait_ends_when_its_time_is_over) {
  Signal signal;
  const Time began = Clock::ticks_now();
  signal.wait(signal.epoch(), 5 * kMillisecond);

  CHECK(Clock::ticks_now() - began >= 5 * kMillisecond);
  CHECK(!signal.has_waiters());
  signal.wait(signal.epoch(), 0);
  signal.wait(signal.epoch(), -kMillisecond);
}

TEST(raising_wakes_everybody) {
  Signal signal;
  const auto seen = signal.epoch();
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([&] { signal.wait(seen, kForever); });
  }
  while (!signal.has_waiters()) std::this_thread::yield();
  signal.raise();

  for (std::thread& thread : threads) thread.join();  // or the test hangs
  CHECK(!signal.has_waiters());
}

TEST(no_wake_up_is_lost_between_two_threads) {
  // Each turn needs the other's raise; one lost wake-up would stop both for good.
  Signal signal;
  std::atomic<int> turn{0};
  const int turns = check::scaled(40'000, 4'000);
  const auto play = [&](int me) {
    while (true) {
      const auto seen = signal.epoch();
      const int now = turn.load();
      if (now >= turns) return;
      if (now % 2 != me) {
        signal.wait(seen, kForever);
        continue;
      }
      turn.store(now + 1);
      signal.raise();
    }
  };
  std::thread other([&] { play(1); });
  play(0);
  other.join();

  CHECK_EQ(turn.load(), turns);
}

TEST(no_wake_up_is_lost_among_many_threads) {
  // Producers announce; consumers sleep until there is something, without a time limit.
  Signal signal;
  std::atomic<int> made{0};
  std::atomic<int> used{0};
  const int total = check::scaled(20'000, 2'000);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      while (used.load() < total) {
        const auto seen = signal.epoch();
        int have = used.load();
        if (have < made.load()) {
          if (used.compare_exchange_strong(have, have + 1) && have + 1 == total) {
            signal.raise();  // all consumers may go
          }
        } else if (used.load() < total) {
          signal.wait(seen, kForever);
        }
      }
    });
  }
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < total / 2; ++i) {
        made.fetch_add(1);
        signal.raise();
        if (i % 64 == 0) std::this_thread::yield();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();

  CHECK_EQ(used.load(), total);
}
