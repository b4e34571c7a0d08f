// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "reactorl/counter.hpp"
#include "reactorl/ids.hpp"
#include "reactorl/tag.hpp"
#include "reactorl/tuning.hpp"

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
    Counter<std::uint64_t> waiting;   // runs that were timed, but may have waited
    Counter<Time> waiting_total;      // of these
    Time recent = 0;                  // moving average
    Time alone = 0;                   // the same of runs on one worker
    std::uint32_t runs_alone = 0;     // measured ones
  };

  explicit Costs(std::size_t reactions) : entries_(reactions) {}

  /// Counts a run; true if it should be timed. Short reactions are sampled, because
  /// reading the clock twice would cost a good part of them.
  [[nodiscard]] auto start(ReactionId reaction) -> bool {
    Entry& e = entries_[reaction];
    const std::uint64_t run = e.runs.get();
    e.runs.set(run + 1);
    return run < tuning::kRunsAllTimed || (run & (tuning::kSampleEvery - 1)) == 0 ||
           e.recent > tuning::kAlwaysTimed;
  }
  /// `shared`: other workers ran reactions meanwhile, and may have been in the way.
  void stop(ReactionId reaction, Time spent, bool shared = false) {
    Entry& e = entries_[reaction];
    e.measured.add(1);
    e.total.add(spent);
    // The first run often pays for imports and caches: replace it, then average.
    e.recent = e.measured.get() <= 2
                   ? spent
                   : e.recent + (spent - e.recent) / tuning::kAverageOver;
    if (!shared) {
      ++e.runs_alone;
      e.alone = e.runs_alone <= 2 ? spent : average(e.alone, spent, e.runs_alone - 1);
    }
  }
  /// Instead of `stop`, where the time may include waiting for an interpreter lock and is
  /// not a cost.
  void stop_waiting(ReactionId reaction, Time spent) {
    Entry& e = entries_[reaction];
    e.waiting.add(1);
    e.waiting_total.add(spent);
  }
  [[nodiscard]] auto recent(ReactionId reaction) const -> Time {
    return entries_[reaction].recent;
  }
  /// What it takes while no other worker runs reactions, as far as that is known.
  [[nodiscard]] auto alone(ReactionId reaction) const -> Time {
    const Entry& e = entries_[reaction];
    return e.runs_alone != 0 ? e.alone : e.recent;
  }
  [[nodiscard]] auto entry(ReactionId reaction) const -> const Entry& {
    return entries_[reaction];
  }

 private:
  /// The average with a further run, the `count`-th.
  [[nodiscard]] static auto average(Time usual, Time spent, Time count) -> Time {
    const Time from =
        std::min(usual, tuning::kOutlier * std::max(spent, tuning::kLeastCost));
    const Time to =
        std::min(spent, tuning::kOutlier * std::max(usual, tuning::kLeastCost));
    const bool is_new = from != usual || to != spent;  // the cost has changed
    return from + (to - from) / (is_new ? 2 : std::min(count, tuning::kAverageOver));
  }

  std::vector<Entry> entries_;
};

}  // namespace reactorl
