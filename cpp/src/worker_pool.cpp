// SPDX-License-Identifier: Apache-2.0
#include "reactorl/worker_pool.hpp"

#include <algorithm>
#include <utility>

#include "reactorl/clock.hpp"

namespace reactorl {
namespace {

constexpr int kSpinsPerLook = 64;
constexpr unsigned kSeatBits = 16;
constexpr std::uint64_t kSeatMask = (1U << kSeatBits) - 1;
constexpr Time kMillisecond = 1'000'000;

}  // namespace

WorkerPool::WorkerPool(Options options, Host& host, std::function<void(WorkerId)> work)
    : options_(options), host_(host), work_(std::move(work)) {
  // A spinning thread must not take a core from one that works.
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  max_spinning_ = std::min(options_.workers, cores) - 1;
}

WorkerPool::~WorkerPool() {
  ending_.store(true);
  opened_.raise();
  for (std::thread& thread : threads_) thread.join();
}

void WorkerPool::start_threads() {
  for (WorkerId w = 1; w < options_.workers; ++w) {
    threads_.emplace_back([this, w] { help(w); });
  }
}

void WorkerPool::open(WorkerId helpers) {
  if (threads_.empty()) start_threads();
  const std::uint64_t next = phase_.load() + 1;
  seats_.store((next << kSeatBits) | helpers);
  phase_.store(next);
  if (spinning_.load() < helpers) opened_.raise();
}

void WorkerPool::close(const std::function<void()>& waiting) {
  phase_.fetch_add(1);
  for (int i = 0; i < 200 && inside_.load() != 0; ++i) pause_briefly();
  while (inside_.load() != 0) {
    const std::uint32_t seen = left_.epoch();
    host_.leave(0);
    if (inside_.load() != 0) left_.wait(seen, 20 * kMillisecond);
    host_.enter(0);
    waiting();
  }
}

void WorkerPool::help(WorkerId worker) {
  host_.thread_begins(worker);
  std::uint64_t seen = 0;
  while (!ending_.load()) {
    const std::uint64_t phase = phase_.load();
    if ((phase & 1U) == 0 || phase == seen) {
      await_phase(seen);
      continue;
    }
    seen = phase;
    if (!take_seat(phase)) continue;
    host_.enter(worker);
    inside_.fetch_add(1);
    // Checked after announcing oneself: either this thread sees the phase closed, or
    // worker 0 sees this thread inside.
    if (phase_.load() == phase) work_(worker);
    inside_.fetch_sub(1);
    left_.raise();
    host_.leave(worker);
  }
  host_.thread_ends(worker);
}

auto WorkerPool::take_seat(std::uint64_t phase) -> bool {
  std::uint64_t seats = seats_.load();
  // A latecomer from an earlier phase must not take a seat that it will not use.
  while ((seats >> kSeatBits) == phase && (seats & kSeatMask) > 0) {
    if (seats_.compare_exchange_weak(seats, seats - 1)) return true;
  }
  return false;
}

void WorkerPool::await_phase(std::uint64_t seen) {
  const auto news = [&] {
    const std::uint64_t phase = phase_.load();
    return ending_.load() || ((phase & 1U) != 0 && phase != seen);
  };
  if (options_.spin > 0) {
    if (spinning_.fetch_add(1) < max_spinning_) {
      const Time until = Clock::ticks_now() + options_.spin;
      do {
        for (int i = 0; i < kSpinsPerLook; ++i) {
          if (news()) {
            spinning_.fetch_sub(1);
            return;
          }
          pause_briefly();
        }
      } while (Clock::ticks_now() < until);
    }
    spinning_.fetch_sub(1);
  }
  const std::uint32_t epoch = opened_.epoch();
  if (!news()) opened_.wait(epoch, kForever);
}

}  // namespace reactorl
