// SPDX-License-Identifier: Apache-2.0
#include "reactorl/worker_pool.hpp"

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "check.hpp"
#include "reactorl/clock.hpp"
#include "test_host.hpp"

using namespace reactorl;

namespace {

constexpr Time kMillisecond = 1'000'000;

auto plan_for(WorkerId workers) -> Plan {
  Plan plan;
  plan.workers = workers;
  return plan;
}

/// A pool of helpers with a host that checks how it is entered and left.
struct Setting {
  Setting(WorkerId workers, Time spin, std::function<void(WorkerId)> work)
      : plan(plan_for(workers)),
        host(plan, {}),
        pool(std::make_unique<WorkerPool>(WorkerPool::Options{workers, spin}, host,
                                          std::move(work))) {}
  ~Setting() { end(); }
  void end() {
    if (!pool) return;
    host.leave(0);
    pool.reset();
    host.enter(0);
  }

  Plan plan;
  TestHost host;
  std::unique_ptr<WorkerPool> pool;
};

void nothing() {}

/// Returns after a minute in any case, so that a defect is a failure and not a hang.
void wait_until(const std::function<bool()>& done) {
  const Time until = Clock::ticks_now() + 60'000 * kMillisecond;
  while (!done() && Clock::ticks_now() < until) {
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

}  // namespace

TEST(a_pool_that_was_never_needed_has_no_threads) {
  Setting setting(8, 0, [](WorkerId) {});
  setting.end();

  CHECK_EQ(setting.host.threads_begun(), 0);
}

TEST(a_phase_brings_the_helpers_in) {
  std::atomic<unsigned> came{0};
  std::atomic<bool> done{false};
  Setting setting(4, 0, [&](WorkerId worker) {
    came.fetch_or(1U << worker);
    while (!done.load()) std::this_thread::yield();
  });
  setting.pool->open(3);
  CHECK(setting.pool->is_open());
  wait_until([&] { return came.load() == 0b1110U; });
  CHECK_EQ(setting.pool->inside(), 3U);
  done.store(true);
  setting.pool->close(nothing);

  CHECK(!setting.pool->is_open());
  CHECK_EQ(setting.pool->inside(), 0U);
  setting.end();
  CHECK_EQ(setting.host.threads_begun(), 3);
}

TEST(no_more_helpers_come_than_were_called) {
  std::atomic<int> came{0};
  Setting setting(8, 0, [&](WorkerId) { came.fetch_add(1); });
  for (int phase = 1; phase <= 100; ++phase) {
    came.store(0);
    setting.pool->open(2);
    if (phase % 10 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    setting.pool->close(nothing);

    CHECK(came.load() <= 2);
  }
}

TEST(closing_waits_for_those_inside_and_calls_back_meanwhile) {
  std::atomic<bool> entered{false};
  std::atomic<bool> left{false};
  std::atomic<int> calls{0};
  Setting setting(2, 0, [&](WorkerId) {
    entered.store(true);
    wait_until([&] { return calls.load() >= 2; });
    left.store(true);
  });
  setting.pool->open(1);
  wait_until([&] { return entered.load(); });
  setting.pool->close([&] { ++calls; });

  CHECK(left.load());
  CHECK(calls.load() >= 2);
}

TEST(worker_0_does_not_wait_for_a_helper_that_has_not_begun) {
  std::atomic<bool> done{false};
  Setting setting(2, 0, [&](WorkerId) {
    while (!done.load()) std::this_thread::yield();
  });
  done.store(true);
  const Time began = Clock::ticks_now();
  for (int phase = 0; phase < 1000; ++phase) {
    setting.pool->open(1);
    setting.pool->close(nothing);
  }

  CHECK(Clock::ticks_now() - began < 20'000 * kMillisecond);
}

TEST(helpers_do_not_work_outside_of_a_phase) {
  for (const Time spin : {Time{0}, Time{20'000}, Time{2'000'000}}) {
    std::atomic<bool> open{false};
    std::atomic<int> worked{0};
    std::int64_t shared = 0;  // plain: opening and closing order the accesses
    Setting setting(4, spin, [&](WorkerId worker) {
      CHECK(open.load());
      CHECK(worker >= 1 && worker < 4);
      CHECK(shared >= 0);
      worked.fetch_add(1);
    });
    setting.host.on_enter = [](WorkerId worker) {  // comes in when it may be too late
      static thread_local check::Dice late(worker);
      for (std::uint32_t i = late.below(400); worker != 0 && i > 0; --i) pause_briefly();
    };
    check::Dice dice(13);
    const int phases = check::scaled(20'000, 1500);
    for (int phase = 0; phase < phases; ++phase) {
      ++shared;
      open.store(true);
      setting.pool->open(1 + dice.below(3));
      for (std::uint32_t i = dice.below(300); i > 0; --i) pause_briefly();
      if (dice.chance(2)) std::this_thread::sleep_for(std::chrono::microseconds(100));
      setting.pool->close(nothing);
      open.store(false);
    }

    CHECK(worked.load() > 0);
  }
}

TEST(every_phase_that_waits_for_its_helpers_gets_them) {
  // As at the start tag, where each worker has work that only it may do.
  for (const Time spin : {Time{0}, Time{20'000}}) {
    std::atomic<int> came{0};
    Setting setting(4, spin, [&](WorkerId) { came.fetch_add(1); });
    const int phases = check::scaled(2000, 200);
    for (int phase = 1; phase <= phases; ++phase) {
      came.store(0);
      setting.pool->open(3);
      wait_until([&] { return came.load() == 3; });
      setting.pool->close(nothing);
    }
  }
}

TEST(helpers_that_have_just_worked_look_out_for_more) {
  std::atomic<int> came{0};
  Setting setting(2, 500 * kMillisecond, [&](WorkerId) { came.fetch_add(1); });
  setting.pool->open(1);
  wait_until([&] { return came.load() == 1; });
  setting.pool->close(nothing);
  if (std::thread::hardware_concurrency() < 2) return;

  const Time began = Clock::ticks_now();
  WorkerId spinning = 0;
  while (spinning == 0 && Clock::ticks_now() - began < 400 * kMillisecond) {
    spinning = setting.pool->spinning();
  }
  CHECK_EQ(spinning, 1U);
  wait_until([&] { return setting.pool->spinning() == 0; });  // then it sleeps
}

TEST(a_pool_can_end_at_any_moment) {
  check::Dice dice(14);
  for (int round = 0; round < check::scaled(300, 60); ++round) {
    Setting setting(4, dice.below(3) * 50'000, [](WorkerId) {});
    for (std::uint32_t phase = dice.below(4); phase > 0; --phase) {
      setting.pool->open(3);
      setting.pool->close(nothing);
    }
    if (dice.chance(30)) std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}
