// SPDX-License-Identifier: Apache-2.0
#include "reactorl/costs.hpp"

#include "check.hpp"

using namespace reactorl;

TEST(the_first_runs_are_all_measured_then_a_sample) {
  Costs costs(1);
  int measured = 0;
  for (int run = 0; run < 1000; ++run) {
    if (!costs.start(0)) continue;
    ++measured;
    costs.stop(0, 100);
  }

  CHECK_EQ(costs.entry(0).runs, std::uint64_t{1000});
  CHECK_EQ(costs.entry(0).measured, static_cast<std::uint64_t>(measured));
  CHECK(measured >= 60 && measured <= 80);
  CHECK_EQ(costs.entry(0).total, 100 * measured);
}

TEST(long_reactions_are_always_measured) {
  Costs costs(2);
  for (int run = 0; run < 100; ++run) {
    CHECK(costs.start(1));
    costs.stop(1, 1'000'000);
  }

  CHECK_EQ(costs.recent(1), 1'000'000);
  CHECK_EQ(costs.recent(0), 0);
}

TEST(the_first_run_is_forgotten) {
  Costs costs(1);
  CHECK(costs.start(0));
  costs.stop(0, 50'000'000);
  CHECK(costs.start(0));
  costs.stop(0, 200);

  CHECK_EQ(costs.recent(0), 200);
}

TEST(the_average_follows_a_change) {
  Costs costs(1);
  for (int run = 0; run < 10; ++run) costs.stop(0, 1000);
  for (int run = 0; run < 40; ++run) costs.stop(0, 9000);
  CHECK(costs.recent(0) > 8900 && costs.recent(0) <= 9000);

  for (int run = 0; run < 60; ++run) costs.stop(0, 0);
  CHECK(costs.recent(0) >= 0 && costs.recent(0) < 10);
}

TEST(sharing_goes_on_while_it_pays) {
  Gain gain(0.9, 16384);
  int refused = 0;
  for (int tag = 0; tag < 10'000; ++tag) {
    if (gain.worthwhile()) {
      gain.report(1800, 1000);
    } else {
      ++refused;
    }
  }

  CHECK(gain.value() > 1.7 && gain.value() < 1.9);
  CHECK(refused > 10 && refused < 100);  // only to refresh the estimate
}

TEST(sharing_that_does_not_pay_is_tried_ever_more_rarely) {
  Gain gain(0.9, 16384);
  const auto tries = [&](int tags) {
    int count = 0;
    for (int tag = 0; tag < tags; ++tag) {
      if (!gain.worthwhile()) continue;
      ++count;
      gain.report(500, 1000);
    }
    return count;
  };
  const int early = tries(1000);
  const int late = tries(100'000);

  CHECK(early >= 3);
  CHECK(late < 60);
}

TEST(the_longest_pause_bounds_how_rarely) {
  Gain gain(0.9, 128);
  int pause = 0;
  int longest = 0;
  for (int tag = 0; tag < 10'000; ++tag) {
    if (gain.worthwhile()) {
      gain.report(500, 1000);
      pause = 0;
    } else {
      longest = std::max(longest, ++pause);
    }
  }

  CHECK_EQ(longest, 128);
}

TEST(sharing_comes_back_when_it_pays_again) {
  Gain gain(1.1, 16384);
  for (int tag = 0; tag < 10'000; ++tag) {
    if (gain.worthwhile()) gain.report(1000, 1000);
  }
  int shared = 0;
  for (int tag = 0; tag < 40'000; ++tag) {
    if (!gain.worthwhile()) continue;
    ++shared;
    gain.report(2000, 1000);
  }

  CHECK(shared > 20'000);
}

TEST(nonsense_times_are_not_counted) {
  Gain gain(0.9, 16384);
  gain.report(0, 100);
  gain.report(100, 0);
  gain.report(-5, -5);

  CHECK_EQ(gain.value(), 0.0);
  CHECK(gain.worthwhile());
}
