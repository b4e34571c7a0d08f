// SPDX-License-Identifier: Apache-2.0
// Events from the physical world: from any thread, each once, in the order of tags.
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "check.hpp"
#include "program.hpp"
#include "reactorl/scheduler.hpp"

using namespace reactorl;

namespace {

constexpr Time kMillisecond = 1'000'000;
constexpr Time kSecond = 1'000'000'000;
constexpr int kThreads = 8;

void sleep_ms(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

/// Threads that hammer one physical action with numbers 1000000 * thread + i.
class Hammer {
 public:
  Hammer(Scheduler& scheduler, TriggerId action, int each) {
    for (int t = 0; t < kThreads; ++t) {
      threads_.emplace_back([&scheduler, action, each, t] {
        check::Dice dice(static_cast<std::uint64_t>(t));
        for (int i = 0; i < each; ++i) {
          scheduler.schedule_physical(action, 0, Counted::make(1'000'000 * t + i));
          if (dice.chance(1)) std::this_thread::yield();
        }
      });
    }
  }
  ~Hammer() {
    for (std::thread& thread : threads_) thread.join();
  }
  Hammer(const Hammer&) = delete;
  auto operator=(const Hammer&) -> Hammer& = delete;

 private:
  std::vector<std::thread> threads_;
};

/// Every number of every thread came once, in its thread's order, at rising tags.
void check_complete(const Log& log, int each) {
  CHECK_EQ(log.size(), static_cast<std::size_t>(kThreads * each));
  std::vector<int> next(kThreads, 0);
  Tag last{-1, 0};
  for (const Seen& seen : log) {
    CHECK(seen.tag > last);
    last = seen.tag;
    const auto thread = static_cast<std::size_t>(seen.number / 1'000'000);
    CHECK_EQ(seen.number % 1'000'000, next[thread]++);
  }
}

/// One action with a reader, which ends the run after `total` events.
struct Receiver {
  explicit Receiver(int total, Trigger trigger = {}) {
    trigger.kind = TriggerKind::kPhysical;
    action = program.add(trigger);
    const SlotId slot = program.of(action);
    out = program.slot();
    program.react({.triggers = {slot}, .effects = {out}, .body = [=, this](Body& b) {
                     log.push_back({b.tag(), b.get(slot)});
                     b.set(out, b.get(slot));
                     if (static_cast<int>(log.size()) == total) b.request_stop();
                   }});
    for (ReactorId r = 1; r < 5; ++r) program.react({.reactor = r, .triggers = {out}});
  }
  Program program;
  TriggerId action;
  SlotId out;
  Log log;
};

}  // namespace

TEST(hammered_from_eight_threads_every_event_arrives_once) {
  for (const Setting& setting : {Setting{1, 0}, Setting{2, 0}, Setting{4, 5}}) {
    // A shuffle calls all workers at every tag, which takes its time.
    const int each = setting.shuffle == 0 ? check::scaled(3000, 500) : 50;
    for (const bool fast : {true, false}) {
      Receiver receiver(kThreads * each);
      Session session(receiver.program, setting.workers,
                      {.fast = fast, .keepalive = true, .shuffle = setting.shuffle});
      {
        const Hammer hammer(session.scheduler, receiver.action, each);
        CHECK(session.run() == Status::kFinished);
      }

      check_complete(receiver.log, each);
      CHECK_EQ(session.host.recording.size(), receiver.log.size());
    }
  }
  CHECK_EQ(Counted::live.load(), 0);
}

TEST(events_arrive_among_other_work) {
  const int each = check::scaled(1000, 200);
  Receiver receiver(kThreads * each);
  const auto timer = receiver.program.timer(0, 20'000);
  std::int64_t ticks = 0;
  receiver.program.react({.reactor = 7,
                          .triggers = {receiver.program.of(timer)},
                          .body = [&](Body&) { ++ticks; }});
  Session session(receiver.program, 4, {.keepalive = true});
  {
    const Hammer hammer(session.scheduler, receiver.action, each);
    CHECK(session.run() == Status::kFinished);
  }
  const Time ran = session.scheduler.tag().time - session.scheduler.clock().start_time();

  check_complete(receiver.log, each);
  CHECK_EQ(ticks, ran / 20'000 + 1);  // the timer did not lose any either
}

TEST(a_recorded_run_is_repeated_exactly) {
  const int each = check::scaled(50, 20);
  Receiver receiver(kThreads * each);
  std::vector<std::int64_t> words;
  std::vector<std::tuple<TriggerId, Tag, std::int64_t>> recording;
  {
    Session session(receiver.program, 2, {.keepalive = true, .trace = true});
    const Hammer hammer(session.scheduler, receiver.action, each);
    CHECK(session.run() == Status::kFinished);
    words = session.trace();
    recording = session.host.recording;
  }
  for (const Setting& setting : kSettings) {
    receiver.log.clear();
    Options options = setting.options();
    options.replay = options.keepalive = true;
    Session session(receiver.program, setting.workers, options);
    for (const auto& [trigger, tag, number] : recording) {
      session.scheduler.preload(trigger, tag, Counted::make(number));
    }

    CHECK(session.run() == Status::kFinished);
    CHECK(session.trace() == words);
    CHECK(session.host.recording == recording);
  }
  CHECK_EQ(Counted::live.load(), 0);
}

TEST(no_event_is_overlooked_before_a_sleep) {
  // Polling comes between the last look into the inbox and the sleep. An event that was
  // put there and overlooked would be found only after the nap of 50 ms.
  constexpr int kEvents = 100;
  Receiver receiver(kEvents);
  Session session(receiver.program, 1, {.keepalive = true});
  std::size_t sent = 0;
  session.host.on_poll = [&] {
    if (receiver.log.size() == sent && sent < kEvents) {
      ++sent;
      session.scheduler.schedule_physical(receiver.action, 0, Counted::make(1));
    }
    return true;
  };
  const Time began = Clock::ticks_now();

  CHECK(session.run() == Status::kFinished);
  CHECK(Clock::ticks_now() - began < kEvents * 45 * kMillisecond);
}

TEST(an_event_wakes_a_sleeping_program) {
  constexpr int kEvents = 20;
  Receiver receiver(kEvents);
  Session session(receiver.program, 1, {.keepalive = true});
  std::atomic<std::size_t> arrived{0};
  session.host.on_poll = [&] {
    arrived.store(receiver.log.size());
    return true;
  };
  int slow = 0;
  std::thread sender([&] {
    for (std::size_t i = 0; i < kEvents; ++i) {
      sleep_ms(1);
      const Time sent = Clock::ticks_now();
      session.scheduler.schedule_physical(receiver.action, 0, Counted::make(1));
      while (arrived.load() <= i) std::this_thread::yield();
      if (Clock::ticks_now() - sent > 40 * kMillisecond) ++slow;
    }
  });
  CHECK(session.run() == Status::kFinished);
  arrived.store(kEvents);
  sender.join();

  CHECK(slow < kEvents);  // a busy machine may be late at times
}

TEST(an_event_is_stamped_with_its_delays) {
  Receiver receiver(2, {.delay = 3 * kMillisecond});
  Session session(receiver.program, 1, {.keepalive = true, .start = 0});
  CHECK(session.scheduler.start() == Status::kRunning);
  const Time before = session.scheduler.clock().now();
  session.scheduler.schedule_physical(receiver.action, 4 * kMillisecond,
                                      Counted::make(2));
  session.scheduler.schedule_physical(receiver.action, -99, Counted::make(1));
  const Time after = session.scheduler.clock().now();

  CHECK(session.scheduler.run() == Status::kFinished);
  CHECK_EQ(receiver.log[0].number, 1);
  CHECK(receiver.log[0].tag.time >= before + 3 * kMillisecond);
  CHECK(receiver.log[0].tag.time <= after + 3 * kMillisecond);
  CHECK(receiver.log[1].tag.time >= before + 7 * kMillisecond);
}

TEST(an_event_from_before_the_start_counts_from_the_start) {
  Receiver receiver(2);
  Session session(receiver.program, 1, {.fast = true, .keepalive = true, .start = 500});
  session.scheduler.schedule_physical(receiver.action, 7, Counted::make(2));
  session.scheduler.schedule_physical(receiver.action, 0, Counted::make(1));

  CHECK(session.run() == Status::kFinished);
  CHECK_EQ(receiver.log, (Log{{{0, 1}, 1}, {{7, 0}, 2}}));
}

TEST(physical_events_obey_the_policy) {
  const int each = check::scaled(200, 50);
  for (const Policy policy :
       {Policy::kDefer, Policy::kDrop, Policy::kReplace, Policy::kUpdate}) {
    Receiver receiver(10, {.policy = policy, .spacing = kMillisecond / 5});
    Session session(receiver.program, 2, {.fast = true, .keepalive = true, .start = 0});
    session.scheduler.start();
    {
      const Hammer hammer(session.scheduler, receiver.action, each);
    }
    session.scheduler.schedule_physical(receiver.action, kSecond, Value());
    session.scheduler.request_stop();  // what has arrived is placed before the end
    session.scheduler.run();
    Tag last{-kSecond, 0};
    for (const Seen& seen : receiver.log) {
      if (policy != Policy::kUpdate) CHECK(seen.tag.time - last.time >= kMillisecond / 5);
      last = seen.tag;
    }
  }
  CHECK_EQ(Counted::live.load(), 0);
}

TEST(a_physical_connection_stamps_what_it_carries) {
  Program program;
  Log log;
  const SlotId out = program.slot();
  const SlotId in = program.after(out, kMillisecond, kNone, TriggerKind::kPhysicalStage);
  const auto timer = program.timer(0, 100);
  program.react({.triggers = {program.of(timer)}, .effects = {out}, .body = [=](Body& b) {
                   if (b.tag().time < 300) b.set(out, b.tag().time);
                 }});
  program.react({.reactor = 1, .triggers = {in}, .body = [&](Body& b) {
                   log.push_back({b.tag(), b.get(in)});
                   if (log.size() == 3) b.request_stop();
                 }});
  Session session(program, 2, {.fast = true, .start = 0});

  CHECK(session.run() == Status::kFinished);
  CHECK_EQ(log.size(), std::size_t{3});
  for (const Seen& seen : log) CHECK(seen.tag.time >= kMillisecond);
  CHECK_EQ(session.host.recording.size(), std::size_t{3});
}

TEST(keepalive_waits_for_a_stop_from_outside) {
  for (const WorkerId workers : {1U, 4U}) {
    Receiver receiver(-1);
    Program& program = receiver.program;
    std::atomic<bool> began{false};
    std::atomic<bool> received{false};
    const auto timer = program.timer(0);
    program.react({.reactor = 5, .triggers = {program.of(timer)}, .body = [&](Body&) {
                     began.store(true);
                   }});
    program.react({.reactor = 6, .triggers = {receiver.out}, .body = [&](Body&) {
                     received.store(true);
                   }});
    Session session(program, workers, {.keepalive = true});
    std::thread other([&] {
      while (!began.load()) std::this_thread::yield();
      sleep_ms(1);  // the event has a later time than the first tag
      session.scheduler.schedule_physical(receiver.action, 0, Counted::make(1));
      while (!received.load()) std::this_thread::yield();
      session.scheduler.request_stop();
    });

    CHECK(session.run() == Status::kFinished);
    other.join();
    CHECK_EQ(receiver.log.size(), std::size_t{1});
    CHECK_EQ(session.scheduler.tag().microstep, 1U);
  }
}

TEST(a_stop_from_outside_ends_a_busy_program) {
  for (const bool fast : {true, false}) {
    Program program;
    std::atomic<int> ticks{0};
    const auto timer = program.timer(0, 1000);
    program.react({.triggers = {program.of(timer)}, .body = [&](Body&) { ++ticks; }});
    Session session(program, 2, {.fast = fast});
    std::thread other([&] {
      while (ticks.load() < 10) std::this_thread::yield();
      session.scheduler.request_stop();
    });

    CHECK(session.run() == Status::kFinished);
    other.join();
  }
}
