// SPDX-License-Identifier: Apache-2.0
#include "reactorl/gain.hpp"

#include <vector>

#include "check.hpp"

using namespace reactorl;

namespace {

constexpr Time kMs = 1'000'000;

auto number(Time now) -> Epoch { return static_cast<Epoch>(now / kMs); }

/// Lets the time pass in which estimates are renewed often.
void settle(Gain& gain, Time& now) {
  for (int tag = 0; tag < 129; ++tag) {
    now += kMs;
    static_cast<void>(gain.worthwhile(now, number(now)));
  }
}

/// How many of `tags` tags are shared if each phase shows `phase`; tags take a
/// millisecond.
auto shared(Gain& gain, Gain::Phase phase, int tags, Time& now) -> int {
  int count = 0;
  for (int tag = 0; tag < tags; ++tag) {
    now += 1'000'000;
    if (!gain.worthwhile(now, number(now))) continue;
    ++count;
    gain.report(phase, now);
  }
  return count;
}

}  // namespace

TEST(sharing_goes_on_while_it_pays) {
  Gain gain(false);
  Time now = 0;
  const int count =
      shared(gain, {.alone = 2 * kMs, .together = kMs, .busy = 0}, 10'000, now);

  CHECK(count > 9'900 && count < 10'000);  // some are left out, to refresh the estimate
}

TEST(sharing_that_does_not_pay_is_tried_rarely_and_comes_back) {
  Gain gain(false);
  Time now = 0;
  const int poor =
      shared(gain, {.alone = kMs / 2, .together = kMs, .busy = 0}, 10'000, now);
  const int good =
      shared(gain, {.alone = 2 * kMs, .together = kMs, .busy = 0}, 1'000, now);

  CHECK(poor > 100 && poor < 600);
  CHECK(good > 850);
}

TEST(one_poor_measurement_is_noise_without_a_lock) {
  Gain gain(false);
  Time now = 0;
  settle(gain, now);
  CHECK_EQ(shared(gain, {.alone = kMs, .together = 9 * kMs, .busy = 0}, 2, now), 2);
  CHECK_EQ(shared(gain, {.alone = kMs, .together = kMs, .busy = 0}, 9, now), 9);
  CHECK_EQ(shared(gain, {.alone = kMs, .together = 9 * kMs, .busy = 0}, 2, now), 2);
}

TEST(behind_a_lock_a_second_processor_shows_that_it_pays) {
  Gain gain(true);
  Time now = 0;
  const Gain::Phase releasing{.alone = 3 * kMs / 2, .together = kMs, .busy = 2 * kMs};

  CHECK(shared(gain, releasing, 1'000, now) > 980);
}

TEST(behind_a_lock_one_poor_measurement_is_noise_if_two_processors_were_busy) {
  Gain gain(true);
  Time now = 0;
  const Gain::Phase releasing{.alone = 3 * kMs / 2, .together = kMs, .busy = 2 * kMs};
  const Gain::Phase disturbed{.alone = 3 * kMs / 2, .together = 2 * kMs, .busy = 3 * kMs};
  settle(gain, now);
  for (int time = 0; time < 3; ++time) {
    CHECK_EQ(shared(gain, disturbed, 3, now), 3);
    CHECK_EQ(shared(gain, releasing, 9, now), 9);
  }

  CHECK(shared(gain, disturbed, 10'000, now) < 50);
}

TEST(behind_a_lock_threads_that_take_turns_gain_nothing_though_estimates_vary) {
  Gain gain(true);
  Time now = 0;
  const Gain::Phase turns{.alone = 13 * kMs / 10, .together = kMs, .busy = kMs};
  const Gain::Phase passing{.alone = kMs, .together = kMs, .busy = 13 * kMs / 10};

  CHECK(shared(gain, turns, 10'000, now) < 15);
  CHECK(shared(gain, passing, 10'000, now) < 15);
}

TEST(behind_a_lock_a_first_try_that_was_slow_is_repeated_soon) {
  Gain gain(true);
  Time now = 0;
  const Gain::Phase growing{.alone = kMs, .together = 5 * kMs, .busy = 5 * kMs};
  const Gain::Phase releasing{.alone = 3 * kMs / 2, .together = kMs, .busy = 2 * kMs};

  CHECK_EQ(shared(gain, growing, 1, now), 1);
  CHECK(shared(gain, releasing, 100, now) > 70);
}

TEST(behind_a_lock_waiting_at_the_same_time_pays) {
  Gain gain(true);
  Time now = 0;
  const Gain::Phase sleeping{.alone = 2 * kMs, .together = kMs, .busy = kMs / 10};
  const Gain::Phase in_turn{.alone = kMs, .together = kMs, .busy = kMs / 10};

  CHECK(shared(gain, sleeping, 1'000, now) > 980);
  CHECK(shared(gain, in_turn, 1'000, now) < 10);
}

TEST(nonsense_times_are_not_counted) {
  Gain gain(true);
  gain.report({.alone = 0, .together = 100, .busy = 100}, 0);
  gain.report({.alone = 100, .together = 0, .busy = 100}, 0);

  CHECK(gain.worthwhile(1, 1));
}

TEST(what_takes_ten_times_as_long_as_ever_is_no_measure_of_sharing) {
  Gain gain(true);
  Time now = 0;
  const Gain::Phase compiling{.alone = kMs, .together = 500 * kMs, .busy = 900 * kMs};
  const Gain::Phase releasing{.alone = 3 * kMs / 2, .together = kMs, .busy = 2 * kMs};

  CHECK_EQ(shared(gain, compiling, 1, now), 1);
  CHECK(shared(gain, releasing, 1'000, now) > 980);
}

TEST(without_a_lock_long_phases_are_tried_again_soon) {
  Gain gain(false);
  Time now = 0;
  const Gain::Phase slow{.alone = 20 * kMs, .together = 30 * kMs, .busy = 0};
  settle(gain, now);
  CHECK_EQ(shared(gain, slow, 4, now), 4);

  CHECK(!gain.worthwhile(now + 190 * kMs, number(now) + 190));
  CHECK(gain.worthwhile(now + 201 * kMs, number(now) + 201));
}

namespace {

/// Which of the first tags are left alone though sharing pays.
auto left_alone_of(Gain gain) -> std::vector<int> {
  const Gain::Phase paying{.alone = 3 * kMs, .together = kMs, .busy = 2 * kMs};
  std::vector<int> left_alone;
  for (int tag = 1; tag <= 300; ++tag) {
    const bool first = gain.worthwhile(tag * kMs, static_cast<Epoch>(tag));
    CHECK_EQ(gain.worthwhile(tag * kMs, static_cast<Epoch>(tag)), first);
    if (first) {
      gain.report(paying, tag * kMs);
    } else {
      left_alone.push_back(tag);
    }
  }

  return left_alone;
}

}  // namespace

TEST(at_first_work_is_left_alone_often_to_see_what_it_takes) {
  CHECK(left_alone_of(Gain(true)) == (std::vector<int>{2, 4, 8, 16, 32, 64, 128, 256}));
  CHECK(left_alone_of(Gain(false)) == (std::vector<int>{2, 16, 128, 256}));
}
