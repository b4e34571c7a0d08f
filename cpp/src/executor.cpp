// SPDX-License-Identifier: Apache-2.0
#include "reactorl/executor.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include "reactorl/clock.hpp"
#include "reactorl/gate.hpp"
#include "reactorl/tuning.hpp"

namespace reactorl {
namespace {

#if defined(__linux__)
__attribute__((tls_model("initial-exec")))
#endif
thread_local Worker* t_worker = nullptr;

void pause_between_looks() {
  for (int i = 0; i < tuning::kPausesPerLook; ++i) pause_briefly();
}

// Time in which a worker runs the only reaction that is left is not the phase's.
void leave_phase(Worker& worker) {
  worker.share.solo -= Clock::ticks_now();
  worker.share.busy += Clock::thread_busy();
}

void rejoin_phase(Worker& worker) {
  worker.share.solo += Clock::ticks_now();
  worker.share.busy -= Clock::thread_busy();
}

}  // namespace

auto current_worker() noexcept -> Worker* { return t_worker; }

Executor::Executor(const Plan& plan, const Options& options, Host& host, PortStore& ports,
                   const Modes& modes, NativeBodies& natives, TraceLog* log,
                   Timings* timings)
    : plan_(plan),
      options_(options),
      host_(host),
      ports_(ports),
      modes_(modes),
      natives_(natives),
      log_(log),
      timings_(timings),
      ready_(plan, options.shuffle),
      costs_(plan.reactions.size()),
      urgency_(plan),
      policy_(plan, options.one_at_a_time, costs_),
      workers_(std::make_unique<Worker[]>(plan.workers)),
      crowded_(plan.workers > std::max(1U, std::thread::hardware_concurrency())),
      mixed_(plan.has_native()) {
  deadlines_.reserve(plan.reactions.size());
  for (const Reaction& r : plan.reactions) deadlines_.push_back(r.deadline);
  if (plan.workers > 1) {
    const bool locked = options.one_at_a_time && !mixed_;
    const Time spin = locked ? 0 : tuning::kSpinBetweenPhases;
    // With native bodies a helper enters the host when it has found a body that needs it.
    pool_ = std::make_unique<WorkerPool>(WorkerPool::Options{plan.workers, spin, mixed_},
                                         host, [this](WorkerId w) { help(workers_[w]); });
    for (WorkerId w = 1; w < plan.workers; ++w) workers_[w].inside = !mixed_;
  }
}

Executor::~Executor() = default;

void Executor::dismiss() {
  if (!pool_) return;
  host_.leave(0);
  pool_.reset();
  host_.enter(0);
}

void Executor::break_off() {
  broken_off_.store(true);
  changed_.raise();
}

void Executor::poll() {
  enter(workers_[0]);
  if (!host_.poll()) break_off();
  if (broken_off_.load()) host_.hurry();
}

// ---- In and out of the host --------------------------------------------------------

void Executor::enter(Worker& worker) {
  if (worker.inside) return;
  host_.enter(worker.id);
  worker.inside = true;
}

void Executor::leave(Worker& worker) {
  if (!worker.inside) return;
  host_.leave(worker.id);
  worker.inside = false;
}

auto Executor::read_clock(Worker& worker, Time now) -> std::optional<Time> {
  if (!host_.watches_clock()) return now;
  enter(worker);
  const std::optional<Time> time = host_.read_clock(worker.reaction, now);
  leave(worker);
  return time;
}

// ---- Triggering -------------------------------------------------------------------

void Executor::begin(Epoch epoch, Time time) {
  epoch_ = epoch;
  time_ = time;
  ready_.begin(epoch);
  if (!pool_) return;
  urgency_.begin();
  urgency_.refresh(costs_, epoch - 1);
}

void Executor::trigger(ReactionId reaction) {
  if (!modes_.active(plan_.reactions[reaction].scope)) return;
  if (ready_.add(reaction)) urgency_.add(reaction);
}

void Executor::set(Worker& worker, SlotId slot, Value value) {
  if (ports_.set(slot, std::move(value), epoch_)) now_present(worker, slot);
  if (log_ != nullptr && worker.reaction != kNone) worker.notes.set(slot);
}

auto Executor::set_native(Worker& worker, SlotId slot, const void* data) -> void* {
  const reactorl_type type = plan_.type_of(slot);
  NativeValue* value = ports_.unshared(slot);
  if (value == nullptr) {
    value = data == nullptr ? NativeValue::make(type) : NativeValue::make(type, data);
    void* const memory = value->data();
    set(worker, slot, Value::adopt(value));
    return memory;
  }
  value->assign(data);
  if (ports_.mark(slot, epoch_)) now_present(worker, slot);
  if (log_ != nullptr) worker.notes.set(slot);
  return value->data();
}

void Executor::now_present(Worker& worker, SlotId slot) {
  for (const ReactionId r : plan_.slot_reactions[slot]) trigger(r);
  if (!plan_.slot_stages[slot].empty()) worker.delayed.push_back(slot);
}

// ---- Phases -----------------------------------------------------------------------

void Executor::run(bool at_home) {
  if (ready_.finished()) return;
  if (!pool_) {
    work(workers_[0]);
    return;
  }
  policy_.begin_tag(epoch_);
  // At the start tag each reactor begins on its home worker: objects are cheapest for
  // the thread that made them. At the final tag it ends there, with whatever is bound to
  // that thread. Under an interpreter lock that has no use.
  const bool turning = at_home && !options_.one_at_a_time && ready_.outstanding() > 1;
  if (turning || options_.stay_home) {
    ready_.stay_home(true);
    open_phase(plan_.workers - 1);
  }
  work(workers_[0]);
  if (pool_->is_open()) close_phase();
}

void Executor::consider_sharing(ReactionId next) {
  if (options_.shuffle != 0) {
    open_phase(plan_.workers - 1);  // tests want many threads, not speed
    leave(workers_[0]);
    std::this_thread::yield();
    if (!mixed_) enter(workers_[0]);
    return;
  }
  const WorkerId helpers = policy_.helpers_for(next, ready_, pool_->spinning());
  if (helpers > 0) open_phase(helpers);
}

void Executor::open_phase(WorkerId helpers) {
  phases_.add(1);
  phase_began_ = Clock::ticks_now();
  if (options_.one_at_a_time) workers_[0].share.busy = -Clock::thread_busy();
  ready_.share(true);
  pool_->open(helpers);
}

void Executor::close_phase() {
  pool_->close([this] { poll(); });
  ready_.share(false);
  ready_.stay_home(false);
  if (options_.one_at_a_time) workers_[0].share.busy += Clock::thread_busy();
  Phase phase{.together = Clock::ticks_now() - phase_began_};
  for (Worker& worker : workers()) {
    const PhaseShare share = std::exchange(worker.share, {});
    phase.alone += share.cost;
    phase.by_others += worker.id > 0 ? share.cost : 0;
    phase.busy += share.busy;
    phase.together -= share.solo;
  }
  policy_.phase_ended(phase);
}

void Executor::help(Worker& worker) {
  if (options_.one_at_a_time) worker.share.busy -= Clock::thread_busy();
  work(worker);
  if (mixed_) leave(worker);
  if (options_.one_at_a_time) worker.share.busy += Clock::thread_busy();
}

// ---- Finding work -----------------------------------------------------------------

void Executor::work(Worker& worker) {
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
      consider_sharing(reaction);
    }
    execute(worker, reaction);
  }
  ready_.attend(worker.id, false);
  if (worker.id == 0) enter(worker);
  t_worker = outer;
}

auto Executor::claim_urgent(const Worker& worker) -> ReactionId {
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
  if (chosen == kNone || highest * 100 < at_home * tuning::kUrgentPercent) return kNone;
  return ready_.take_ahead(worker.id, chosen) ? chosen : kNone;
}

auto Executor::seek(const Worker& worker, bool polite) -> ReactionId {
  const ReactionId ahead = ready_.look_ahead(worker.id);
  return ahead != kNone ? ahead : ready_.claim(worker.id, polite);
}

auto Executor::has_news() const -> bool { return gate_ != nullptr && gate_->waiting(); }

auto Executor::wait_for_work(Worker& worker) -> ReactionId {
  if (gate_ != nullptr) enter(worker);
  while (gate_ != nullptr) {
    // Again after news: it says what it waits for when it has nothing left to take in.
    const bool news = gate_->turn(worker, true);
    const ReactionId reached = seek(worker, false);
    if (reached != kNone || ready_.finished()) return reached;
    if (!news) break;
  }
  ReactionId found = look_inside(worker);
  if (found != kNone || ready_.finished()) return found;
  leave(worker);
  if ((!options_.one_at_a_time || mixed_) && !crowded_) found = look_outside(worker);
  const bool slept = found == kNone;
  if (slept) found = sleep(worker);
  if (!mixed_) enter(worker);
  // A native body that was found must not wait for one that holds the interpreter.
  const bool polls = worker.id == 0 && (!mixed_ || found == kNone);
  if (slept && polls) poll();
  return found;
}

auto Executor::look_inside(const Worker& worker) -> ReactionId {
  const int looks = options_.one_at_a_time ? 1
                    : crowded_             ? tuning::kLooksInsideCrowded
                                           : tuning::kLooksInside;
  for (int i = 0; i < looks && !ready_.finished() && !has_news(); ++i) {
    const ReactionId found = seek(worker, i < tuning::kPoliteLooks);
    if (found != kNone) return found;
    pause_between_looks();
  }
  return kNone;
}

auto Executor::look_outside(const Worker& worker) -> ReactionId {
  const Time until = Clock::ticks_now() + tuning::kLookOutside;
  for (int i = 0; !ready_.finished() && !has_news(); ++i) {
    const ReactionId found = seek(worker, false);
    if (found != kNone) return found;
    pause_between_looks();
    if (i % tuning::kLooksPerClockRead == 0 && Clock::ticks_now() >= until) break;
  }
  return kNone;
}

auto Executor::sleep(Worker& worker) -> ReactionId {
  // A handshake with `execute`: this worker counts itself as idle and then looks for work
  // once more; another one finishes its reaction and then looks for idle workers. All
  // four steps are seq_cst, so at least one of the two sees the other.
  idle_.fetch_add(1);
  const std::uint32_t seen = changed_.epoch();
  ReactionId found = kNone;
  if (!ready_.finished()) {
    found = seek(worker, false);
    if (found == kNone && !ready_.finished() && !has_news()) {
      ready_.attend(worker.id, false);
      const bool first = gate_ != nullptr && !worker.dozed;
      changed_.wait(seen, first ? tuning::kFirstSleep : tuning::kLongestSleep);
      worker.dozed = changed_.epoch() == seen;
      ready_.attend(worker.id, true);
    }
  }
  idle_.fetch_sub(1);
  return found;
}

// ---- Running a reaction -----------------------------------------------------------

auto Executor::skipped(ReactionId reaction) const -> bool {
  if (broken_off_.load(std::memory_order_relaxed)) return true;
  const TraceKey failed = failed_at();
  return failed != kLastKey &&
         trace_key(plan_.reactions[reaction].level, reaction) > failed;
}

void Executor::execute(Worker& worker, ReactionId reaction) {
  // After a failure everything that comes before it in the fixed order still runs, so
  // that the failure that is reported does not depend on timing.
  if (!skipped(reaction)) {
    const Lateness late = lateness(worker, reaction);
    const bool open = pool_ && pool_->is_open();
    // Nothing runs beside the last reaction of a tag, however many workers there are. It
    // tells nothing about sharing, and if it waits, a phase would seem not to have paid.
    const bool solo = open && options_.one_at_a_time && ready_.outstanding() == 1;
    const bool shared = open && !solo;
    if (shared) worker.share.cost += costs_.alone(reaction);
    if (solo) leave_phase(worker);
    const bool ok = late != Lateness::kFailed &&
                    run_body(worker, reaction, late == Lateness::kLate, shared);
    if (solo) rejoin_phase(worker);
    if (!ok) fail_from(trace_key(plan_.reactions[reaction].level, reaction));
  }
  ready_.finish(worker.id, reaction);
  if (gate_ != nullptr && gate_->writes(reaction)) {
    enter(worker);
    gate_->turn(worker, false);
  }
  if (idle_.load() > 0) changed_.raise();
}

auto Executor::lateness(Worker& worker, ReactionId reaction) -> Lateness {
  const Time deadline = deadlines_[reaction];
  if (deadline == kNoDeadline) return Lateness::kOnTime;
  if (deadline == 0) return Lateness::kLate;
  if (host_.watches_clock() || !plan_.reactions[reaction].native) enter(worker);
  return host_.late(reaction, add_time(time_, deadline));
}

auto Executor::run_body(Worker& worker, ReactionId reaction, bool missed, bool shared)
    -> bool {
  const Reaction& plan = plan_.reactions[reaction];
  worker.reaction = reaction;
  if (log_ != nullptr) worker.notes.begin(trace_key(plan.level, reaction), missed);
  bool ok = true;
  if (plan.forward_from == kNone) {
    ok = invoke(worker, reaction, missed, shared);
  } else if (ports_.present(plan.forward_from, epoch_)) {
    // Otherwise another channel of the same multiport triggered it.
    if (!plan.native) enter(worker);
    set(worker, plan.forward_to, ports_.value(plan.forward_from).copy());
  }
  if (log_ != nullptr) {
    worker.notes.end(ports_, host_, log_->kept(), options_.trace_values);
  }
  worker.reaction = kNone;
  return ok;
}

auto Executor::invoke(Worker& worker, ReactionId reaction, bool missed, bool shared)
    -> bool {
  const bool native = is_native(reaction, missed);
  if (native) {
    leave(worker);
  } else {
    enter(worker);
  }
  const bool sampled = costs_.start(reaction);
  const auto call = [&] {
    return native ? natives_.invoke(worker, reaction, missed)
                  : host_.invoke(reaction, missed);
  };
  if (!sampled && timings_ == nullptr) return call();
  const Time begin = Clock::ticks_now();
  const bool ok = call();
  const Time end = Clock::ticks_now();
  // Time behind an interpreter lock is mostly waiting, not cost.
  if (sampled && shared && options_.one_at_a_time && !native) {
    costs_.stop_waiting(reaction, end - begin);
  } else if (sampled) {
    costs_.stop(reaction, end - begin, shared);
  }
  if (timings_ != nullptr) {
    timings_->note(worker.id, {epoch_, reaction, missed, begin, end});
  }
  return ok;
}

void Executor::fail_from(TraceKey key) {
  TraceKey least = failed_at_.load();
  while (key < least && !failed_at_.compare_exchange_weak(least, key)) {
  }
}

}  // namespace reactorl
