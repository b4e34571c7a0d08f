// SPDX-License-Identifier: Apache-2.0
#include "reactorl/costs.hpp"

#include "check.hpp"

using namespace reactorl;

TEST(short_reactions_are_sampled_and_all_runs_are_counted) {
  Costs costs(1);
  int measured = 0;
  for (int run = 0; run < 1000; ++run) {
    if (!costs.start(0)) continue;
    ++measured;
    costs.stop(0, 100);
  }

  CHECK_EQ(costs.entry(0).runs.get(), std::uint64_t{1000});
  CHECK_EQ(costs.entry(0).measured.get(), static_cast<std::uint64_t>(measured));
  CHECK(measured > 0 && measured < 250);  // timing most of them would cost too much
  CHECK_EQ(costs.entry(0).total.get(), 100 * measured);
}

TEST(long_reactions_are_always_timed) {
  Costs costs(2);
  for (int run = 0; run < 100; ++run) {
    CHECK(costs.start(1));
    costs.stop(1, 1'000'000);
  }

  CHECK_EQ(costs.recent(1), 1'000'000);
  CHECK_EQ(costs.recent(0), 0);
}

TEST(the_first_run_does_not_count) {
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

TEST(shared_runs_do_not_change_the_cost_on_one_worker) {
  Costs costs(1);
  CHECK(costs.start(0));
  costs.stop(0, 1'000);
  CHECK_EQ(costs.alone(0), 1'000);
  for (int run = 0; run < 20; ++run) {
    static_cast<void>(costs.start(0));
    costs.stop(0, 9'000, true);
  }

  CHECK_EQ(costs.alone(0), 1'000);
  CHECK(costs.recent(0) > 8'000 && costs.recent(0) <= 9'000);
}

TEST(without_runs_on_one_worker_shared_runs_are_the_estimate) {
  Costs costs(1);
  CHECK(costs.start(0));
  costs.stop(0, 5'000, true);

  CHECK_EQ(costs.alone(0), 5'000);
}

TEST(one_short_run_hardly_changes_the_estimate) {
  Costs costs(1);
  for (int run = 0; run < 8; ++run) costs.stop(0, 25'000);
  costs.stop(0, 7'000);

  CHECK(costs.alone(0) > 20'000);
}

TEST(one_outlier_hardly_changes_the_estimate) {
  Costs costs(1);
  for (int run = 0; run < 5; ++run) costs.stop(0, 2'000'000);
  costs.stop(0, 60'000'000'000);  // stopped in a debugger

  CHECK(costs.alone(0) >= 2'000'000 && costs.alone(0) <= 8'000'000);
}

TEST(an_early_outlier_is_corrected_by_the_next_run) {
  Costs costs(1);
  costs.stop(0, 2'000'000);
  costs.stop(0, 60'000'000'000);
  costs.stop(0, 2'000'000);

  CHECK(costs.alone(0) >= 2'000'000 && costs.alone(0) <= 8'000'000);
}

TEST(a_lasting_change_is_found_within_thirty_runs) {
  Costs costs(1);
  for (int run = 0; run < 5; ++run) costs.stop(0, 0);
  for (int run = 0; run < 30; ++run) costs.stop(0, 50'000'000);
  CHECK(costs.alone(0) > 49'000'000 && costs.alone(0) <= 50'000'000);

  for (int run = 0; run < 30; ++run) costs.stop(0, 3'000);
  CHECK(costs.alone(0) >= 3'000 && costs.alone(0) < 3'100);
}
