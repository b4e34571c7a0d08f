// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "reactorl/ids.hpp"
#include "reactorl/tag.hpp"

namespace reactorl {

/// How long each reaction takes. Guides who runs what; never what happens.
///
/// Thread safety: a reaction's entry is touched by the worker that runs it.
class Costs {
 public:
  struct Entry {
    std::uint64_t runs = 0;
    std::uint64_t measured = 0;  // of these
    Time total = 0;              // of the measured ones
    Time recent = 0;             // moving average
  };

  explicit Costs(std::size_t reactions) : entries_(reactions) {}

  /// Counts a run; true if it should be timed. Short reactions are sampled, because
  /// reading the clock twice would cost a good part of them.
  [[nodiscard]] auto start(ReactionId reaction) -> bool {
    Entry& e = entries_[reaction];
    const std::uint64_t run = e.runs++;
    return run < 8 || (run & 15U) == 0 || e.recent > 20'000;
  }
  void stop(ReactionId reaction, Time spent) {
    Entry& e = entries_[reaction];
    ++e.measured;
    e.total += spent;
    // The first run often pays for imports and caches: replace it, then average.
    e.recent = e.measured <= 2 ? spent : e.recent + (spent - e.recent) / 4;
  }
  [[nodiscard]] auto recent(ReactionId reaction) const -> Time {
    return entries_[reaction].recent;
  }
  [[nodiscard]] auto entry(ReactionId reaction) const -> const Entry& {
    return entries_[reaction];
  }

 private:
  std::vector<Entry> entries_;
};

/// Whether working together has paid lately: compares the time that shared work took
/// with the time the same reactions take alone. Where it does not pay (threads that
/// wait for each other's interpreter lock), it is tried again ever more rarely.
class Gain {
 public:
  /// `wanted` is the least ratio that counts as gain; `longest_pause` bounds for how
  /// many tags the work is not shared after it did not pay.
  Gain(double wanted, std::uint32_t longest_pause)
      : wanted_(wanted), longest_pause_(longest_pause) {}

  /// Whether to share the work of this tag.
  [[nodiscard]] auto worthwhile() -> bool {
    if (skip_ > 0) {
      --skip_;
      return false;
    }
    return true;
  }
  /// Shared work that takes `alone` on one worker took `together`.
  void report(Time alone, Time together) {
    if (alone <= 0 || together <= 0) return;
    const double ratio = static_cast<double>(alone) / static_cast<double>(together);
    gain_ = gain_ == 0.0 ? ratio : gain_ + (ratio - gain_) / 4.0;
    if (gain_ >= wanted_) {
      pause_ = kShortestPause;
      // The estimate of "alone" ages while all work is shared: refresh it at times.
      if (++good_ % 256 == 0) skip_ = 1;
    } else if (ratio < kBad * wanted_ || ++poor_ % 3 == 0) {
      skip_ = pause_;
      pause_ = std::min(pause_ * 4, longest_pause_);
      gain_ = 0.0;
    }
  }
  [[nodiscard]] auto value() const -> double { return gain_; }

 private:
  static constexpr std::uint32_t kShortestPause = 32;
  static constexpr double kBad = 0.6;  // so poor that once is enough
  double wanted_;
  std::uint32_t longest_pause_;
  double gain_ = 0.0;  // 0: unknown
  std::uint32_t skip_ = 0;
  std::uint32_t pause_ = kShortestPause;
  std::uint32_t good_ = 0;
  std::uint32_t poor_ = 0;
};

}  // namespace reactorl
