// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "reactorl/counter.hpp"
#include "reactorl/ids.hpp"
#include "reactorl/tag.hpp"

namespace reactorl {

/// How long each reaction takes. Guides who runs what; never what happens.
///
/// Thread safety: a reaction's entry is changed by the worker that runs it. What is
/// counted may be read by any thread meanwhile.
class Costs {
 public:
  struct Entry {
    Counter<std::uint64_t> runs;
    Counter<std::uint64_t> measured;  // of these
    Counter<Time> total;              // of the measured ones
    Time recent = 0;                  // moving average
  };

  explicit Costs(std::size_t reactions) : entries_(reactions) {}

  /// Counts a run; true if it should be timed. Short reactions are sampled, because
  /// reading the clock twice would cost a good part of them.
  [[nodiscard]] auto start(ReactionId reaction) -> bool {
    Entry& e = entries_[reaction];
    const std::uint64_t run = e.runs.get();
    e.runs.set(run + 1);
    return run < 8 || (run & 15U) == 0 || e.recent > 20'000;
  }
  void stop(ReactionId reaction, Time spent) {
    Entry& e = entries_[reaction];
    e.measured.add(1);
    e.total.add(spent);
    // The first run often pays for imports and caches: replace it, then average.
    e.recent = e.measured.get() <= 2 ? spent : e.recent + (spent - e.recent) / 4;
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

}  // namespace reactorl
