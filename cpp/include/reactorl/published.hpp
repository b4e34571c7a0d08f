// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "reactorl/tag.hpp"

namespace reactorl {

/// A tag that one thread writes and any thread may read, never torn (a seqlock).
///
/// Writing costs four plain stores on x86. A reader retries while a write is in progress.
/// Argument: data stores are release and data loads are acquire. A reader that sees a new
/// part therefore also sees the odd version stored before it, so the second load of
/// `version_` differs from the first and the reader retries.
class PublishedTag {
 public:
  /// Only one thread at a time.
  void set(Tag tag) noexcept {
    const std::uint64_t version = version_.load(std::memory_order_relaxed);
    version_.store(version + 1, std::memory_order_relaxed);  // odd: being written
    time_.store(tag.time, std::memory_order_release);
    microstep_.store(tag.microstep, std::memory_order_release);
    version_.store(version + 2, std::memory_order_release);
  }
  [[nodiscard]] auto get() const noexcept -> Tag {
    for (;;) {
      const std::uint64_t before = version_.load(std::memory_order_acquire);
      const Tag tag{time_.load(std::memory_order_acquire),
                    microstep_.load(std::memory_order_acquire)};
      const std::uint64_t after = version_.load(std::memory_order_relaxed);
      if (before == after && (before & 1U) == 0) return tag;
    }
  }

 private:
  std::atomic<std::uint64_t> version_{0};
  std::atomic<Time> time_{0};
  std::atomic<std::uint32_t> microstep_{0};
};

}  // namespace reactorl
