// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "reactorl/event_queue.hpp"
#include "reactorl/ids.hpp"
#include "reactorl/sharing_policy.hpp"
#include "reactorl/trace_log.hpp"

namespace reactorl {

class Scheduler;

/// What a thread that runs reactions has of its own.
struct alignas(64) Worker {
  Scheduler* scheduler = nullptr;
  void* context = nullptr;   // the host's own, see `Scheduler::set_context`
  std::uint64_t serial = 0;  // of the scheduler: never the same for two of them
  WorkerId id = 0;
  ReactionId reaction = kNone;  // the one whose body runs now
  bool inside = true;           // has entered the host
  TraceNotes notes;
  std::vector<EventQueue::Entry> outbox;  // scheduled in this tag, merged at its end
  std::vector<SlotId> delayed;            // slots set in this tag that stages wait for
  PhaseShare share;
  bool dozed = false;  // nothing has changed in its last sleep
};

/// The worker that the calling thread is, while it runs a body; null elsewhere.
[[nodiscard]] auto current_worker() noexcept -> Worker*;

}  // namespace reactorl
