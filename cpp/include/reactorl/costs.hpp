// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
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
    Counter<std::uint64_t> waiting;   // runs that were timed, but may have waited
    Counter<Time> waiting_total;      // of these
    Time recent = 0;                  // moving average
    Time alone = 0;                   // the same of runs with nobody beside
    std::uint32_t runs_alone = 0;     // measured ones
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
  /// `shared`: other workers ran reactions meanwhile, and may have been in the way.
  void stop(ReactionId reaction, Time spent, bool shared = false) {
    Entry& e = entries_[reaction];
    e.measured.add(1);
    e.total.add(spent);
    // The first run often pays for imports and caches: replace it, then average.
    e.recent = e.measured.get() <= 2 ? spent : e.recent + (spent - e.recent) / 4;
    if (!shared) {
      ++e.runs_alone;
      e.alone = e.runs_alone <= 2 ? spent : average(e.alone, spent, e.runs_alone - 1);
    }
  }
  /// Instead of `stop`, where the time may be that of waiting for an interpreter lock:
  /// it says when the reaction was under way, but not what it costs.
  void stop_waiting(ReactionId reaction, Time spent) {
    Entry& e = entries_[reaction];
    e.waiting.add(1);
    e.waiting_total.add(spent);
  }
  [[nodiscard]] auto recent(ReactionId reaction) const -> Time {
    return entries_[reaction].recent;
  }
  /// What it takes with nobody beside, as far as that is known.
  [[nodiscard]] auto alone(ReactionId reaction) const -> Time {
    const Entry& e = entries_[reaction];
    return e.runs_alone != 0 ? e.alone : e.recent;
  }
  [[nodiscard]] auto entry(ReactionId reaction) const -> const Entry& {
    return entries_[reaction];
  }

 private:
  /// A run that took many times as long as usual waited for something, and that says
  /// nothing about the next one. It must not be remembered as what work costs: shared
  /// work would seem to pay, and be shared, so that nobody measures it alone again.
  static constexpr Time kSurprise = 4;
  static constexpr Time kLeast = 1'000;

  /// Of the latest so many runs, about. Runs alone are rare where work is shared, and a
  /// single one says little where work varies: if it was short, all sharing until the
  /// next one would seem not to pay.
  static constexpr Time kRuns = 4;

  /// The average with a further run, the `count`-th.
  [[nodiscard]] static auto average(Time usual, Time spent, Time count) -> Time {
    const Time from = std::min(usual, kSurprise * std::max(spent, kLeast));
    const Time to = std::min(spent, kSurprise * std::max(usual, kLeast));
    const bool is_new = from != usual || to != spent;  // and no longer what it was
    return from + (to - from) / (is_new ? 2 : std::min(count, kRuns));
  }

  std::vector<Entry> entries_;
};

}  // namespace reactorl
