// SPDX-License-Identifier: Apache-2.0
#include "reactorl/timings.hpp"

#include <vector>

#include "check.hpp"
#include "program.hpp"

using namespace reactorl;

namespace {

auto all(const Recent<int>& recent) -> std::vector<int> {
  std::vector<int> found;
  recent.for_each([&](int item) { found.push_back(item); });
  return found;
}

/// A timer that fires `kTags` times and two reactions that it triggers.
constexpr std::uint64_t kTags = 50;

auto timed(WorkerId workers, std::uint32_t keep) -> std::vector<Timings::Invocation> {
  Program program;
  const SlotId tick = program.of(program.timer(0, 1));
  for (ReactorId reactor = 0; reactor < 2; ++reactor) {
    program.react({.reactor = reactor, .triggers = {tick}});
  }
  Session session(program, workers,
                  {.fast = true, .timeout = kTags - 1, .start = 0, .timing = keep});
  CHECK(session.run() == Status::kFinished);
  const Timings* timings = session.scheduler.timings();
  CHECK(timings != nullptr);
  CHECK_EQ(timings->lags().tags, kTags);
  CHECK_EQ(timings->lags().longest, Time{0});  // a fast run does not wait for the clock
  std::vector<Timings::Invocation> found;
  std::uint64_t runs = 0;
  for (const auto& work : timings->works()) {
    runs += work.runs;
    CHECK_EQ(work.runs, work.recent.size() + work.recent.forgotten());
    work.recent.for_each([&](const Timings::Invocation& i) { found.push_back(i); });
  }
  CHECK_EQ(runs, 2 * kTags);
  for (const auto& sum : timings->sums()) CHECK_EQ(sum.runs, kTags);
  return found;
}

}  // namespace

TEST(recent_keeps_the_last_ones_in_order) {
  Recent<int> recent(3);
  CHECK_EQ(all(recent), (std::vector<int>{}));
  recent.add(1);
  recent.add(2);
  CHECK_EQ(all(recent), (std::vector<int>{1, 2}));
  recent.add(3);
  CHECK_EQ(recent.forgotten(), std::uint64_t{0});
  recent.add(4);
  recent.add(5);
  CHECK_EQ(all(recent), (std::vector<int>{3, 4, 5}));
  CHECK_EQ(recent.forgotten(), std::uint64_t{2});
}

TEST(recent_may_keep_nothing) {
  Recent<int> recent(0);
  recent.add(1);
  CHECK_EQ(recent.size(), std::size_t{0});
  CHECK_EQ(recent.forgotten(), std::uint64_t{1});
}

TEST(sums_are_of_everything_that_was_noted) {
  Timings timings(2, 2, 1);
  timings.note(0, {1, 0, false, 10, 15});
  timings.note(1, {2, 0, true, 20, 40});
  timings.note(1, {2, 1, false, 40, 41});
  timings.note({1, {0, 0}, 9, 16, 3});
  timings.note({2, {5, 0}, 19, 42, 5});

  CHECK_EQ(timings.sums()[0].runs, std::uint64_t{2});
  CHECK_EQ(timings.sums()[0].missed, std::uint64_t{1});
  CHECK_EQ(timings.sums()[0].total, Time{25});
  CHECK_EQ(timings.sums()[0].longest, Time{20});
  CHECK_EQ(timings.works()[1].busy, Time{21});
  CHECK_EQ(timings.works()[1].recent.forgotten(), std::uint64_t{1});
  CHECK_EQ(timings.lags().tags, std::uint64_t{2});
  CHECK_EQ(timings.lags().total, Time{8});
  CHECK_EQ(timings.lags().longest, Time{5});
  CHECK_EQ(timings.lags().began, Time{9});
  CHECK_EQ(timings.lags().ended, Time{42});
  CHECK_EQ(timings.tags().size(), std::size_t{1});
}

TEST(every_invocation_is_timed_on_any_worker) {
  for (const WorkerId workers : {1U, 2U, 4U}) {
    const auto found = timed(workers, 1000);
    CHECK_EQ(found.size(), std::size_t{2 * kTags});
    for (const auto& i : found) {
      CHECK(i.begin <= i.end);
      CHECK(i.epoch >= 1 && i.epoch <= kTags);
    }
  }
}

TEST(only_the_last_invocations_are_kept) {
  const auto found = timed(1, 7);
  CHECK_EQ(found.size(), std::size_t{7});
  CHECK_EQ(found.back().epoch, Epoch{kTags});
}

TEST(nothing_is_measured_unless_asked_for) {
  Program program;
  Session session(program);
  session.run();
  CHECK(session.scheduler.timings() == nullptr);
}
