# SPDX-License-Identifier: Apache-2.0
"""Mutants of the C++ core, compiled into its tests."""

from __future__ import annotations

from typing import Final

from mutants.mutant import CPP_TESTS, Mutant

_SRC: Final = "cpp/src/"
_INCLUDE: Final = "cpp/include/reactorl/"


def _tests(*names: str) -> tuple[str, ...]:
    return tuple(f"{CPP_TESTS}{name}_test.cpp" for name in names)


_EVENTS: Final = (
    Mutant(
        "core-event-exactly-at-the-spacing-is-too-soon",
        _SRC + "agenda.cpp",
        "tag <= last : tag.time < earliest.time;",
        "tag <= last : tag.time <= earliest.time;",
        _tests("scheduler_actions"),
        "A policy is applied to events that keep the minimum spacing.",
    ),
    Mutant(
        "core-spacing-zero-allows-two-events-at-a-tag",
        _SRC + "agenda.cpp",
        "trigger.spacing == 0 ? tag <= last :",
        "trigger.spacing == 0 ? tag < last :",
        _tests("scheduler_actions"),
        "Policies are not applied to simultaneous events.",
    ),
    Mutant(
        "core-policy-update-keeps-the-old-event",
        _SRC + "agenda.cpp",
        "case Policy::kUpdate: static_cast<void>(state.pending.take(last)); break;",
        "case Policy::kUpdate: break;",
        _tests("scheduler_actions"),
        "An alarm that was moved also rings at its old time.",
    ),
    Mutant(
        "core-policy-replace-ignores-the-spacing",
        _SRC + "agenda.cpp",
        """\
          if (state.pending.replace(last, value)) return last;
          tag = earliest;
""",
        """\
          if (state.pending.replace(last, value)) return last;
""",
        _tests("scheduler_actions"),
        "Events come closer together than the minimum spacing.",
    ),
    Mutant(
        "core-drop-forgets-to-drop",
        _SRC + "agenda.cpp",
        "case Policy::kDrop: return std::nullopt;",
        "case Policy::kDrop: tag = earliest; break;",
        _tests("scheduler_actions"),
        "Policy drop defers.",
    ),
    Mutant(
        "core-reset-of-a-mode-remembers-the-last-event",
        _SRC + "agenda.cpp",
        "    state.has_last = false;\n",
        "",
        _tests("scheduler_modes"),
        "A mode that was reset delays its first event.",
    ),
    Mutant(
        "core-spacing-counts-time-outside-of-the-mode",
        _SRC + "agenda.cpp",
        "    if (state.has_last) state.last.time = "
        "add_time(last.time, now.time - left_at);\n",
        "",
        _tests("scheduler_modes"),
        "Spacing in a mode is not in the mode's local time.",
    ),
    Mutant(
        "core-time-goes-on-in-inactive-modes",
        _SRC + "agenda.cpp",
        "std::max<Time>(event.tag.time - left_at, 0)",
        "std::max<Time>(event.tag.time - now.time, 0)",
        _tests("scheduler_modes"),
        "Events of a mode that is resumed come too early.",
    ),
    Mutant(
        "core-stale-entries-count-as-tags",
        _SRC + "agenda.cpp",
        "if (is_valid(queue_.top())) return",
        "if (queue_.size() > 0) return",
        _tests("scheduler_actions", "scheduler_modes"),
        "A program goes through tags at which nothing happens, or never ends.",
    ),
    Mutant(
        "core-event-at-the-last-tag-is-discarded",
        _SRC + "agenda.cpp",
        "if (tag > stop_ || tag.time == kForever) return std::nullopt;",
        "if (tag >= stop_ || tag.time == kForever) return std::nullopt;",
        _tests("scheduler_actions", "scheduler"),
        "The final tag lacks its events.",
    ),
    Mutant(
        "core-replay-delivers-into-inactive-modes",
        _SRC + "agenda.cpp",
        "if (value && recorded(trigger) && "
        "!modes_.active(plan_.triggers[trigger].scope)) {",
        "if (value && recorded(trigger) && false) {",
        _tests("scheduler_drive"),
        "A replay differs from the recorded run.",
    ),
    Mutant(
        "core-replay-suspends-recorded-events",
        _SRC + "agenda.cpp",
        "triggers_[t].suspended = !recorded(t);",
        "triggers_[t].suspended = true;",
        _tests("scheduler_drive"),
        "A replay loses events of modes that are entered again.",
    ),
    Mutant(
        "core-startup-in-a-mode-is-forgotten",
        _SRC + "agenda.cpp",
        "if (due(plan_.startup, first_entered_) || due(plan_.reset, reset_entered_)) {",
        "if (due(plan_.reset, reset_entered_)) {",
        _tests("scheduler_modes"),
        "Startup reactions of a mode that is entered later never run.",
    ),
    Mutant(
        "core-stale-entries-are-never-removed",
        _SRC + "scheduler.cpp",
        "  agenda_.compact();\n",
        "",
        _tests("memory"),
        "A program that keeps moving an alarm fills the memory.",
    ),
    Mutant(
        "core-taken-events-stay-in-memory",
        _SRC + "event_queue.cpp",
        "} else if (head_ > 64 && head_ > events_.size() / 2) {",
        "} else if (head_ > events_.size()) {",
        _tests("memory"),
        "An action that always has an event pending fills the memory.",
    ),
    Mutant(
        "core-taken-events-come-again",
        _SRC + "event_queue.cpp",
        """\
  events_.erase(events_.begin(), events_.begin() + static_cast<std::ptrdiff_t>(head_));
  head_ = 0;
  return std::exchange""",
        """\
  head_ = 0;
  return std::exchange""",
        _tests("event_queue"),
        "A mode that is resumed repeats events.",
    ),
    Mutant(
        "core-equal-entries-are-kept-twice",
        _SRC + "event_queue.cpp",
        "  heap_.erase(twice.begin(), twice.end());\n",
        "",
        _tests("event_queue"),
        "The event queue grows with every replaced payload.",
    ),
    Mutant(
        "core-outboxes-are-merged-again",
        _SRC + "scheduler.cpp",
        "    worker.outbox.clear();\n",
        "",
        _tests("memory"),
        "Every tag takes longer than the one before.",
    ),
    Mutant(
        "core-negative-delay-shortens-the-minimum-delay",
        _SRC + "scheduler.cpp",
        "const Time delay = add_time(std::max<Time>(extra, 0), trigger.delay);",
        "const Time delay = extra + trigger.delay;",
        _tests("scheduler_actions"),
        "An event comes before the minimum delay of its action.",
    ),
)

_TAGS: Final = (
    Mutant(
        "core-delayed-values-come-in-the-order-of-workers",
        _SRC + "scheduler.cpp",
        "  if (stages.size() > 1) std::ranges::sort(stages);\n",
        "",
        _tests("scheduler_random"),
        "Traces depend on which worker ran which reaction.",
    ),
    Mutant(
        "core-shutdown-in-modes-that-were-never-entered",
        _SRC + "scheduler.cpp",
        "if (agenda_.modes().visited(plan_.reactions[r].scope)) executor_.add(r);",
        "executor_.add(r);",
        _tests("scheduler_modes"),
        "Shutdown reactions run without their startup reactions.",
    ),
    Mutant(
        "core-event-before-a-sleep-is-overlooked",
        _SRC + "scheduler.cpp",
        "  if ((stop_requested_.load() && !gate_) || inbox_.waiting()) return false;\n",
        "",
        _tests("scheduler_physical"),
        "A physical event is handled only when the program wakes up for another one.",
    ),
    Mutant(
        "core-step-leaves-out-later-microsteps",
        _SRC + "scheduler.cpp",
        "if (next.time > tag.time) break;",
        "if (next > tag) break;",
        _tests("scheduler_drive"),
        "The outputs of a step come with the next step.",
    ),
    Mutant(
        "core-physical-events-enter-inactive-modes",
        _SRC + "scheduler.cpp",
        "    if (!agenda_.modes().active(plan_.triggers[event.trigger].scope)) "
        "continue;\n",
        "",
        _tests("scheduler_modes"),
        "An event that came while its mode was inactive happens later.",
    ),
    Mutant(
        "core-stop-request-ends-at-the-current-time-plus-one",
        _SRC + "scheduler.cpp",
        "    stop_requested_.store(false);\n    agenda_.stop_by(next_microstep(now_));",
        "    stop_requested_.store(false);\n    agenda_.stop_by({now_.time + 1, 0});",
        _tests("scheduler"),
        "request_stop() does not take effect at the next microstep.",
    ),
    Mutant(
        "core-nested-modes-continue-after-a-reset",
        _SRC + "modes.cpp",
        "modal.reset = true;",
        "modal.reset = false;",
        _tests("modes"),
        "A reset does not reach the modes inside the mode.",
    ),
    Mutant(
        "core-mode-is-reset-again",
        _SRC + "modes.cpp",
        "      state.reset_due = false;\n",
        "",
        _tests("modes"),
        "Every switch of any mode resets a mode that was reset once.",
    ),
    Mutant(
        "core-mode-is-entered-for-the-first-time-again",
        _SRC + "modes.cpp",
        "      state.visited = true;\n      change",
        "      change",
        _tests("modes"),
        "Startup reactions of a mode run at each entry.",
    ),
    Mutant(
        "core-first-failure-in-time-is-reported",
        _SRC + "executor.cpp",
        "while (key < least &&",
        "while (least == kLastKey &&",
        _tests("scheduler_failure"),
        "The trace of a failed run depends on timing.",
    ),
    Mutant(
        "core-reactions-before-a-failure-are-skipped",
        _SRC + "executor.cpp",
        """\
  return failed != kLastKey &&
         trace_key(plan_.reactions[reaction].level, reaction) > failed;""",
        "  return failed != kLastKey && reaction != kNone;",
        _tests("scheduler_failure"),
        "Which failure is reported depends on timing.",
    ),
    Mutant(
        "core-deadline-zero-asks-the-clock",
        _SRC + "executor.cpp",
        "  if (deadline == 0) return Lateness::kLate;\n",
        "",
        _tests("scheduler_failure"),
        "A deadline of zero is met on a fast machine.",
    ),
    Mutant(
        "core-length-of-a-deadline-is-ignored",
        _SRC + "executor.cpp",
        "host_.late(reaction, add_time(time_, deadline))",
        "host_.late(reaction, time_)",
        _tests("scheduler_failure"),
        "Reactions miss deadlines that they meet.",
    ),
    Mutant(
        "core-absent-values-are-forwarded",
        _SRC + "executor.cpp",
        "} else if (ports_.present(plan.forward_from, epoch_)) {",
        "} else {",
        _tests("scheduler"),
        "An old value arrives again at the end of a connection in a mode.",
    ),
    Mutant(
        "core-reactions-of-inactive-modes-are-triggered",
        _SRC + "executor.cpp",
        "  if (!modes_.active(plan_.reactions[reaction].scope)) return;\n",
        "",
        _tests("scheduler_modes"),
        "Reactions run although their mode is inactive.",
    ),
)

_WORKERS: Final = (
    Mutant(
        "core-first-question-about-claims-is-left-out",
        _SRC + "ready_queue.cpp",
        "    if (other != worker && running_[other].running.load() == kClaiming) "
        "return kNone;\n",
        "",
        _tests("interleavings"),
        "A reaction runs before one that must precede it, once in a million runs.",
    ),
    Mutant(
        "core-claim-is-not-announced",
        _SRC + "ready_queue.cpp",
        "    if (shared_) running_[worker].running.store(kClaiming);\n    const",
        "    const",
        _tests("interleavings"),
        "A reaction runs before one that must precede it.",
    ),
    Mutant(
        "core-queued-reactions-block-nothing",
        _SRC + "ready_queue.cpp",
        "        blockers[blocker_count++] = reaction;\n",
        "",
        _tests("interleavings"),
        "A reaction runs before one that must precede it.",
    ),
    Mutant(
        "core-taken-reaction-is-not-announced",
        _SRC + "ready_queue.cpp",
        """\
stamp(kRunning))) return false;
    running_[worker].running.store(reaction);
""",
        """\
stamp(kRunning))) return false;
""",
        _tests("ready_queue"),
        "No worker looks ahead while another one runs a long reaction.",
    ),
    Mutant(
        "core-state-is-not-compared-when-a-reaction-is-taken",
        _SRC + "ready_queue.cpp",
        "    if (!state_[reaction].compare_exchange_strong(queued, stamp(kRunning))) "
        "return false;\n",
        "    if (state_[reaction].load() != queued) return false;\n"
        "    state_[reaction].store(stamp(kRunning));\n",
        _tests("interleavings"),
        "Two workers run the same reaction at a tag.",
    ),
    Mutant(
        "core-finished-reaction-is-queued-again",
        _SRC + "ready_queue.cpp",
        "if (old >= queued) return false;",
        "if (old == queued) return false;",
        _tests("ready_queue"),
        "A reaction runs twice at a tag.",
    ),
    Mutant(
        "core-workers-leave-home",
        _SRC + "ready_queue.cpp",
        "const WorkerId reach = strict_home_ && shared_ ? 1 : workers_;",
        "const WorkerId reach = workers_;",
        _tests("ready_queue"),
        "stay_home has no effect.",
    ),
    Mutant(
        "core-unknown-order-means-no-order",
        _SRC + "reach.cpp",
        "return set == nullptr ||",
        "return set != nullptr &&",
        _tests("reach"),
        "In a large program a reaction runs before one that must precede it.",
    ),
    Mutant(
        "core-lost-races-use-up-the-budget",
        _SRC + "reach.cpp",
        "    budget_.fetch_add(bytes);\n    return expected;",
        "    return expected;",
        _tests("interleavings"),
        "Workers stop looking ahead after a while.",
    ),
    Mutant(
        "core-rank-adds-up-all-successors",
        _SRC + "urgency.cpp",
        "after = std::max(after, ranks_[next]);",
        "after += ranks_[next];",
        _tests("urgency"),
        "Wide programs run in a bad order.",
    ),
    Mutant(
        "core-sharing-always-seems-to-pay",
        _SRC + "sharing_policy.cpp",
        "if (!one_at_a_time_) return gain >= tuning::kPaid;",
        "if (!one_at_a_time_) return gain >= 0;",
        _tests("sharing_policy"),
        "A program is slower with several workers where other programs have the cores.",
    ),
    Mutant(
        "core-more-helpers-come-than-were-called",
        _SRC + "worker_pool.cpp",
        "places_.store((next << kPlaceBits) | helpers);",
        "places_.store((next << kPlaceBits) | (helpers + 1));",
        _tests("worker_pool"),
        "Workers spin for work that is not there.",
    ),
    Mutant(
        "core-helpers-work-after-the-phase",
        _SRC + "worker_pool.cpp",
        "if (phase_.load() == phase) work_(worker);",
        "work_(worker);",
        _tests("worker_pool"),
        "A late worker changes the state of a tag that is over.",
    ),
)

_RECORDS: Final = (
    Mutant(
        "core-trace-keeps-what-ran-after-a-failure",
        _SRC + "trace_log.cpp",
        "if (key <= last) refs_.push_back",
        "refs_.push_back",
        _tests("trace_log"),
        "The trace of a failed run depends on timing.",
    ),
    Mutant(
        "core-trace-is-in-the-order-of-workers",
        _SRC + "trace_log.cpp",
        "    std::ranges::sort(refs_, {}, &Ref::key);\n",
        "",
        _tests("trace_log"),
        "Traces of two runs differ.",
    ),
    Mutant(
        "core-trace-times-count-from-the-start",
        _SRC + "trace_log.cpp",
        "    time_ = tag.time;\n",
        "",
        _tests("trace_log"),
        "A trace has wrong times.",
    ),
    Mutant(
        "core-trace-notes-a-port-twice",
        _SRC + "trace_log.cpp",
        "    sets_.erase(twice.begin(), twice.end());\n",
        "",
        _tests("trace_log"),
        "A trace has a value for each call of set().",
    ),
    Mutant(
        "core-trace-repeats-values",
        _SRC + "trace_log.cpp",
        "    kept[slot] = value->get();\n",
        "",
        _tests("trace_log"),
        "Traces are many times larger.",
    ),
    Mutant(
        "core-first-run-counts-as-usual-cost",
        _INCLUDE + "costs.hpp",
        "e.recent = e.measured.get() <= 2",
        "e.recent = e.measured.get() <= 1",
        _tests("costs"),
        "Imports in the first run make a reaction seem expensive.",
    ),
    Mutant(
        "core-early-events-do-not-count-from-the-start",
        _INCLUDE + "inbox.hpp",
        "    for (Event& event : events_) event.stamp = "
        "add_time(clock.start_time(), event.stamp);\n",
        "",
        _tests("inbox"),
        "A physical event from before the start has a time long ago.",
    ),
    Mutant(
        "core-published-tag-may-be-torn",
        _INCLUDE + "published.hpp",
        "if (before == after && (before & 1U) == 0) return tag;",
        "if ((before & 1U) == 0 || after == 0) return tag;",
        _tests("interleavings"),
        "Another thread reads a tag that never was.",
    ),
    Mutant(
        "core-recent-invocations-are-out-of-order",
        _INCLUDE + "timings.hpp",
        "for (std::size_t i = next_; i < items_.size(); ++i) visit(items_[i]);",
        "for (std::size_t i = items_.size(); i > next_; --i) visit(items_[i - 1]);",
        _tests("timings"),
        "A timeline shows invocations in the wrong order.",
    ),
    Mutant(
        "core-area-sums-overflow",
        "cpp/rl/area_mean.hpp",
        "std::numeric_limits<Sum>::max() / 255;",
        "std::numeric_limits<Sum>::max() / 128;",
        _tests("area_mean"),
        "White areas of resized frames become dark.",
    ),
)

CORE: Final = (*_EVENTS, *_TAGS, *_WORKERS, *_RECORDS)
