// SPDX-License-Identifier: Apache-2.0
#include "reactorl/clock.hpp"

#include <chrono>
#include <thread>

#include "check.hpp"

using namespace reactorl;

TEST(a_clock_begins_at_the_time_it_is_given) {
  Clock clock;
  clock.start(5000);

  CHECK_EQ(clock.start_time(), 5000);
  CHECK(clock.now() >= 5000);
  CHECK(clock.now() < 5000 + 60'000'000'000);
}

TEST(a_clock_begins_at_the_machines_time_by_default) {
  const Time before = Clock::wall();
  Clock clock;
  clock.start(kForever);
  const Time after = Clock::wall();

  CHECK(before <= clock.start_time() && clock.start_time() <= after);
}

TEST(a_clock_never_goes_back) {
  Clock clock;
  clock.start(0);
  Time last = clock.now();
  for (int i = 0; i < 10'000; ++i) {
    const Time now = clock.now();
    CHECK(now >= last);
    last = now;
  }
}

TEST(a_clock_advances_with_physical_time) {
  Clock clock;
  clock.start(0);
  const Time ticks = Clock::ticks_now();
  std::this_thread::sleep_for(std::chrono::milliseconds(5));

  CHECK(clock.now() >= 5'000'000);
  CHECK(Clock::ticks_now() - ticks >= 5'000'000);
}

TEST(processor_time_counts_work_and_not_sleep) {
  const Time began = Clock::thread_busy();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const Time slept = Clock::thread_busy() - began;
  const Time until = Clock::ticks_now() + 5'000'000'000;
  while (Clock::thread_busy() - began < slept + 2'000'000) {
    if (Clock::ticks_now() > until) break;  // the system does not tell
  }

  CHECK(slept >= 0 && slept < 15'000'000);
  CHECK(Clock::thread_busy() == 0 || Clock::thread_busy() - began >= slept + 2'000'000);
}
