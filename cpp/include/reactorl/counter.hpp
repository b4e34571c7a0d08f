// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

namespace reactorl {

/// A number that one thread at a time changes, and that any thread may read meanwhile.
///
/// As cheap as a plain number: changing it takes neither a fence nor a locked
/// instruction. Who reads it learns what it was a moment ago, and nothing else: several
/// counters need not fit together.
template <class T>
class Counter {
 public:
  [[nodiscard]] auto get() const noexcept -> T {
    return value_.load(std::memory_order_relaxed);
  }
  void set(T value) noexcept { value_.store(value, std::memory_order_relaxed); }
  void add(T by) noexcept { set(get() + by); }

 private:
  std::atomic<T> value_{};
};

}  // namespace reactorl
