// SPDX-License-Identifier: Apache-2.0
// Programs that run for long need memory for what is pending, not for what has happened.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <malloc.h>
#include <new>

#include "check.hpp"
#include "program.hpp"
#include "reactorl/event_queue.hpp"
#include "reactorl/scheduler.hpp"

namespace {

std::atomic<std::size_t> live_bytes{0};

auto allocate(std::size_t size) -> void* {
  void* const memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  live_bytes += malloc_usable_size(memory);
  return memory;
}

void release(void* memory) noexcept {
  if (memory == nullptr) return;
  live_bytes -= malloc_usable_size(memory);
  std::free(memory);
}

}  // namespace

// Replaced for the whole executable. Over-aligned memory is not counted.
auto operator new(std::size_t size) -> void* { return allocate(size); }
auto operator new[](std::size_t size) -> void* { return allocate(size); }
void operator delete(void* memory) noexcept { release(memory); }
void operator delete[](void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { release(memory); }
void operator delete[](void* memory, std::size_t /*size*/) noexcept { release(memory); }

using namespace reactorl;

namespace {

constexpr std::size_t kLittle = 256 * 1024;

/// How many bytes more a program has at any of `tags` tags than after a tenth of them;
/// it is stopped when they are not few.
auto growth(Program& program, Time tags) -> std::size_t {
  std::size_t early = 0;
  std::size_t most = 0;
  const auto timer = program.timer(0, 1);
  program.react({.reactor = 1, .triggers = {program.of(timer)}, .body = [&](Body& b) {
                   const std::size_t now = live_bytes.load();
                   if (b.tag().time < tags / 10) return;
                   if (b.tag().time == tags / 10) early = now;
                   most = std::max(most, now);
                   if (b.tag().time == tags || most > early + kLittle) b.request_stop();
                 }});
  Session session(program, 1, {.fast = true, .start = 0});
  CHECK(session.run() == Status::kFinished);
  CHECK(early > 0);
  return most - early;
}

}  // namespace

TEST(allocations_are_counted) {
  const std::size_t before = live_bytes.load();
  auto bytes = std::make_unique<std::byte[]>(100'000);

  CHECK(live_bytes.load() >= before + 100'000);
  bytes.reset();
  CHECK_EQ(live_bytes.load(), before);
}

TEST(an_alarm_that_is_moved_at_every_tag_needs_no_memory) {
  constexpr Time kFar = 1'000'000'000;
  for (const Policy policy : {Policy::kUpdate, Policy::kReplace}) {
    Program program;
    const auto timer = program.timer(0, 1);
    const auto alarm = program.action(0, 2 * kFar, policy);
    program.react({.triggers = {program.of(timer)},
                   .body = [=](Body& b) { b.schedule(alarm, kFar, b.tag().time); }});

    CHECK(growth(program, check::scaled(100'000, 50'000)) < kLittle);
  }
}

TEST(an_action_that_always_has_an_event_pending_needs_no_memory) {
  Program program;
  const auto chain = program.action(2);
  program.at_start(0, {}, [=](Body& b) {
    b.schedule(chain, 0, 0);
    b.schedule(chain, 1, 1);
  });
  program.react({.triggers = {program.of(chain)},
                 .body = [=](Body& b) { b.schedule(chain, 0, b.tag().time); }});

  CHECK(growth(program, check::scaled(100'000, 50'000)) < kLittle);
}

TEST(taken_events_are_dropped_while_others_are_pending) {
  const std::size_t before = live_bytes.load();
  PendingEvents events;
  std::size_t most = 0;
  for (int i = 0; i < 10; ++i) events.insert({i, 0}, Value());
  for (int i = 0; i < 100'000; ++i) {
    CHECK(events.take({i, 0}).has_value());
    events.insert({i + 10, 0}, Value());
    most = std::max(most, live_bytes.load() - before);
  }

  CHECK(most < 16 * 1024);
}
