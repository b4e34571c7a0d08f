// SPDX-License-Identifier: Apache-2.0
#include "reactorl/gate.hpp"

#include <algorithm>

#include "reactorl/clock.hpp"
#include "reactorl/executor.hpp"
#include "reactorl/worker.hpp"

namespace reactorl {
namespace {

constexpr std::uint32_t kAllSlots = std::numeric_limits<std::uint32_t>::max();

}  // namespace

Gate::Gate(const GatePlan& plan, const Plan& program, GatePort& port, Executor& executor,
           PortStore& ports, Timings* timings)
    : plan_(plan),
      program_(program),
      port_(port),
      executor_(executor),
      ports_(ports),
      timings_(timings),
      writes_(program.reactions.size(), false),
      links_(plan),
      peers_(plan.peers.size()),
      sent_(plan.peers.size(), 0),
      received_(plan.peers.size(), 0) {
  for (PeerId p = 0; p < peers_.size(); ++p) {
    std::vector<Held>& held = peers_[p].held;
    const std::vector<Crossing>& in = plan.peers[p].in;
    for (std::uint32_t i = 0; i < in.size(); ++i) {
      if (held.empty() || held.back().writer != in[i].writer) {
        held.push_back({in[i].writer, i});
      }
      held.back().last = i;
    }
    for (const Crossing& crossing : plan.peers[p].out) writes_[crossing.writer] = true;
  }
}

auto Gate::key_of(ReactionId reaction) const -> TraceKey {
  return trace_key(program_.reactions[reaction].level, reaction);
}

// ---- What arrives -----------------------------------------------------------------

void Gate::put(Message message) {
  const std::lock_guard lock(mutex_);
  arrived_.push_back(std::move(message));
  waiting_.store(true);
}

auto Gate::take_messages() -> bool {
  std::vector<Message> arrived;
  {
    const std::lock_guard lock(mutex_);
    arrived.swap(arrived_);
    waiting_.store(false);
  }
  for (Message& message : arrived) take(message);
  return !arrived.empty();
}

void Gate::take(Message& m) {
  const std::optional<Promise> promise = m.promise;
  const PeerId peer = m.peer;
  ++taken_;
  if (is_numbered(m.kind)) ++received_[m.peer];
  take_kind(m);
  if (!promise) return;
  links_.reach(peer, {promise->low, 0});
  links_.expect(peer, promise->next);
}

void Gate::take_kind(Message& m) {
  switch (m.kind) {
    case MessageKind::kValue: return take_value(m);
    case MessageKind::kLate:
      if (started_ && m.at <= now_) return fail("an event for a tag that has begun");
      links_.reach(m.peer, {m.tag, 0});
      late_.push_back(std::move(m));
      return;
    case MessageKind::kPhysical: late_.push_back(std::move(m)); return;
    case MessageKind::kStop:
      if (started_ && m.at <= now_) return fail("a final tag that has passed");
      links_.reach(m.peer, {m.tag, 0});
      stop_ = std::min(stop_, m.at);
      return;
    case MessageKind::kPromise:
      if (m.final) {
        links_.reach_final(m.peer, m.index);
      } else {
        links_.reach(m.peer, {m.tag, m.index});
        links_.expect(m.peer, m.at);
      }
      return;
    case MessageKind::kDemand: return take_demand(m);
    case MessageKind::kFloor: return links_.floor(m.tag, m.at);
    case MessageKind::kHorizon: return links_.limit(m.tag);
    case MessageKind::kAttend:
      if (!started_ || m.tag > now_) attended_.insert(m.tag);
      return;
    case MessageKind::kEnd: stop_ = std::min(stop_, m.at); return;
    case MessageKind::kFailure:
      limit_ = std::min(limit_, std::pair(m.tag, m.key));
      if (inside_ && limit_.first <= now_) {
        executor_.fail_from(limit_.first < now_ ? 0 : limit_.second);
      }
      return;
    case MessageKind::kEnding: return fail("a message that federates do not get");
  }
}

void Gate::take_value(Message& m) {
  const bool current = inside_ && m.tag == now_;
  if (!current && started_ && m.tag <= now_) {
    return fail("a value for a tag that is done");
  }
  if (m.index >= plan_.peers[m.peer].in.size()) return fail("a value of no slot");
  if (m.final) {
    links_.reach_final(m.peer, m.index + 1);
    stop_ = std::min(stop_, m.tag);  // it may be the first to say so
  } else {
    links_.reach(m.peer, {m.tag, m.index + 1});
  }
  if (!current) {
    peers_[m.peer].early.push_back(std::move(m));
    return;
  }
  const Peer& peer = peers_[m.peer];
  if (peer.released > 0 && m.index <= peer.held[peer.released - 1].last) {
    return fail("a value for a slot that was taken as absent");
  }
  executor_.set(*worker_, plan_.peers[m.peer].in[m.index].slot, std::move(m.value));
}

void Gate::take_demand(const Message& m) {
  links_.reach(m.peer, {m.tag, 0});
  if (inside_ && m.tag <= now_) {
    peers_[m.peer].asked = true;
    peers_[m.peer].owed = !final_;
  } else if (!started_ || m.tag > now_) {
    attended_.insert(m.tag);
  }
}

void Gate::fail(const char* what) {
  broken_.store(what);
  executor_.break_off();
}

// ---- Between tags -----------------------------------------------------------------

void Gate::start(Tag start) {
  start_ = start.time;
  links_.start(start);
}

auto Gate::next() const -> Tag {
  Tag least = attended_.empty() ? kLastTag : *attended_.begin();
  for (const Peer& peer : peers_) {
    if (!peer.early.empty()) least = std::min(least, peer.early.front().tag);
  }
  return least;
}

void Gate::wait(Tag next, Tag bound) {
  report({.next = next, .bound = bound, .done = now_});
}

void Gate::report(Report report) {
  report.horizon = links_.horizon();
  report.taken = taken_;
  report.sent = sent_;
  report.received = received_;
  port_.wait(report);
}

// ---- Measured waits -----------------------------------------------------------------

auto Gate::blocks(PeerId peer, Tag next) const -> bool {
  const LinkPlan& link = plan_.peers[peer];
  if (next == kLastTag) return !link.in.empty() || link.in_delay != kNothingLate;
  return links_.delays(peer, next);
}

void Gate::blame(Tag next) {
  if (timings_ == nullptr) return;
  using Kind = Timings::WaitKind;
  const Time now = Clock::ticks_now();
  const bool idle = next == kLastTag;
  for (PeerId p = 0; p < peers_.size(); ++p) {
    // The federate itself stands for the coordinator, which sets the horizon.
    const bool own = p == plan_.me;
    const bool waits = own ? !idle && next > links_.horizon() : blocks(p, next);
    blame(p, idle ? Kind::kEvent : Kind::kTag, idle ? now_ : next, waits, now);
  }
}

void Gate::blame_for_slots() {
  if (timings_ == nullptr) return;
  const Time now = Clock::ticks_now();
  for (PeerId p = 0; p < peers_.size(); ++p) {
    const bool waits = peers_[p].released < peers_[p].held.size();
    blame(p, Timings::WaitKind::kSlot, now_, waits, now);
  }
}

void Gate::blame_none() {
  if (timings_ == nullptr) return;
  const Time now = Clock::ticks_now();
  for (PeerId p = 0; p < peers_.size(); ++p) {
    blame(p, Timings::WaitKind::kSlot, now_, false, now);
  }
}

void Gate::blame(PeerId peer, Timings::WaitKind kind, Tag tag, bool waits, Time now) {
  std::optional<Blamed>& blamed = peers_[peer].blamed;
  if (blamed && waits && blamed->kind == kind && blamed->tag == tag) return;
  if (blamed) {
    const Tag elapsed{blamed->tag.time - start_, blamed->tag.microstep};
    timings_->note({.peer = peer,
                    .kind = blamed->kind,
                    .tag = elapsed,
                    .begin = blamed->since,
                    .end = now});
    blamed.reset();
  }
  if (waits) blamed = {.kind = kind, .tag = tag, .since = now};
}

// ---- A tag ------------------------------------------------------------------------

void Gate::begin(Tag tag, Epoch epoch, bool final, Worker& worker) {
  blame_none();
  done_ = now_;
  now_ = tag;
  epoch_ = epoch;
  final_ = final;
  started_ = true;
  inside_ = true;
  while (!attended_.empty() && *attended_.begin() <= tag) {
    attended_.erase(attended_.begin());
  }
  if (limit_.first <= tag) executor_.fail_from(limit_.first < tag ? 0 : limit_.second);
  if (final) {
    say({.kind = MessageKind::kEnding, .tag = tag});
    // All tags before are done; others may still be in one.
    for (PeerId p = 0; p < peers_.size(); ++p) {
      if (!plan_.peers[p].sends) continue;
      say({.kind = MessageKind::kPromise, .peer = p, .tag = kLastTag, .at = kLastTag});
    }
    flush();
  }
  for (PeerId p = 0; p < peers_.size(); ++p) {
    Peer& peer = peers_[p];
    peer.settled = 0;
    peer.told = 0;
    peer.sent = false;
    peer.asked = false;
    peer.owed = false;
    peer.released = 0;
    for (const Held& held : peer.held) {
      if (links_.settled(p, {now_, held.last}, final_)) {
        ++peer.released;
      } else {
        executor_.hold(held.writer);
      }
    }
  }
  set_early(worker);
}

void Gate::set_early(Worker& worker) {
  for (PeerId p = 0; p < peers_.size(); ++p) {
    std::deque<Message>& early = peers_[p].early;
    while (!early.empty() && early.front().tag <= now_) {
      const SlotId slot = plan_.peers[p].in[early.front().index].slot;
      executor_.set(worker, slot, std::move(early.front().value));
      early.pop_front();
    }
  }
}

auto Gate::turn(Worker& worker, bool idle) -> bool {
  bool took = false;
  if (idle) idle_.store(true);
  turn_.take([&] {
    worker_ = &worker;
    const bool was_idle = idle_.exchange(false);
    const bool news = take_messages();
    took = took || news;
    if (news) blame_none();
    release_known();
    release_after_failure();
    settle();
    // What arrived may have given the worker something to do.
    const bool stuck = was_idle && !news;
    tell_settled(stuck);
    if (stuck) demand();
    // The end of the tag is near, and its promise rides on what is sent last.
    if (!executor_.finished()) flush();
    if (stuck && executor_.quiet() && !executor_.finished()) {
      blame_for_slots();
      report({.next = now_, .bound = now_, .done = done_, .inside = true});
    }
  });
  return took;
}

void Gate::release_known() {
  for (PeerId p = 0; p < peers_.size(); ++p) {
    Peer& peer = peers_[p];
    while (peer.released < peer.held.size()) {
      const Held& held = peer.held[peer.released];
      if (!links_.settled(p, {now_, held.last}, final_)) break;
      executor_.release(held.writer);
      ++peer.released;
    }
  }
}

void Gate::release_after_failure() {
  const bool all = executor_.broken_off();
  const TraceKey failed = executor_.failed_at();
  if (!all && failed == kLastKey) return;
  for (Peer& peer : peers_) {
    // What comes before the failure still runs, so that the one that is reported does
    // not depend on timing.
    while (peer.released < peer.held.size() &&
           (all || key_of(peer.held.back().writer) >= failed)) {
      const ReactionId writer = peer.held.back().writer;
      peer.held.pop_back();  // no further tag follows
      executor_.release(writer);
    }
  }
}

void Gate::settle() {
  for (PeerId p = 0; p < peers_.size(); ++p) {
    Peer& peer = peers_[p];
    const std::vector<Crossing>& out = plan_.peers[p].out;
    for (; peer.settled < out.size(); ++peer.settled) {
      const Crossing& crossing = out[peer.settled];
      if (key_of(crossing.writer) > executor_.failed_at()) break;
      if (!executor_.passed(crossing.writer)) break;
      if (!ports_.present(crossing.slot, epoch_)) continue;
      say({.kind = MessageKind::kValue,
           .final = final_,
           .peer = p,
           .tag = now_,
           .index = peer.settled,
           .value = ports_.value(crossing.slot).copy()});
      peer.told = peer.settled + 1;
      peer.sent = true;
    }
  }
}

void Gate::tell_settled(bool idle) {
  for (PeerId p = 0; p < peers_.size(); ++p) {
    Peer& peer = peers_[p];
    const bool more = peer.settled != peer.told && (idle || peer.asked);
    if (!more && !peer.owed) continue;
    peer.told = peer.settled;
    peer.owed = false;
    say({.kind = MessageKind::kPromise,
         .final = final_,
         .peer = p,
         .tag = now_,
         .index = peer.settled,
         .at = now_});
  }
}

void Gate::demand() {
  if (final_) return;  // all get there
  for (PeerId p = 0; p < peers_.size(); ++p) {
    Peer& peer = peers_[p];
    if (peer.released == peer.held.size() || peer.demanded == now_) continue;
    // What was sent brings it to this tag, at whose end it says all.
    if (peer.sent || links_.expected(p) <= now_) continue;
    peer.demanded = now_;
    say({.kind = MessageKind::kDemand, .peer = p, .tag = now_});
  }
}

void Gate::settle_all() {
  if (executor_.broken_off()) return;
  settle();
}

auto Gate::route(TriggerId stage) const -> const Route* {
  const auto it = std::ranges::lower_bound(plan_.routes, stage, {}, &Route::stage);
  return it == plan_.routes.end() || it->stage != stage ? nullptr : &*it;
}

void Gate::send_event(const Route& route, Tag at, const Value& value) {
  for (const PeerId p : route.peers) {
    say({.kind = MessageKind::kLate,
         .final = final_,
         .peer = p,
         .tag = now_,
         .index = route.stage,
         .at = at,
         .value = value.copy()});
  }
}

void Gate::send_physical(const Route& route, const Value& value) {
  for (const PeerId p : route.peers) {
    say({.kind = MessageKind::kPhysical,
         .final = final_,
         .peer = p,
         .tag = now_,
         .index = route.stage,
         .value = value.copy()});
  }
}

void Gate::send_stop(Tag final_tag) {
  stop_ = std::min(stop_, final_tag);
  for (PeerId p = 0; p < peers_.size(); ++p) {
    if (!plan_.peers[p].sends) continue;
    say({.kind = MessageKind::kStop,
         .final = final_,
         .peer = p,
         .tag = now_,
         .at = final_tag});
  }
}

void Gate::end(Tag next, Tag bound) {
  inside_ = false;
  blame_none();
  const TraceKey failed = executor_.failed_at();
  if (failed != kLastKey && !executor_.broken_off()) {
    // Others learn from the coordinator; nothing after the failure is promised. But what
    // comes before it in this tag may still run elsewhere.
    for (PeerId p = 0; p < peers_.size(); ++p) {
      if (!plan_.peers[p].sends) continue;
      say({.kind = MessageKind::kPromise,
           .final = final_,
           .peer = p,
           .tag = now_,
           .index = peers_[p].settled,
           .at = now_});
    }
    if (std::pair(now_, failed) < limit_) {
      say({.kind = MessageKind::kFailure, .tag = now_, .key = failed});
    }
  } else if (!executor_.broken_off()) {
    const Tag low = final_ ? kLastTag : links_.low(bound, now_);
    for (PeerId p = 0; p < peers_.size(); ++p) {
      Peer& peer = peers_[p];
      if (!plan_.peers[p].sends) continue;
      const std::pair promise(Place{low, final_ ? kAllSlots : 0}, next);
      if (peer.promised == promise) continue;
      // One that only answers, is done with this tag and has no event has no use for it.
      const bool idle = plan_.peers[p].answers && links_.beyond(p, now_) &&
                        links_.expected(p) == kLastTag;
      if (!final_ && idle) continue;
      peer.promised = promise;
      if (!final_ && ride(p, {.low = low, .next = next})) continue;
      say({.kind = MessageKind::kPromise,
           .final = final_,
           .peer = p,
           .tag = low,
           .index = final_ ? kAllSlots : 0,
           .at = next});
    }
  }
  flush();
  if (final_) {
    report({.next = kLastTag, .bound = kLastTag, .done = now_, .inside = true});
  }
}

void Gate::say(Message message) {
  if (is_numbered(message.kind)) {
    ++sent_[message.peer];
    links_.send(message.peer, now_);
  }
  outbox_.push_back(std::move(message));
}

/// Lets a promise ride on what is about to be sent to a peer anyway.
auto Gate::ride(PeerId peer, const Promise& promise) -> bool {
  for (auto m = outbox_.rbegin(); m != outbox_.rend(); ++m) {
    if (m->peer != peer || m->kind >= MessageKind::kFailure) continue;
    if (!is_numbered(m->kind) || m->kind == MessageKind::kStop) return false;
    m->promise = promise;
    return true;
  }
  return false;
}

void Gate::flush() {
  if (outbox_.empty()) return;
  std::vector<Message> messages;
  messages.swap(outbox_);
  port_.say(messages);
}

}  // namespace reactorl
