// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "reactorl/host.hpp"
#include "reactorl/ids.hpp"
#include "reactorl/signal.hpp"

namespace reactorl {

inline void pause_briefly() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// The threads that help worker 0.
///
/// Worker 0 opens a phase, takes part in it itself, and closes it when all is done. A
/// late helper finds the phase closed and waits for the next one, so worker 0 never waits
/// for a thread that has not begun. Helpers wait outside the host: first spinning for a
/// short while, then asleep.
class WorkerPool {
 public:
  struct Options {
    WorkerId workers = 1;  // with worker 0
    Time spin = 0;         // how long a helper spins before it sleeps
    bool outside = false;  // `work` is called outside of the host, and returns there
  };

  /// `work(worker)` is what a helper does in a phase; it returns when all is done.
  WorkerPool(Options options, Host& host, std::function<void(WorkerId)> work);
  WorkerPool(const WorkerPool&) = delete;
  auto operator=(const WorkerPool&) -> WorkerPool& = delete;
  /// Requires: no phase is open, and the caller has left the host.
  ~WorkerPool();

  /// Opens a phase for at most `helpers` helpers. Only worker 0.
  void open(WorkerId helpers);
  /// Lets no further helper in, and waits for those inside. `waiting` is called now and
  /// then, with worker 0 inside the host. Only worker 0.
  void close(const std::function<void()>& waiting);
  [[nodiscard]] auto is_open() const -> bool { return (phase_.load() & 1U) != 0; }
  /// How many helpers spin and would come at once.
  [[nodiscard]] auto spinning() const -> WorkerId { return spinning_.load(); }
  /// How many are taking part now, without worker 0.
  [[nodiscard]] auto inside() const -> WorkerId { return inside_.load(); }

 private:
  void start_threads();
  void help(WorkerId worker);
  void await_phase(std::uint64_t seen);
  auto take_place(std::uint64_t phase) -> bool;

  Options options_;
  Host& host_;
  std::function<void(WorkerId)> work_;
  WorkerId max_spinning_;
  std::vector<std::thread> threads_;
  std::atomic<bool> ending_{false};
  alignas(64) std::atomic<std::uint64_t> phase_{0};  // odd: open
  std::atomic<std::uint64_t> places_{0};             // phase * 2^16 + free places
  alignas(64) std::atomic<WorkerId> inside_{0};
  std::atomic<WorkerId> spinning_{0};
  Signal opened_;
  Signal left_;
};

}  // namespace reactorl
