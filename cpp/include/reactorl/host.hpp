// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "reactorl/ids.hpp"
#include "reactorl/tag.hpp"
#include "reactorl/value.hpp"

namespace reactorl {

/// Whether a reaction with a deadline starts in time.
enum class Lateness : std::uint8_t {
  kOnTime,
  kLate,
  kFailed,  // could not be determined: the reaction fails without running
};

/// What runs the bodies that are not native: a Python interpreter, or a test. The
/// scheduler calls it; all calls but `thread_begins`, `thread_ends`, `enter` and
/// `watches_clock` come from a thread that has entered. So do those of `late`, unless
/// the reaction is native and the host does not watch the clock.
class Host {
 public:
  Host() = default;
  Host(const Host&) = delete;
  auto operator=(const Host&) -> Host& = delete;
  virtual ~Host() = default;

  /// Runs the body of `reaction`, or its deadline handler if `missed`. False: it
  /// failed, and the run shall end.
  virtual auto invoke(ReactionId reaction, bool missed) noexcept -> bool = 0;
  /// Whether a reaction that is due at `due` starts too late. Asked once per start.
  virtual auto late(ReactionId reaction, Time due) noexcept -> Lateness = 0;
  /// Whether `late` and `read_clock` have to be called inside of the host: it records
  /// or replays what the clock said. Does not change during a run.
  [[nodiscard]] virtual auto watches_clock() const noexcept -> bool { return false; }
  /// What the native body of `reaction` reads from the physical clock instead of `now`;
  /// nothing: it fails. Called only if the host watches the clock.
  virtual auto read_clock(ReactionId /*reaction*/, Time now) noexcept
      -> std::optional<Time> {
    return now;
  }
  /// What a trace keeps of a value that was set; nothing if that is `last`, which it
  /// kept of the same slot before.
  virtual auto snapshot(const Value& value, const void* last) noexcept
      -> std::optional<Value> = 0;
  /// An event that came from the physical world is about to fire.
  virtual void delivered(TriggerId trigger, Tag tag, const Value& value) noexcept = 0;

  /// A worker's thread starts and ends. Worker 0 is the caller's thread and gets none.
  virtual void thread_begins(WorkerId worker) noexcept = 0;
  virtual void thread_ends(WorkerId worker) noexcept = 0;
  /// The thread may run bodies after `enter` and must not between `leave` and `enter`.
  /// A thread that waits has left, so it never holds up the interpreter.
  virtual void enter(WorkerId worker) noexcept = 0;
  virtual void leave(WorkerId worker) noexcept = 0;
  /// Handles signals; false if the run shall be broken off. Only worker 0.
  virtual auto poll() noexcept -> bool = 0;
  /// Worker 0 waits for others to return from bodies though the run was broken off.
  virtual void hurry() noexcept = 0;
};

}  // namespace reactorl
