// SPDX-License-Identifier: Apache-2.0
// One federate with a peer that the test plays: what it waits for, and what it says.
#include "reactorl/gate.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include "program.hpp"

using namespace reactorl;

namespace {

constexpr PeerId kMe = 0;
constexpr PeerId kPeer = 1;

/// Notes what the federate says, and answers from its own thread.
class Peer final : public GatePort {
 public:
  explicit Peer(std::function<void(const Report&)> answer) : answer_(std::move(answer)) {}

  void say(std::vector<Message>& messages) noexcept override {
    const std::lock_guard lock(mutex_);
    for (const Message& m : messages) {
      const std::int64_t number =
          m.value.get() == nullptr ? -1 : Counted::number(m.value);
      said.push_back({m.kind, m.final, m.tag, m.index, m.at, number});
    }
  }
  void wait(const Report& report) noexcept override {
    const std::lock_guard lock(mutex_);
    if (answer_) answer_(report);
  }

  struct Said {
    MessageKind kind;
    bool final;
    Tag tag;
    std::uint32_t index;
    Tag at;
    std::int64_t number;
  };
  [[nodiscard]] auto count(MessageKind kind) const -> std::size_t {
    return static_cast<std::size_t>(std::ranges::count(said, kind, &Said::kind));
  }
  std::vector<Said> said;

 private:
  std::mutex mutex_;
  std::function<void(const Report&)> answer_;
};

auto value(Tag tag, std::uint32_t index, std::int64_t number, bool final = false)
    -> Message {
  return {.kind = MessageKind::kValue,
          .final = final,
          .peer = kPeer,
          .tag = tag,
          .index = index,
          .value = Counted::make(number)};
}

auto promise(Tag tag, std::uint32_t index = 0, bool final = false) -> Message {
  return {.kind = MessageKind::kPromise,
          .final = final,
          .peer = kPeer,
          .tag = tag,
          .index = index,
          .at = tag};
}

auto end_at(Tag tag) -> Message {
  return {.kind = MessageKind::kEnd, .peer = kMe, .at = tag};
}

/// A remote reaction 0 sets the slot `in`; 1 reads it and sets `out`; 2 reads nothing.
struct Parts {
  Program program;
  SlotId in = program.slot();
  SlotId out = program.slot();
  TriggerId timer = program.timer(0, 10);
  std::vector<std::int64_t> seen;
  std::vector<Time> beside;
  GatePlan gate;

  Parts() {
    program.react({.reactor = 0, .effects = {in}});
    program.react(
        {.reactor = 1, .triggers = {in}, .effects = {out}, .body = [this](Body& body) {
           seen.push_back(body.get(in));
           body.set(out, body.get(in) + 1);
         }});
    program.react({.reactor = 2,
                   .triggers = {program.of(timer)},
                   .body = [this](Body& b) { beside.push_back(b.tag().time); }});
    gate.peers.resize(2);
    gate.peers[kPeer].in = {{in, 0}};
    gate.peers[kPeer].out = {{out, 1}};
    gate.peers[kPeer].sends = true;
  }
};

void check_exchange(WorkerId workers, bool threaded) {
  Parts parts;
  Session session(parts.program, workers);
  std::vector<std::thread> threads;
  std::atomic<int> step{0};
  // Each time the federate can do nothing, it gets one thing more.
  const auto answer = [&](const Report& report) {
    const auto put = [&](Message message) {
      if (!threaded) return session.scheduler.put(std::move(message));
      threads.emplace_back([&session, m = std::move(message)]() mutable {
        session.scheduler.put(std::move(m));
      });
    };
    if (report.next == kLastTag) return;  // it is over
    if (report.taken != static_cast<std::uint64_t>(step)) return;
    switch (step++) {
      case 0:
        CHECK(report.inside);
        CHECK(report.next == Tag({0, 0}));
        CHECK_EQ(parts.beside.size(), 1U);  // what does not depend on it did not wait
        CHECK(parts.seen.empty());
        return put(value({0, 0}, 0, 41));
      case 1:
        CHECK(!report.inside);
        CHECK(report.next == Tag({10, 0}));
        CHECK_EQ(report.received[kPeer], 1U);
        CHECK_EQ(report.sent[kPeer], 1U);
        return put(promise({10, 0}));
      case 2:
        CHECK(report.inside);  // whether the slot is present at 10 is not known
        return put(promise({10, 0}, 1));
      case 3: return put(end_at({10, 1}));
      case 4: CHECK(!report.inside); return put(promise({10, 1}));
      case 5:
        CHECK(report.inside);  // that the peer has nothing to do does not settle it
        return put(value({10, 1}, 0, 7, true));
      default: return;
    }
  };
  Peer peer(answer);
  session.scheduler.federate(parts.gate, peer);

  CHECK(session.run() == Status::kFinished);

  for (std::thread& thread : threads) thread.join();
  CHECK_EQ(step.load(), 6);
  CHECK(session.scheduler.broken() == nullptr);
  CHECK(parts.seen == std::vector<std::int64_t>({41, 7}));
  CHECK(parts.beside == std::vector<Time>({0, 10}));
  CHECK_EQ(peer.count(MessageKind::kValue), 2U);
  CHECK_EQ(peer.said.front().number, 42);
}

}  // namespace

TEST(a_federate_waits_for_what_it_reads_and_for_nothing_else) {
  for (const WorkerId workers : {1U, 2U, 4U}) {
    check_exchange(workers, false);
    check_exchange(workers, true);
  }
}

TEST(a_value_that_comes_early_waits_for_its_tag) {
  Parts parts;
  Session session(parts.program);
  Peer peer(nullptr);
  session.scheduler.federate(parts.gate, peer);
  session.scheduler.put(value({0, 0}, 0, 1));
  session.scheduler.put(value({3, 0}, 0, 2));
  session.scheduler.put(value({10, 0}, 0, 3));
  session.scheduler.put(end_at({10, 1}));
  session.scheduler.put(promise({11, 0}));
  session.scheduler.put(promise(kLastTag, 1, true));

  CHECK(session.run() == Status::kFinished);

  CHECK(parts.seen == std::vector<std::int64_t>({1, 2, 3}));
}

TEST(what_arrives_too_late_ends_the_run) {
  Parts parts;
  Session session(parts.program);
  Scheduler* scheduler = &session.scheduler;
  Peer peer([&](const Report& report) {
    if (report.inside || report.taken > 1) return;
    scheduler->put(value({0, 0}, 0, 1));  // said to be absent before
  });
  session.scheduler.federate(parts.gate, peer);
  session.scheduler.put(promise({5, 0}));

  CHECK(session.run() == Status::kBrokenOff);

  CHECK(session.scheduler.broken() != nullptr);
  CHECK(parts.seen.empty());
}

TEST(a_failure_elsewhere_ends_the_run_after_what_precedes_it) {
  Parts parts;
  Session session(parts.program);
  Peer peer(nullptr);
  session.scheduler.federate(parts.gate, peer);
  // At 10, at the level of the remote reaction: reaction 1 comes after it.
  session.scheduler.put({.kind = MessageKind::kFailure, .tag = {10, 0}, .key = 0});
  session.scheduler.put(promise({40, 0}));

  CHECK(session.run() == Status::kFailed);

  CHECK(parts.beside == std::vector<Time>({0}));
  CHECK_EQ(peer.count(MessageKind::kFailure), 0U);  // others know
}

TEST(a_demand_is_answered_by_taking_part) {
  Parts parts;
  Session session(parts.program);
  Scheduler* scheduler = &session.scheduler;
  bool ended = false;
  Peer peer([&](const Report& report) {
    if (report.done < Tag{4, 0} || report.inside || ended) return;
    ended = true;
    scheduler->put(end_at({9, 0}));
    scheduler->put(promise(kLastTag, 1, true));
  });
  session.scheduler.federate(parts.gate, peer);
  session.scheduler.put({.kind = MessageKind::kDemand, .peer = kPeer, .tag = {4, 0}});
  session.scheduler.put(promise({9, 0}));

  CHECK(session.run() == Status::kFinished);

  CHECK(std::ranges::any_of(peer.said, [](const Peer::Said& said) {
    return said.kind == MessageKind::kPromise && !said.final && said.tag > Tag{4, 0} &&
           said.tag < Tag{9, 1};
  }));
}

TEST(a_value_of_the_final_tag_tells_that_it_is_the_final_one) {
  Parts parts;
  Session session(parts.program);
  Peer peer(nullptr);
  session.scheduler.federate(parts.gate, peer);
  session.scheduler.put(promise(kLastTag));
  session.scheduler.put(value({3, 0}, 0, 5, true));

  CHECK(session.run() == Status::kFinished);

  CHECK(parts.seen == std::vector<std::int64_t>({5}));
  CHECK(parts.beside == std::vector<Time>({0}));
  CHECK_EQ(peer.count(MessageKind::kEnding), 1U);
}

TEST(who_is_asked_about_an_earlier_tag_says_where_it_is) {
  Parts parts;
  Session session(parts.program);
  Scheduler* scheduler = &session.scheduler;
  int step = 0;
  Peer peer([&](const Report& report) {
    if (!report.inside || report.next != Tag{10, 0}) return;
    if (step == 0) {
      scheduler->put({.kind = MessageKind::kDemand, .peer = kPeer, .tag = {5, 0}});
    } else if (step == 1) {
      scheduler->put(end_at({10, 1}));
      scheduler->put(promise(kLastTag));
      scheduler->put(promise(kLastTag, 1, true));
    }
    ++step;
  });
  session.scheduler.federate(parts.gate, peer);
  session.scheduler.put(promise({10, 0}));

  CHECK(session.run() == Status::kFinished);

  const auto in_the_tag = [](const Peer::Said& said) {
    return said.kind == MessageKind::kPromise && said.tag == Tag{10, 0} &&
           said.at == Tag{10, 0} && said.index == 0;
  };
  // Once after the start, once when it was asked.
  CHECK_EQ(std::ranges::count_if(peer.said, in_the_tag), 2);
}

TEST(a_stop_takes_effect_at_its_tag_and_not_when_it_is_known) {
  Parts parts;
  const TriggerId alarm = parts.program.action();
  parts.program.react({.reactor = 3,
                       .triggers = {parts.program.of(parts.timer)},
                       .body = [=](Body& body) { body.schedule(alarm, 77, 0); }});
  Session session(parts.program);
  Peer peer(nullptr);
  session.scheduler.federate(parts.gate, peer);
  session.scheduler.put(
      {.kind = MessageKind::kStop, .peer = kPeer, .tag = {20, 0}, .at = {20, 1}});
  session.scheduler.put(promise(kLastTag));
  session.scheduler.put(promise(kLastTag, 1, true));

  CHECK(session.run() == Status::kFinished);

  // At the tags 0, 10 and 20 the end was not known in one process.
  const std::vector<std::int64_t> words = session.trace();
  for (const std::int64_t at : {77, 87, 97}) {
    CHECK(std::ranges::find(words, at) != words.end());
  }
}
