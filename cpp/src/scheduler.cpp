// SPDX-License-Identifier: Apache-2.0
// From tag to tag: what worker 0 does between reactions.
#include "reactorl/scheduler.hpp"

#include <algorithm>
#include <thread>

namespace reactorl {
namespace {

constexpr Time kMillisecond = 1'000'000;
/// How long worker 0 may sleep before it looks for signals.
constexpr Time kNap = 50 * kMillisecond;
/// A helper that has just worked looks out this long for more before it sleeps.
constexpr Time kSpin = 100'000;

auto elapsed(Tag tag, Time start) -> Tag { return {tag.time - start, tag.microstep}; }

auto is_physical(TriggerKind kind) -> bool {
  return kind == TriggerKind::kPhysical || kind == TriggerKind::kPhysicalStage;
}

}  // namespace

Scheduler::Scheduler(const Plan& plan, Options options, Host& host)
    : plan_(plan.validated()),
      options_(options),
      host_(host),
      ports_(plan.slots),
      ready_(plan, options.shuffle),
      modes_(plan),
      costs_(plan.reactions.size()),
      urgency_(plan),
      gain_(options.one_at_a_time),
      triggers_(plan.triggers.size()),
      triggers_in_(plan.modes.size()),
      workers_(std::make_unique<Worker[]>(plan.workers)) {
  static std::atomic<std::uint64_t> serial{0};
  const std::uint64_t mine = ++serial;
  for (WorkerId w = 0; w < plan.workers; ++w) {
    workers_[w].scheduler = this;
    workers_[w].id = w;
    workers_[w].serial = mine;
    if (options.trace) notes_.push_back(&workers_[w].notes);
  }
  if (options.trace) log_.open(plan.slots);
  if (options.timing > 0) {
    timings_ =
        std::make_unique<Timings>(plan.reactions.size(), plan.workers, options.timing);
  }
  deadlines_.reserve(plan.reactions.size());
  levels_.reserve(plan.reactions.size());
  for (const Reaction& r : plan.reactions) {
    deadlines_.push_back(r.deadline);
    levels_.push_back(r.level);
  }
  for (TriggerId t = 0; t < plan.triggers.size(); ++t) {
    if (plan.triggers[t].scope != kNone)
      triggers_in_[plan.triggers[t].scope].push_back(t);
  }
  crowded_ = plan.workers > std::max(1U, std::thread::hardware_concurrency());
  if (plan.workers > 1) {
    vain_.resize(plan.reactions.size());
    vain_skip_.resize(plan.reactions.size());
    const WorkerPool::Options pool{plan.workers, options.one_at_a_time ? 0 : kSpin};
    pool_ = std::make_unique<WorkerPool>(pool, host,
                                         [this](WorkerId w) { help(workers_[w]); });
  }
}

Scheduler::~Scheduler() = default;

void Scheduler::dismiss() {
  if (!pool_) return;
  host_.leave(0);
  pool_.reset();
  host_.enter(0);
}

void Scheduler::preload(TriggerId trigger, Tag tag, Value value) {
  triggers_[trigger].pending.insert(tag, std::move(value));  // shifted by `start`
}

void Scheduler::stop_at(Tag tag) { stop_ = std::min(stop_, tag); }

auto Scheduler::start() -> Status {
  inbox_.open(clock_, options_.start);
  const Time start = clock_.start_time();
  if (stop_ != kLastTag) stop_.time = add_time(start, stop_.time);
  if (options_.timeout != kForever) {
    stop_ = std::min(stop_, Tag{add_time(start, options_.timeout), 0});
  }
  now_ = {start, 0};
  for (TriggerId t = 0; t < triggers_.size(); ++t) {
    const Trigger& trigger = plan_.triggers[t];
    TriggerState& state = triggers_[t];
    state.standing_still = !modes_.active(trigger.scope) && !recorded(t);
    for (auto& event : state.pending.take_all()) {
      const Tag tag{add_time(start, event.tag.time), event.tag.microstep};
      state.pending.insert(tag, std::move(event.value));
      queue_.put(tag, t);
    }
    if (trigger.kind == TriggerKind::kTimer) {
      put_timer(t, {add_time(start, trigger.delay), 0});
    }
  }
  begin_tag(now_);
  for (const ReactionId r : plan_.startup) trigger(r);
  deliver_events();
  run_reactions();
  finish_tag();
  return status();
}

auto Scheduler::status() -> Status {
  if (broken_off_.load()) return Status::kBrokenOff;
  if (failed_at_.load() != ~std::uint64_t{0}) return Status::kFailed;
  return ended_ ? Status::kFinished : Status::kRunning;
}

auto Scheduler::run() -> Status {
  while (status() == Status::kRunning) {
    const std::optional<Tag> next = next_tag();
    if (!wait_for(next.value_or(kLastTag))) continue;
    begin_tag(*next);
    deliver_events();
    run_reactions();
    finish_tag();
  }
  return status();
}

auto Scheduler::step(Tag tag, std::vector<std::pair<SlotId, Value>> inputs) -> Status {
  starving_ends_ = false;
  bool injected = false;
  while (status() == Status::kRunning) {
    const std::optional<Tag> next = next_tag();
    Tag target = next.value_or(kLastTag);
    if (!injected) target = std::min({target, tag, stop_});
    if (target.time > tag.time) break;
    if (!wait_for(target)) continue;
    begin_tag(target);
    if (!injected && target >= tag) {
      injected = true;
      for (auto& [slot, value] : inputs) set(workers_[0], slot, std::move(value));
    }
    deliver_events();
    run_reactions();
    finish_tag();
  }
  return status();
}

auto Scheduler::finish() -> Status {
  stop_ = std::min(stop_, next_microstep(now_));
  return run();
}

auto Scheduler::next_tag() -> std::optional<Tag> {
  drain_inbox();
  if (stop_requested_.load(std::memory_order_relaxed)) {
    stop_requested_.store(false);
    stop_ = std::min(stop_, next_microstep(now_));
  }
  while (!queue_.empty()) {
    const auto& [tag, trigger] = queue_.top();
    const bool valid = trigger == kNone
                           ? !(entries_first_.empty() && entries_reset_.empty())
                           : !triggers_[trigger].standing_still &&
                                 triggers_[trigger].pending.contains(tag);
    if (valid) return std::min(tag, stop_);
    queue_.pop();
  }
  if (options_.keepalive || !starving_ends_) {
    return stop_ == kLastTag ? std::nullopt : std::optional(stop_);
  }
  stop_ = std::min(stop_, next_microstep(now_));
  return stop_;
}

auto Scheduler::wait_for(Tag tag) -> bool {
  // In fast mode only an empty queue makes it wait. Signals are looked for at every
  // tag; other threads of the interpreter get their turn now and then.
  const bool idle = tag == kLastTag;
  if (!host_.poll()) {
    break_off();
    return false;
  }
  if (options_.fast && !idle) {
    if ((tags_run_.get() & 1023U) == 1023U) {
      host_.leave(0);
      host_.enter(0);
    }
    return true;
  }
  // What arrived since the next tag was computed is seen here; what arrives later
  // raises the signal.
  const std::uint32_t seen = woken_.epoch();
  if (stop_requested_.load() || inbox_.waiting()) return false;
  const Time wait = idle ? kNap : tag.time - clock_.now();
  if (wait > 0) {
    host_.leave(0);
    woken_.wait(seen, std::min(wait, kNap));
    host_.enter(0);
  }
  // Recompute unless the time has come and nothing arrived meanwhile.
  return !idle && woken_.epoch() == seen && clock_.now() >= tag.time;
}

void Scheduler::begin_tag(Tag tag) {
  now_ = tag;
  tag_.set(tag);
  if (timings_) {
    tag_began_ = Clock::ticks_now();
    lag_ = clock_.now() - tag.time;
  }
  ++epoch_;
  ready_.begin(epoch_);
  if (pool_) {
    urgency_.begin();
    urgency_.refresh(costs_, tags_run_.get());
  }
  ended_ = now_ >= stop_;
  if (ended_) {
    for (const ReactionId r : plan_.shutdown) {
      if (modes_.visited(plan_.reactions[r].scope)) ready_.add(r);
    }
  }
}

void Scheduler::deliver_events() {
  while (!queue_.empty() && queue_.top().tag <= now_) {
    const auto [tag, id] = queue_.top();
    queue_.pop();
    if (id == kNone) {
      enqueue_entries();
      continue;
    }
    TriggerState& state = triggers_[id];
    if (state.standing_still) continue;
    std::optional<Value> value = state.pending.take(tag);
    if (!value) continue;
    const Trigger& trigger = plan_.triggers[id];
    if (recorded(id) && !modes_.active(trigger.scope)) continue;
    if (is_physical(trigger.kind)) {
      host_.delivered(id, elapsed(now_, clock_.start_time()), *value);
    }
    delivered_.add(1);
    if (ports_.set(trigger.slot, std::move(*value), epoch_)) {
      trigger_all(trigger.slot);
      if (!plan_.slot_stages[trigger.slot].empty()) {
        workers_[0].delayed.push_back(trigger.slot);
      }
    }
    if (trigger.kind == TriggerKind::kTimer && trigger.spacing > 0) {
      put_timer(id, delayed({now_.time, 0}, trigger.spacing));
    }
  }
}

void Scheduler::finish_tag() {
  forward_delayed();
  for (WorkerId w = 0; w < plan_.workers; ++w) {
    for (const auto& entry : workers_[w].outbox) queue_.put(entry.tag, entry.trigger);
    workers_[w].outbox.clear();
  }
  if (queue_.size() > compact_at_) compact_queue();
  if (options_.trace) {
    // What comes after a failure ran or did not, as chance would have it.
    const TraceKey last = failed_at_.load(std::memory_order_relaxed);
    log_.end_tag(elapsed(now_, clock_.start_time()), notes_, ended_, last);
  }
  if (timings_) {
    const Time lag = options_.fast ? 0 : std::max<Time>(0, lag_);
    timings_->note({epoch_, elapsed(now_, clock_.start_time()), tag_began_,
                    Clock::ticks_now(), lag});
  }
  if (modes_.any() && !ended_) commit_modes();
  tags_run_.add(1);
  reached_.set(now_.time - clock_.start_time());
}

void Scheduler::compact_queue() {
  // Moved and removed events leave entries behind; without this a program that keeps
  // moving an alarm would collect them until the alarm's time.
  queue_.keep([this](const EventQueue::Entry& entry) {
    return entry.trigger == kNone ||
           (!triggers_[entry.trigger].standing_still &&
            triggers_[entry.trigger].pending.contains(entry.tag));
  });
  compact_at_ = std::max<std::size_t>(1024, 2 * queue_.size());
}

void Scheduler::forward_delayed() {
  std::vector<TriggerId> stages;
  for (WorkerId w = 0; w < plan_.workers; ++w) {
    for (const SlotId slot : workers_[w].delayed) {
      const auto of_slot = plan_.slot_stages[slot];
      stages.insert(stages.end(), of_slot.begin(), of_slot.end());
    }
    workers_[w].delayed.clear();
  }
  if (stages.size() > 1) std::ranges::sort(stages);
  for (const TriggerId id : stages) {
    const Trigger& stage = plan_.triggers[id];
    if (!modes_.active(stage.scope)) continue;
    Value value = ports_.value(stage.source).copy();
    if (stage.kind == TriggerKind::kPhysicalStage) {
      if (!options_.replay) inbox_.put(id, stage.delay, std::move(value), clock_);
      continue;
    }
    const auto tag = place(id, delayed(now_, stage.delay), std::move(value));
    if (tag) queue_.put(*tag, id);
    if (options_.trace && failed_at_.load(std::memory_order_relaxed) == kLastKey) {
      log_.stage_event(
          id, tag ? std::optional(elapsed(*tag, clock_.start_time())) : std::nullopt);
    }
  }
}

void Scheduler::drain_inbox() {
  for (auto& event : inbox_.take()) {
    if (!modes_.active(plan_.triggers[event.trigger].scope)) continue;
    const Tag wanted{std::max(event.stamp, clock_.start_time()), 0};
    const auto tag = place(event.trigger, wanted, std::move(event.value));
    if (tag) queue_.put(*tag, event.trigger);
  }
}

}  // namespace reactorl
