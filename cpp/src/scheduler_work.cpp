// SPDX-License-Identifier: Apache-2.0
// Within a tag: who runs which reaction, and when to call for help.
#include <algorithm>

#include "reactorl/scheduler.hpp"

namespace reactorl {
namespace {

constexpr Time kMicrosecond = 1'000;
constexpr Time kMillisecond = 1'000'000;

/// Work that is worth sharing must save this much. Calling a helper that looks out costs
/// a cache miss, one that sleeps a system call. Behind an interpreter lock every
/// hand-over also costs a switch of threads, so only long work can gain.
constexpr Time kWorthAlert = 5 * kMicrosecond;
constexpr Time kWorthAsleep = 15 * kMicrosecond;
constexpr Time kWorthLocked = 300 * kMicrosecond;
/// How often a worker without work looks for some before it leaves the host. With more
/// workers than cores it would only keep the core from one that has work.
constexpr int kLooks = 100;
constexpr int kLooksCrowded = 4;
/// How long it goes on looking from outside before it sleeps: longer than most reactions
/// of a wide tag take, as the last of them is what it waits for. Outside it keeps nobody
/// waiting who must stop all threads of the host.
constexpr Time kLookOut = 300 * kMicrosecond;
constexpr int kLooksPerGlance = 16;
/// How long it leaves reactions to the worker that they are at home with.
constexpr int kPoliteLooks = 16;
constexpr Time kNap = 50 * kMillisecond;

#if defined(__linux__)
__attribute__((tls_model("initial-exec")))
#endif
thread_local Worker* t_worker = nullptr;

}  // namespace

auto current_worker() noexcept -> Worker* { return t_worker; }

void Scheduler::trigger(ReactionId reaction) {
  if (!modes_.active(plan_.reactions[reaction].scope)) return;
  if (ready_.add(reaction)) urgency_.add(reaction);
}

void Scheduler::trigger_all(SlotId slot) {
  for (const ReactionId r : plan_.slot_reactions[slot]) trigger(r);
}

void Scheduler::set(Worker& worker, SlotId slot, Value value) {
  if (ports_.set(slot, std::move(value), epoch_)) {
    trigger_all(slot);
    if (!plan_.slot_stages[slot].empty()) worker.delayed.push_back(slot);
  }
  if (options_.trace && worker.reaction != kNone) worker.notes.set(slot);
}

void Scheduler::run_reactions() {
  if (ready_.finished()) return;
  considered_ = kNone;
  if (pool_ && (ready_.outstanding() > 1 || options_.stay_home)) {
    // At the start tag each reactor begins life on its home worker: objects are
    // cheapest for the thread that made them. At the final tag it ends there, with
    // whatever is bound to that thread. Under a lock that has no use.
    const bool turning = (epoch_ == 1 || ended_) && !options_.one_at_a_time;
    if (turning || options_.stay_home) {
      ready_.stay_home(true);
      call_for_help(plan_.workers - 1);
    }
  }
  work(workers_[0]);
  if (!pool_ || !pool_->is_open()) return;
  pool_->close([this] {
    if (!host_.poll()) break_off();
    if (broken_off_.load()) host_.hurry();
  });
  ready_.share(false);
  ready_.stay_home(false);
  const Time now = Clock::ticks_now();
  Gain::Phase phase{.alone = 0, .together = now - phase_began_, .busy = 0};
  workers_[0].shared_busy += options_.one_at_a_time ? Clock::thread_busy() : 0;
  Time by_others = 0;
  for (WorkerId w = 0; w < plan_.workers; ++w) {
    if (w > 0) by_others += workers_[w].shared_cost;
    phase.together -= std::exchange(workers_[w].solo, 0);
    phase.alone += std::exchange(workers_[w].shared_cost, 0);
    phase.busy += std::exchange(workers_[w].shared_busy, 0);
  }
  gain_.report(phase, now);
  if (helped_beside_ != kNone) {
    std::uint8_t& vain = vain_[helped_beside_];
    vain = by_others > 0 ? 0 : static_cast<std::uint8_t>(std::min(vain + 1, 12));
    vain_skip_[helped_beside_] = vain == 0 ? 0 : 1U << vain;
    helped_beside_ = kNone;
  }
}

void Scheduler::help(Worker& worker) {
  if (options_.one_at_a_time) worker.shared_busy -= Clock::thread_busy();
  work(worker);
  if (options_.one_at_a_time) worker.shared_busy += Clock::thread_busy();
}

void Scheduler::work(Worker& worker) {
  Worker* const outer = t_worker;  // a body may itself run a program
  t_worker = &worker;
  ready_.attend(worker.id, true);
  const bool polite = !crowded_ && pool_;
  while (!ready_.finished()) {
    ReactionId reaction = claim_urgent(worker);
    if (reaction == kNone) reaction = ready_.claim(worker.id, polite);
    if (reaction == kNone) reaction = wait_for_work(worker);
    if (reaction == kNone) continue;
    if (worker.id == 0 && pool_ && !pool_->is_open() && ready_.outstanding() > 1) {
      if (options_.shuffle != 0) {
        call_for_help(plan_.workers - 1);  // tests want many threads, not speed
        host_.leave(0);
        std::this_thread::yield();
        host_.enter(0);
      } else {
        consider_help(plan_.reactions[reaction].level);
        consider_help_beside(reaction);
      }
    }
    execute(worker, reaction);
  }
  ready_.attend(worker.id, false);
  t_worker = outer;
}

auto Scheduler::claim_urgent(const Worker& worker) -> ReactionId {
  if (!urgency_.any() || !pool_->is_open() || options_.shuffle != 0) return kNone;
  const LevelId level = ready_.current_level();
  ReactionId chosen = kNone;
  Time highest = 0;
  Time at_home = 0;
  urgency_.for_each([&](ReactionId r, Time rank) {
    if (!ready_.queued(r)) return;
    if (rank > highest) {
      highest = rank;
      chosen = r;
    }
    const Reaction& plan = plan_.reactions[r];
    if (plan.level == level && plan.home == worker.id) at_home = std::max(at_home, rank);
  });
  // What is at home here goes first unless the other is clearly more urgent.
  if (chosen == kNone || highest * 4 < at_home * 5) return kNone;
  return ready_.take_ahead(worker.id, chosen) ? chosen : kNone;
}

auto Scheduler::wait_for_work(Worker& worker) -> ReactionId {
  const auto seek = [&](bool polite) {
    const ReactionId ahead = ready_.look_ahead(worker.id);
    return ahead != kNone ? ahead : ready_.claim(worker.id, polite);
  };
  const int looks = options_.one_at_a_time ? 1 : crowded_ ? kLooksCrowded : kLooks;
  for (int i = 0; i < looks; ++i) {
    if (ready_.finished()) return kNone;
    if (const ReactionId r = seek(i < kPoliteLooks); r != kNone) return r;
    for (int j = 0; j < 8; ++j) pause_briefly();
  }
  host_.leave(worker.id);
  if (const bool patient = !options_.one_at_a_time && !crowded_; patient) {
    const Time until = Clock::ticks_now() + kLookOut;
    for (int i = 0; !ready_.finished(); ++i) {
      if (const ReactionId r = seek(false); r != kNone) {
        host_.enter(worker.id);
        return r;
      }
      for (int j = 0; j < 8; ++j) pause_briefly();
      if (i % kLooksPerGlance == 0 && Clock::ticks_now() >= until) break;
    }
  }
  idle_.fetch_add(1);
  const std::uint32_t seen = changed_.epoch();
  ReactionId found = kNone;  // looked for once more, now that others would tell
  if (!ready_.finished()) {
    found = seek(false);
    if (found == kNone && !ready_.finished()) {
      ready_.attend(worker.id, false);
      changed_.wait(seen, kNap);
      ready_.attend(worker.id, true);
    }
  }
  idle_.fetch_sub(1);
  host_.enter(worker.id);
  if (worker.id == 0) {
    if (!host_.poll()) break_off();
    if (broken_off_.load()) host_.hurry();
  }
  return found;
}

auto Scheduler::skipped(ReactionId reaction) const -> bool {
  if (broken_off_.load(std::memory_order_relaxed)) return true;
  const std::uint64_t failed = failed_at_.load(std::memory_order_relaxed);
  return failed != ~std::uint64_t{0} && trace_key(levels_[reaction], reaction) > failed;
}

void Scheduler::execute(Worker& worker, ReactionId reaction) {
  // After a failure everything that comes before it in the fixed order still runs, so
  // that the failure that is reported does not depend on timing.
  if (!skipped(reaction)) {
    const Reaction& plan = plan_.reactions[reaction];
    const Time deadline = deadlines_[reaction];
    Lateness lateness = deadline == 0 ? Lateness::kLate : Lateness::kOnTime;
    if (deadline > 0) lateness = host_.late(reaction, add_time(now_.time, deadline));
    const bool missed = lateness == Lateness::kLate;
    const bool open = pool_ && pool_->is_open();
    // The last reaction of a tag has nobody beside it, however many could be: it says
    // nothing about sharing, and if it waits, a phase would seem not to have paid.
    const bool solo = open && options_.one_at_a_time && ready_.outstanding() == 1;
    const bool shared = open && !solo;
    if (shared) worker.shared_cost += costs_.alone(reaction);
    if (solo) leave_phase(worker);
    worker.reaction = reaction;
    if (options_.trace) worker.notes.begin(trace_key(plan.level, reaction), missed);
    bool ok = lateness != Lateness::kFailed;
    if (!ok) {
      // The host keeps the failure; the body does not run.
    } else if (plan.forward_from != kNone) {
      // Another channel of the same multiport may have triggered it.
      if (present(plan.forward_from)) {
        set(worker, plan.forward_to, ports_.value(plan.forward_from).copy());
      }
    } else {
      ok = invoke(worker, reaction, missed, shared);
    }
    if (options_.trace) worker.notes.end(ports_, host_, log_.kept());
    worker.reaction = kNone;
    if (solo) rejoin_phase(worker);
    if (!ok) {
      const std::uint64_t key = trace_key(plan.level, reaction);
      std::uint64_t least = failed_at_.load();
      while (key < least && !failed_at_.compare_exchange_weak(least, key)) {
      }
    }
  }
  ready_.finish(worker.id, reaction);
  if (idle_.load() > 0) changed_.raise();
}

auto Scheduler::invoke(Worker& worker, ReactionId reaction, bool missed, bool shared)
    -> bool {
  const bool sampled = costs_.start(reaction);
  if (!sampled && !timings_) return host_.invoke(reaction, missed);
  const Time begin = Clock::ticks_now();
  const bool ok = host_.invoke(reaction, missed);
  const Time end = Clock::ticks_now();
  // Time behind an interpreter lock is mostly waiting, not cost.
  if (sampled && shared && options_.one_at_a_time) {
    costs_.stop_waiting(reaction, end - begin);
  } else if (sampled) {
    costs_.stop(reaction, end - begin, shared);
  }
  if (timings_) timings_->note(worker.id, {epoch_, reaction, missed, begin, end});
  return ok;
}

void Scheduler::leave_phase(Worker& worker) {
  worker.solo -= Clock::ticks_now();
  worker.shared_busy += Clock::thread_busy();
}

void Scheduler::rejoin_phase(Worker& worker) {
  worker.solo += Clock::ticks_now();
  worker.shared_busy -= Clock::thread_busy();
}

void Scheduler::consider_help(LevelId level) {
  if (level == considered_) return;
  considered_ = level;
  Time sum = 0;
  Time longest = 0;
  std::uint32_t count = 1;
  ready_.for_each_queued(level, [&](ReactionId r) {
    const Time cost = costs_.recent(r);
    sum += cost;
    longest = std::max(longest, cost);
    return ++count < 256;
  });
  if (count < 2) return;
  // The taken one is like the others, near enough.
  sum += sum / (count - 1);
  const Time saved = sum - std::max(sum / plan_.workers, longest);
  const Time worth = options_.one_at_a_time ? kWorthLocked
                     : pool_->alert() > 0   ? kWorthAlert
                                            : kWorthAsleep;
  if (saved >= worth && gain_.worthwhile(Clock::ticks_now(), epoch_)) {
    call_for_help(std::min(plan_.workers, count) - 1);
  }
}

void Scheduler::consider_help_beside(ReactionId reaction) {
  if (pool_->is_open()) return;
  const Time worth = options_.one_at_a_time ? kWorthLocked : 4 * kWorthAsleep;
  if (costs_.recent(reaction) < worth) return;
  if (vain_skip_[reaction] > 0) {
    --vain_skip_[reaction];
    return;
  }
  if (!gain_.worthwhile(Clock::ticks_now(), epoch_)) return;
  helped_beside_ = reaction;
  call_for_help(std::min(plan_.workers, ready_.outstanding()) - 1);
}

void Scheduler::call_for_help(WorkerId helpers) {
  phases_.add(1);
  phase_began_ = Clock::ticks_now();
  if (options_.one_at_a_time) workers_[0].shared_busy = -Clock::thread_busy();
  ready_.share(true);
  pool_->open(helpers);
}

}  // namespace reactorl
