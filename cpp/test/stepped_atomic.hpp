// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <ucontext.h>
#include <utility>
#include <vector>

#include "check.hpp"

namespace stepped {

/// Runs functions as if each had a thread, in all interleavings of their atomic
/// operations that have at most so many preemptions.
///
/// All of them share one thread of the machine. Before each atomic operation another
/// function may be chosen to continue; runs are repeated until every choice has been
/// made. Orders that only weak memory has are not among them.
class Interleavings {
 public:
  using Function = std::function<void()>;

  explicit Interleavings(std::size_t preemptions) : preemptions_(preemptions) {}

  /// Calls `prepare`, lets the functions that it returns run to their ends, and calls
  /// `finish`; for each interleaving. Returns how many there are.
  auto explore(const std::function<std::vector<Function>()>& prepare,
               const Function& finish) -> std::size_t {
    std::size_t count = 0;
    do {
      run(prepare());
      finish();
      ++count;
    } while (check::failed_checks == 0 && next_path());
    return count;
  }

  /// An atomic operation is about to happen: another function may come first.
  static void point() {
    if (current_ != nullptr) current_->choose(true);
  }
  /// Something long is about to happen: switching here is not a preemption.
  static void yield() {
    if (current_ != nullptr) current_->choose(false);
  }

 private:
  struct Fiber {
    ucontext_t context{};
    std::unique_ptr<char[]> stack;
    Function function;
    bool ended = false;
  };
  struct Choice {
    std::size_t chosen;
    std::size_t options;
  };
  static constexpr std::size_t kStack = 64 * 1024;
  static constexpr std::size_t kMostAlone = 300;  // more than any of the functions needs

  void run(std::vector<Function> functions) {
    depth_ = 0;
    used_ = 0;
    alone_ = 0;
    if (fibers_.empty()) {
      for (std::size_t i = 0; i < functions.size(); ++i) {
        fibers_.push_back(std::make_unique<Fiber>());
        fibers_.back()->stack = std::make_unique<char[]>(kStack);
      }
    }
    for (std::size_t i = 0; i < functions.size(); ++i) {
      Fiber& fiber = *fibers_[i];
      fiber.function = std::move(functions[i]);
      fiber.ended = false;
      getcontext(&fiber.context);
      fiber.context.uc_stack.ss_sp = fiber.stack.get();
      fiber.context.uc_stack.ss_size = kStack;
      fiber.context.uc_link = nullptr;
      makecontext(&fiber.context, &Interleavings::enter, 0);
    }
    current_ = this;
    active_ = pick(runnable());
    swapcontext(&main_, &fibers_[active_]->context);
    current_ = nullptr;
  }

  static void enter() {
    Interleavings& self = *current_;
    Fiber& mine = *self.fibers_[self.active_];
    mine.function();
    mine.ended = true;
    const std::vector<std::size_t> others = self.runnable();
    if (others.empty()) {
      setcontext(&self.main_);
    } else {
      self.active_ = self.pick(others);
      setcontext(&self.fibers_[self.active_]->context);
    }
  }

  void choose(bool preempts) {
    // One that waits in a loop for another cannot go on forever.
    if (++alone_ > kMostAlone) return switch_to(other_than_active());
    if (preempts && used_ == preemptions_) return;
    // The running one first: then the first path has no preemptions.
    std::vector<std::size_t> options{active_};
    for (const std::size_t other : runnable()) {
      if (other != active_) options.push_back(other);
    }
    const std::size_t next = pick(options);
    if (next == active_) return;
    if (preempts) ++used_;
    switch_to(next);
  }

  [[nodiscard]] auto other_than_active() const -> std::size_t {
    for (const std::size_t other : runnable()) {
      if (other != active_) return other;
    }
    return active_;
  }

  void switch_to(std::size_t next) {
    alone_ = 0;
    if (next == active_) return;
    const std::size_t before = std::exchange(active_, next);
    swapcontext(&fibers_[before]->context, &fibers_[next]->context);
  }

  [[nodiscard]] auto runnable() const -> std::vector<std::size_t> {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < fibers_.size(); ++i) {
      if (!fibers_[i]->ended) found.push_back(i);
    }
    return found;
  }

  auto pick(const std::vector<std::size_t>& options) -> std::size_t {
    if (options.size() == 1) return options[0];
    if (depth_ == path_.size()) path_.push_back({0, options.size()});
    return options[path_[depth_++].chosen];
  }

  /// Makes the last choice that has options left differently.
  auto next_path() -> bool {
    while (!path_.empty() && path_.back().chosen + 1 == path_.back().options) {
      path_.pop_back();
    }
    if (path_.empty()) return false;
    ++path_.back().chosen;
    return true;
  }

  static inline Interleavings* current_ = nullptr;

  std::size_t preemptions_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<Choice> path_;
  ucontext_t main_{};
  std::size_t depth_ = 0;
  std::size_t used_ = 0;   // preemptions
  std::size_t alone_ = 0;  // operations since the last switch
  std::size_t active_ = 0;
};

/// As `std::atomic`, in the order of a single thread; other functions may run before
/// each operation.
template <class T>
class Atomic {
 public:
  Atomic() = default;
  constexpr Atomic(T value) : value_(value) {}
  Atomic(const Atomic&) = delete;
  auto operator=(const Atomic&) -> Atomic& = delete;

  using Order = std::memory_order;
  auto load(Order /*order*/ = {}) const -> T {
    Interleavings::point();
    return value_;
  }
  void store(T value, Order /*order*/ = {}) {
    Interleavings::point();
    value_ = value;
  }
  auto fetch_add(T by, Order /*order*/ = {}) -> T {
    Interleavings::point();
    return std::exchange(value_, value_ + by);
  }
  auto fetch_sub(T by, Order /*order*/ = {}) -> T {
    Interleavings::point();
    return std::exchange(value_, value_ - by);
  }
  auto fetch_or(T bits, Order /*order*/ = {}) -> T {
    Interleavings::point();
    return std::exchange(value_, value_ | bits);
  }
  auto compare_exchange_strong(T& expected, T wanted) -> bool {
    Interleavings::point();
    if (value_ == expected) {
      value_ = wanted;
      return true;
    }
    expected = value_;
    return false;
  }

 private:
  T value_{};
};

}  // namespace stepped
