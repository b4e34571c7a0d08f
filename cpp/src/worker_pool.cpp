// SPDX-License-Identifier: Apache-2.0
#include "reactorl/worker_pool.hpp"

#include <algorithm>
#include <utility>

#include "reactorl/clock.hpp"
#include "reactorl/tuning.hpp"

namespace reactorl {
namespace {

constexpr unsigned kPlaceBits = 16;
constexpr std::uint64_t kPlaceMask = (1U << kPlaceBits) - 1;

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
  places_.store((next << kPlaceBits) | helpers);
  phase_.store(next);
  if (spinning_.load() < helpers) opened_.raise();
}

void WorkerPool::close(const std::function<void()>& waiting) {
  phase_.fetch_add(1);
  for (int i = 0; i < tuning::kSpinsForLast && inside_.load() != 0; ++i) pause_briefly();
  while (inside_.load() != 0) {
    const std::uint32_t seen = left_.epoch();
    host_.leave(0);
    if (inside_.load() != 0) left_.wait(seen, tuning::kLongestSleepForLast);
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
    if (!take_place(phase)) continue;
    if (!options_.outside) host_.enter(worker);
    inside_.fetch_add(1);
    // Checked after `inside_` was raised: either this thread sees the phase closed, or
    // worker 0 sees this thread inside.
    if (phase_.load() == phase) work_(worker);
    inside_.fetch_sub(1);
    left_.raise();
    if (!options_.outside) host_.leave(worker);
  }
  host_.thread_ends(worker);
}

auto WorkerPool::take_place(std::uint64_t phase) -> bool {
  std::uint64_t places = places_.load();
  // A helper that saw an earlier phase must not take a place that it will not use.
  while ((places >> kPlaceBits) == phase && (places & kPlaceMask) > 0) {
    if (places_.compare_exchange_weak(places, places - 1)) return true;
  }
  return false;
}

void WorkerPool::await_phase(std::uint64_t seen) {
  const auto has_news = [&] {
    const std::uint64_t phase = phase_.load();
    return ending_.load() || ((phase & 1U) != 0 && phase != seen);
  };
  if (options_.spin > 0) {
    if (spinning_.fetch_add(1) < max_spinning_) {
      const Time until = Clock::ticks_now() + options_.spin;
      do {
        for (int i = 0; i < tuning::kSpinsPerClockRead; ++i) {
          if (has_news()) {
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
  if (!has_news()) opened_.wait(epoch, kForever);
}

}  // namespace reactorl
