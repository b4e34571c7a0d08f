// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reactorl.h"
#include "reactorl/ids.hpp"
#include "reactorl/plan.hpp"
#include "reactorl/trace_log.hpp"
#include "reactorl/worker.hpp"

namespace reactorl {

// NOLINTBEGIN(readability-redundant-member-init): gcc wants these initializers.

/// An input or effect of a native body, by its number in `reactorl.h`.
struct NativeElement {
  enum class Kind : std::uint8_t { kPort, kAction, kMode };
  Kind kind = Kind::kPort;
  bool physical = false;  // an action
  bool by_reset = true;   // how a mode is entered
  reactorl_type type = REACTORL_NONE;
  std::vector<SlotId> slots{};  // channels of a port, or the one of an action
  TriggerId trigger = kNone;    // an action
  ModeId mode = kNone;
  std::string name{};  // for messages
};

/// What a reaction runs instead of bodies of the host.
struct NativeReaction {
  reactorl_function body = nullptr;     // null: not native
  reactorl_function handler = nullptr;  // null: not native, or none
  void* state = nullptr;
  bool stops = false;  // may end the program
  std::vector<NativeElement> inputs{};
  std::vector<NativeElement> effects{};
};

// NOLINTEND(readability-redundant-member-init)

/// Runs native bodies, and keeps why some failed.
///
/// Thread safety: reactions are set before the run. Any worker may `invoke`.
class NativeBodies {
 public:
  struct Failure {
    std::int32_t code = 0;
    std::string message;
  };

  explicit NativeBodies(const Plan& plan) : plan_(plan) {}

  /// Before the run.
  void set(ReactionId reaction, NativeReaction native);
  /// Runs the body of `reaction`, or its deadline handler if `missed`, on the thread of
  /// `worker`. False: it failed.
  auto invoke(Worker& worker, ReactionId reaction, bool missed) noexcept -> bool;
  /// The failure that is first in the fixed order; kLastKey if there is none.
  [[nodiscard]] auto first_failure() -> std::pair<TraceKey, Failure>;

 private:
  const Plan& plan_;
  std::vector<NativeReaction> reactions_;  // by id, as far as there are native ones
  std::mutex mutex_;
  std::map<TraceKey, Failure> failures_;  // guarded by mutex_
};

}  // namespace reactorl
