// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace reactorl {

/// A sequence that only grows. What is in it never moves: growing neither copies nor
/// touches fresh memory twice, as a vector that doubles would.
template <class T, std::size_t kBlock>
class Blocks {
 public:
  void push(T item) { *room(1) = std::move(item); }
  /// Adds copies of `items`, side by side.
  void append(std::span<const T> items) { std::ranges::copy(items, room(items.size())); }
  /// Adds `count` items, side by side, and returns the first for the caller to fill.
  [[nodiscard]] auto room(std::size_t count) -> T* {
    if (blocks_.empty() || blocks_.back().size - blocks_.back().used < count) {
      const std::size_t size = std::max(count, kBlock);
      blocks_.push_back({std::make_unique_for_overwrite<T[]>(size), size, 0});
    }
    Block& last = blocks_.back();
    T* const first = last.items.get() + last.used;
    last.used += count;
    size_ += count;
    return first;
  }
  [[nodiscard]] auto size() const -> std::size_t { return size_; }
  /// Calls `visit(span)` for the pieces, in order.
  template <class Visit>
  void for_each(Visit visit) const {
    for (const Block& b : blocks_) visit(std::span<const T>(b.items.get(), b.used));
  }

 private:
  struct Block {
    std::unique_ptr<T[]> items;
    std::size_t size;
    std::size_t used;
  };
  std::vector<Block> blocks_;
  std::size_t size_ = 0;
};

}  // namespace reactorl
