// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "reactorl/ids.hpp"
#include "reactorl/tag.hpp"

namespace reactorl {

/// Whether working together has paid lately. Where it has not, it is tried again ever
/// more rarely: a pause is a multiple of what the try took, so that tries cost a small
/// part of the run whatever they cost.
///
/// Thread safety: only worker 0.
class Gain {
 public:
  /// What a phase of shared work showed.
  struct Phase {
    Time alone;     // what the same reactions take on one worker, by estimate
    Time together;  // what they took
    Time busy;      // processor time of all workers in it
  };

  /// `one_at_a_time`: the interpreter lets only one thread run Python code.
  explicit Gain(bool one_at_a_time)
      : one_at_a_time_(one_at_a_time),
        shortest_pause_(one_at_a_time ? kShortestPauseLocked : kShortestPause),
        pause_(shortest_pause_) {}

  /// Whether to share work of the tag numbered `tag` that begins `now`.
  [[nodiscard]] auto worthwhile(Time now, Epoch tag) -> bool {
    if (now < resume_at_) return false;
    if (tag != tag_) {
      tag_ = tag;
      ++asked_;
      // The estimate of "alone" ages while all work is shared: refresh it at times, and
      // often at first, when it may be from a run that paid for imports and caches.
      refresh_ = asked_ % kRefresh == 0 || (asked_ > 1 && early());
    }
    return !refresh_;
  }

  void report(const Phase& phase, Time now) {
    if (phase.alone <= 0 || phase.together <= 0) return;
    if (one_at_a_time_ ? paid_behind_lock(phase)
                       : ratio(phase.alone, phase.together) >= kPaid) {
      pause_ = shortest_pause_;
      poor_ = 0;
      return;
    }
    // Somebody compiled or imported something: that says nothing about sharing.
    if (phase.together / kAbsurd > phase.alone) return;
    // Where workers compute at the same time it nearly always pays, and a single poor
    // measurement is noise. Behind a lock the processors tell.
    const bool at_once = !one_at_a_time_ || processors(phase) > kAtOnce;
    if (at_once && ++poor_ < kNoise) return;
    const Time pause = phase.together * pause_;
    resume_at_ = add_time(now, one_at_a_time_ ? pause : std::min(pause, kLongest));
    pause_ = std::min(2 * pause_, one_at_a_time_ ? kLongestPauseLocked : kLongestPause);
    poor_ = 0;
  }

 private:
  /// Whether to refresh at this one of the first tags. Without a lock this is dear, and
  /// needed less: what a worker made is freed by that worker only, which sleeps while
  /// another replaces it, so large values take up memory twice.
  [[nodiscard]] auto early() const -> bool {
    return one_at_a_time_ ? std::has_single_bit(asked_)
                          : asked_ == 2 || asked_ == 16 || asked_ == 128;
  }

  static constexpr double kPaid = 0.95;
  static constexpr double kAtOnce = 1.4;
  static constexpr std::uint32_t kNoise = 4;
  static constexpr std::uint32_t kRefresh = 256;
  static constexpr Time kAbsurd = 10;
  /// Without a lock: what kept the cores busy may be over soon.
  static constexpr Time kLongest = 200'000'000;
  static constexpr Time kShortestPause = 30;
  static constexpr Time kLongestPause = 120;
  /// Behind a lock a single try decides, and the first may have taken memory into use
  /// that later ones find ready.
  static constexpr Time kShortestPauseLocked = 4;
  static constexpr Time kLongestPauseLocked = 3000;

  [[nodiscard]] static auto ratio(Time a, Time b) -> double {
    return static_cast<double>(a) / static_cast<double>(b);
  }

  /// How many processors a phase kept busy.
  [[nodiscard]] static auto processors(const Phase& phase) -> double {
    return ratio(phase.busy, phase.together);
  }

  /// Behind a lock it pays only for reactions that release it. How long work takes alone
  /// is a guess where work varies, and a little more processor time may just be the cost
  /// of passing the lock to and fro. So a gain must show in both, or very clearly in one.
  [[nodiscard]] static auto paid_behind_lock(const Phase& phase) -> bool {
    const double gain = ratio(phase.alone, phase.together);
    if (processors(phase) > kAtOnce) return gain > 1.1;
    if (processors(phase) < 0.7) return gain > 1.05;  // they waited outside at once
    return gain > 1.5;
  }

  bool one_at_a_time_;
  Time shortest_pause_;
  Time resume_at_ = 0;
  Time pause_;
  Epoch tag_ = 0;
  bool refresh_ = false;
  std::uint32_t asked_ = 0;  // for so many tags
  std::uint32_t poor_ = 0;
};

}  // namespace reactorl
