// SPDX-License-Identifier: Apache-2.0
#include "reactorl/inbox.hpp"

#include <atomic>
#include <thread>
#include <vector>

#include "check.hpp"
#include "counted.hpp"

using namespace reactorl;

TEST(an_empty_inbox_gives_nothing) {
  Inbox inbox;

  CHECK(!inbox.waiting());
  CHECK(inbox.take().empty());
}

TEST(events_that_came_before_the_start_count_from_it) {
  Inbox inbox;
  Clock clock;
  inbox.put(1, 30, Value(), clock);
  inbox.put(2, kForever, Value(), clock);
  CHECK(inbox.waiting());
  inbox.open(clock, 1000);
  const auto events = inbox.take();

  CHECK_EQ(events[0].stamp, 1030);
  CHECK_EQ(events[1].stamp, kForever);
  CHECK(!inbox.waiting());
}

TEST(events_come_out_once_in_the_order_of_their_stamps) {
  Inbox inbox;
  Clock clock;
  inbox.open(clock, 1000);
  inbox.put(3, 0, Counted::make(1), clock);
  inbox.put(4, 0, Counted::make(2), clock);
  const auto events = inbox.take();

  CHECK_EQ(events.size(), std::size_t{2});
  CHECK_EQ(events[0].trigger, 3U);
  CHECK_EQ(Counted::number(events[1].value), 2);
  CHECK(events[0].stamp >= 1000);
  CHECK(events[0].stamp <= events[1].stamp);
  CHECK(inbox.take().empty());
}

TEST(the_stamp_is_delayed_and_never_overflows) {
  Inbox inbox;
  Clock clock;
  inbox.open(clock, 0);
  inbox.put(0, 1'000'000'000'000, Value(), clock);
  inbox.put(0, kForever, Value(), clock);
  const auto events = inbox.take();

  CHECK(events[0].stamp >= 1'000'000'000'000);
  CHECK_EQ(events[1].stamp, kForever);
}

TEST(stamps_of_all_threads_never_decrease) {
  constexpr int kThreads = 8;
  const int each = check::scaled(5000, 1000);
  {
    Inbox inbox;
    Clock clock;
    inbox.open(clock, 0);
    std::atomic<int> running{kThreads};
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < each; ++i) {
          inbox.put(TriggerId(static_cast<std::uint32_t>(t)), 0, Counted::make(i), clock);
        }
        running.fetch_sub(1);
      });
    }
    std::vector<int> next(kThreads, 0);
    Time last = 0;
    const auto look = [&] {
      for (const auto& event : inbox.take()) {
        CHECK(event.stamp >= last);
        CHECK_EQ(Counted::number(event.value), next[event.trigger]++);
        last = event.stamp;
      }
    };
    while (running.load() > 0) look();
    look();
    for (const int count : next) CHECK_EQ(count, each);
    for (std::thread& thread : threads) thread.join();
  }
  CHECK_EQ(Counted::live.load(), 0);
}
