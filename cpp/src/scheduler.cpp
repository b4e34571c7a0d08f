// SPDX-License-Identifier: Apache-2.0
#include "reactorl/scheduler.hpp"

#include <algorithm>

#include "reactorl/tuning.hpp"

namespace reactorl {
namespace {

/// In fast mode other threads of the interpreter get a chance every so many tags.
constexpr std::uint64_t kYieldEvery = 1024;  // a power of two

auto is_physical(TriggerKind kind) -> bool {
  return kind == TriggerKind::kPhysical || kind == TriggerKind::kPhysicalStage;
}

auto make_timings(const Plan& plan, const Options& options) -> std::unique_ptr<Timings> {
  if (options.timing == 0) return nullptr;
  return std::make_unique<Timings>(plan.reactions.size(), plan.workers, options.timing);
}

}  // namespace

Scheduler::Scheduler(const Plan& plan, Options options, Host& host)
    : plan_(plan.validated()),
      options_(options),
      host_(host),
      ports_(plan.slots),
      agenda_(plan, options.replay),
      natives_(plan_),
      timings_(make_timings(plan, options)),
      executor_(plan, options_, host, ports_, agenda_.modes(), natives_,
                options.trace ? &log_ : nullptr, timings_.get()) {
  static std::atomic<std::uint64_t> serial{0};
  const std::uint64_t mine = ++serial;
  for (Worker& worker : executor_.workers()) {
    worker.scheduler = this;
    worker.id = static_cast<WorkerId>(&worker - executor_.workers().data());
    worker.serial = mine;
    if (options.trace) notes_.push_back(&worker.notes);
  }
  if (options.trace) log_.open(plan.slots);
}

Scheduler::~Scheduler() = default;

void Scheduler::set_context(void* context) {
  for (Worker& worker : executor_.workers()) worker.context = context;
}

// ---- From tag to tag --------------------------------------------------------------

auto Scheduler::start() -> Status {
  inbox_.open(clock_, options_.start);
  agenda_.start(clock_.start_time(), options_.timeout);
  if (gate_) gate_->start({clock_.start_time(), 0});
  begin_tag({clock_.start_time(), 0});
  for (const ReactionId r : plan_.startup) executor_.trigger(r);
  run_tag();
  return status();
}

auto Scheduler::run() -> Status {
  while (status() == Status::kRunning) {
    const Tag next = next_tag().value_or(kLastTag);
    if (!wait_for(next)) continue;
    begin_tag(next);
    run_tag();
  }
  return status();
}

auto Scheduler::step(Tag tag, std::vector<std::pair<SlotId, Value>> inputs) -> Status {
  starving_ends_ = false;
  bool injected = false;
  while (status() == Status::kRunning) {
    Tag next = next_tag().value_or(kLastTag);
    if (!injected) next = std::min({next, tag, agenda_.stop()});
    if (next.time > tag.time) break;
    if (!wait_for(next)) continue;
    begin_tag(next);
    if (!injected && next >= tag) {
      injected = true;
      for (auto& [slot, value] : inputs) set(worker_zero(), slot, std::move(value));
    }
    run_tag();
  }
  return status();
}

auto Scheduler::finish() -> Status {
  agenda_.stop_by(next_microstep(now_));
  return run();
}

auto Scheduler::status() const -> Status {
  if (executor_.broken_off()) return Status::kBrokenOff;
  if (executor_.failed_at() != kLastKey) return Status::kFailed;
  return ended_ ? Status::kFinished : Status::kRunning;
}

auto Scheduler::next_tag() -> std::optional<Tag> {
  drain_inbox();
  if (gate_) {
    take_in();
    Tag next = own_next();
    if (const Tag limit = gate_->limit(); next > limit) {
      // What others set may still come before the failure, or within its tag, and fail
      // earlier. So that tag is run here as well, unless it has passed.
      if (limit <= now_) {
        executor_.fail_from(0);
      } else {
        next = limit;
      }
    }
    return next == kLastTag ? std::nullopt : std::optional(next);
  }
  if (stop_requested_.load(std::memory_order_relaxed)) {
    stop_requested_.store(false);
    agenda_.stop_by(next_microstep(now_));
  }
  if (const std::optional<Tag> next = agenda_.next()) {
    return std::min(*next, agenda_.stop());
  }
  if (options_.keepalive || !starving_ends_) {
    return agenda_.stop() == kLastTag ? std::nullopt : std::optional(agenda_.stop());
  }
  agenda_.stop_by(next_microstep(now_));
  return agenda_.stop();
}

auto Scheduler::wait_for(Tag tag) -> bool {
  // In fast mode only an empty queue makes it wait. Signals are looked for at every tag.
  const bool idle = tag == kLastTag;
  if (!host_.poll()) {
    break_off();
    return false;
  }
  if (gate_ && (idle || !gate_->may_begin(tag))) return wait_for_others(tag);
  if (options_.fast && !idle) {
    if ((tags_run_.get() & (kYieldEvery - 1)) == kYieldEvery - 1) {
      host_.leave(0);
      host_.enter(0);
    }
    return true;
  }
  // What arrived since the next tag was computed is seen here; what arrives later
  // raises the signal.
  const std::uint32_t seen = woken_.epoch();
  if ((stop_requested_.load() && !gate_) || inbox_.waiting()) return false;
  if (gate_ && gate_->waiting()) return false;
  const Time wait = idle ? tuning::kLongestSleep : tag.time - clock_.now();
  if (wait > 0) {
    if (gate_) {
      gate_->blame_none();  // it waits for the clock
      gate_->wait(tag, earliest(tag));
    }
    host_.leave(0);
    woken_.wait(seen, std::min(wait, longest_sleep()));
    host_.enter(0);
    dozed_ = woken_.epoch() == seen;
  }
  // Recompute unless the time has come and nothing arrived meanwhile.
  return !idle && woken_.epoch() == seen && clock_.now() >= tag.time;
}

void Scheduler::drain_inbox() {
  for (auto& event : inbox_.take()) {
    if (!agenda_.modes().active(plan_.triggers[event.trigger].scope)) continue;
    const Tag wanted{std::max(event.stamp, clock_.start_time()), 0};
    const auto tag = agenda_.place(event.trigger, wanted, std::move(event.value), now_);
    if (tag) agenda_.queue(*tag, event.trigger);
  }
}

// ---- In a federation --------------------------------------------------------------

void Scheduler::federate(const GatePlan& plan, GatePort& port) {
  gate_ = std::make_unique<Gate>(plan, plan_, port, executor_, ports_, timings_.get());
  physical_ = plan.physical && !options_.replay;
  executor_.join(gate_.get());
}

void Scheduler::put(Message message) {
  if (message.kind == MessageKind::kPhysical && !options_.replay) {
    const TriggerId stage(message.index);  // stamped when it arrives
    inbox_.put(stage, plan_.triggers[stage].delay, std::move(message.value), clock_);
  }
  gate_->put(std::move(message));
  woken_.raise();
  executor_.wake();
}

void Scheduler::take_in() {
  gate_->take_in([this](Message& m) {
    if (m.kind == MessageKind::kLate) {
      agenda_.add(m.at, TriggerId(m.index), std::move(m.value));
    }
  });
}

auto Scheduler::own_next() -> Tag {
  const Tag next = std::min(agenda_.next().value_or(kLastTag), gate_->next());
  const bool ends = options_.keepalive || next != kLastTag || gate_->stop() != kLastTag;
  // A stop of another federate holds from the tag after it on, see `begin_tag`.
  return ends ? std::min({next, agenda_.stop(), gate_->stop()}) : next;
}

/// The first tag at which this federate may run something without hearing from others.
auto Scheduler::earliest(Tag next) -> Tag {
  if (!physical_) return next;
  return std::max(std::min(next, Tag{inbox_.earliest(clock_), 0}), next_microstep(now_));
}

auto Scheduler::wait_for_others(Tag tag) -> bool {
  const std::uint32_t seen = woken_.epoch();
  if (gate_->waiting() || inbox_.waiting() || status() != Status::kRunning) return false;
  gate_->blame(tag);
  gate_->wait(tag, earliest(tag));
  host_.leave(0);
  woken_.wait(seen, longest_sleep());
  host_.enter(0);
  dozed_ = woken_.epoch() == seen;
  return false;
}

auto Scheduler::longest_sleep() const -> Time {
  return gate_ && !dozed_ ? tuning::kFirstSleep : tuning::kLongestSleep;
}

void Scheduler::end_for_others() {
  if (stop_requested_.exchange(false) && !ended_) gate_->send_stop(next_microstep(now_));
  drain_inbox();
  take_in();
  const Tag next = ended_ ? kLastTag : own_next();
  gate_->end(next, earliest(next));
}

// ---- One tag ----------------------------------------------------------------------

void Scheduler::begin_tag(Tag tag) {
  now_ = tag;
  tag_.set(tag);
  if (timings_) {
    tag_began_ = Clock::ticks_now();
    lag_ = clock_.now() - tag.time;
  }
  ++epoch_;
  executor_.begin(epoch_, tag.time);
  if (gate_ && now_ >= gate_->stop()) agenda_.stop_by(now_);
  ended_ = now_ >= agenda_.stop();
  if (gate_) gate_->begin(tag, epoch_, ended_, worker_zero());
  if (!ended_) return;
  for (const ReactionId r : plan_.shutdown) {
    if (agenda_.modes().visited(plan_.reactions[r].scope)) executor_.add(r);
  }
}

void Scheduler::run_tag() {
  deliver_events();
  executor_.run(epoch_ == 1 || ended_);
  end_tag();
}

void Scheduler::deliver_events() {
  agenda_.take_due(
      now_, [this](TriggerId t, Value value) { deliver(t, std::move(value)); },
      [this] { agenda_.take_entries([this](ReactionId r) { executor_.add(r); }); });
}

void Scheduler::deliver(TriggerId id, Value value) {
  const Trigger& trigger = plan_.triggers[id];
  if (is_physical(trigger.kind)) host_.delivered(id, elapsed(now_), value);
  delivered_.add(1);
  executor_.set(worker_zero(), trigger.slot, std::move(value));
}

void Scheduler::end_tag() {
  if (gate_) gate_->settle_all();
  forward_delayed();
  merge_outboxes();
  if (options_.trace) {
    // What comes after a failure ran or did not, depending on timing.
    // In a federation, others may have run something at a tag at which nothing ran here.
    const bool keep = ended_ || (gate_ && log_.has_stage_events());
    log_.end_tag(elapsed(now_), notes_, keep, executor_.failed_at());
  }
  if (timings_) {
    const Time lag = options_.fast ? 0 : std::max<Time>(0, lag_);
    timings_->note({epoch_, elapsed(now_), tag_began_, Clock::ticks_now(), lag});
  }
  if (agenda_.modes().any() && !ended_) agenda_.commit_modes(now_);
  tags_run_.add(1);
  reached_.set(elapsed(now_).time);
  if (gate_) end_for_others();
}

void Scheduler::forward_delayed() {
  std::vector<TriggerId> stages;
  for (Worker& worker : executor_.workers()) {
    for (const SlotId slot : worker.delayed) {
      const auto of_slot = plan_.slot_stages[slot];
      stages.insert(stages.end(), of_slot.begin(), of_slot.end());
    }
    worker.delayed.clear();
  }
  if (stages.size() > 1) std::ranges::sort(stages);
  for (const TriggerId id : stages) forward(id);
}

void Scheduler::forward(TriggerId id) {
  const Trigger& stage = plan_.triggers[id];
  if (!agenda_.modes().active(stage.scope)) return;
  const Route* route = gate_ ? gate_->route(id) : nullptr;
  const bool here = route == nullptr || route->here;
  const Value& source = ports_.value(stage.source);
  if (stage.kind == TriggerKind::kPhysicalStage) {
    if (route != nullptr) gate_->send_physical(*route, source);
    if (here && !options_.replay) {
      inbox_.put(id, stage.delay, source.copy(), clock_);
    }
    return;
  }
  // What is delivered elsewhere only is kept until its tag, so that another one for the
  // same tag is found a microstep later.
  if (!here) agenda_.forget(id, now_);
  const auto tag =
      agenda_.place(id, delayed(now_, stage.delay), here ? source.copy() : Value(), now_);
  if (tag && route != nullptr) gate_->send_event(*route, *tag, source);
  if (tag && here) agenda_.queue(*tag, id);
  if (options_.trace && executor_.failed_at() == kLastKey) {
    log_.stage_event(id, tag ? std::optional(elapsed(*tag)) : std::nullopt);
  }
}

void Scheduler::merge_outboxes() {
  for (Worker& worker : executor_.workers()) {
    for (const auto& entry : worker.outbox) agenda_.queue(entry.tag, entry.trigger);
    worker.outbox.clear();
  }
  agenda_.compact();
}

// ---- What bodies and other threads ask for ----------------------------------------

void Scheduler::schedule(Worker& worker, TriggerId action, Time extra, Value value) {
  const Trigger& trigger = plan_.triggers[action];
  const Time delay = add_time(std::max<Time>(extra, 0), trigger.delay);
  std::optional<Tag> tag;
  if (agenda_.modes().active(trigger.scope)) {
    tag = agenda_.place(action, delayed(now_, delay), std::move(value), now_);
  }
  // A replaced payload yields a second entry for the same event, which later finds
  // nothing and is passed over.
  if (tag) worker.outbox.push_back({*tag, action});
  if (options_.trace) {
    worker.notes.event(action, tag ? std::optional(elapsed(*tag)) : std::nullopt);
  }
}

void Scheduler::switch_mode(Worker& worker, ModeId mode, bool reset) {
  agenda_.modes().request(mode, reset);
  if (options_.trace) worker.notes.mode(mode, reset);
}

void Scheduler::schedule_physical(TriggerId action, Time extra, Value value) {
  if (options_.replay) return;
  const Time delay = add_time(std::max<Time>(extra, 0), plan_.triggers[action].delay);
  inbox_.put(action, delay, std::move(value), clock_);
  woken_.raise();
}

void Scheduler::request_stop() {
  stop_requested_.store(true);
  woken_.raise();
}

void Scheduler::break_off() {
  executor_.break_off();
  woken_.raise();
}

}  // namespace reactorl
