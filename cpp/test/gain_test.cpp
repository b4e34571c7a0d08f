// SPDX-License-Identifier: Apache-2.0
#include "reactorl/gain.hpp"

#include "check.hpp"

using namespace reactorl;

namespace {

/// How many of `tags` tags are shared if each phase shows `phase`; tags take a
/// millisecond.
auto shared(Gain& gain, Gain::Phase phase, int tags, Time& now) -> int {
  int count = 0;
  for (int tag = 0; tag < tags; ++tag) {
    now += 1'000'000;
    if (!gain.worthwhile(now)) continue;
    ++count;
    gain.report(phase, now);
  }
  return count;
}

constexpr Time kMs = 1'000'000;

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
  CHECK_EQ(shared(gain, {.alone = kMs, .together = 9 * kMs, .busy = 0}, 2, now), 2);
  CHECK_EQ(shared(gain, {.alone = kMs, .together = kMs, .busy = 0}, 9, now), 9);
  CHECK_EQ(shared(gain, {.alone = kMs, .together = 9 * kMs, .busy = 0}, 2, now), 2);
}

TEST(behind_a_lock_a_second_processor_shows_that_it_pays) {
  Gain gain(true);
  Time now = 0;
  const Gain::Phase releasing{.alone = 3 * kMs / 2, .together = kMs, .busy = 2 * kMs};

  CHECK(shared(gain, releasing, 1'000, now) > 990);
}

TEST(behind_a_lock_threads_that_take_turns_gain_nothing_though_estimates_vary) {
  Gain gain(true);
  Time now = 0;
  const Gain::Phase turns{.alone = 13 * kMs / 10, .together = kMs, .busy = kMs};
  const Gain::Phase passing{.alone = kMs, .together = kMs, .busy = 13 * kMs / 10};

  CHECK(shared(gain, turns, 10'000, now) < 12);
  CHECK(shared(gain, passing, 10'000, now) < 12);
}

TEST(behind_a_lock_waiting_at_the_same_time_pays) {
  Gain gain(true);
  Time now = 0;
  const Gain::Phase sleeping{.alone = 2 * kMs, .together = kMs, .busy = kMs / 10};
  const Gain::Phase in_turn{.alone = kMs, .together = kMs, .busy = kMs / 10};

  CHECK(shared(gain, sleeping, 1'000, now) > 990);
  CHECK(shared(gain, in_turn, 1'000, now) < 10);
}

TEST(nonsense_times_are_not_counted) {
  Gain gain(true);
  gain.report({.alone = 0, .together = 100, .busy = 100}, 0);
  gain.report({.alone = 100, .together = 0, .busy = 100}, 0);

  CHECK(gain.worthwhile(1));
}

TEST(what_takes_ten_times_as_long_as_ever_is_no_measure_of_sharing) {
  Gain gain(true);
  Time now = 0;
  const Gain::Phase compiling{.alone = kMs, .together = 500 * kMs, .busy = 900 * kMs};
  const Gain::Phase releasing{.alone = 3 * kMs / 2, .together = kMs, .busy = 2 * kMs};

  CHECK_EQ(shared(gain, compiling, 1, now), 1);
  CHECK(shared(gain, releasing, 1'000, now) > 990);
}

TEST(without_a_lock_long_phases_are_tried_again_soon) {
  Gain gain(false);
  Time now = 0;
  const Gain::Phase slow{.alone = 20 * kMs, .together = 30 * kMs, .busy = 0};
  CHECK_EQ(shared(gain, slow, 4, now), 4);

  CHECK(!gain.worthwhile(now + 190 * kMs));
  CHECK(gain.worthwhile(now + 201 * kMs));
}
