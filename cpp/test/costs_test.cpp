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

  CHECK_EQ(costs.entry(0).runs.get(), std::uint64_t{1000});
  CHECK_EQ(costs.entry(0).measured.get(), static_cast<std::uint64_t>(measured));
  CHECK(measured >= 60 && measured <= 80);
  CHECK_EQ(costs.entry(0).total.get(), 100 * measured);
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

TEST(what_others_were_in_the_way_of_does_not_count_as_alone) {
  Costs costs(1);
  CHECK(costs.start(0));
  costs.stop(0, 1'000);
  CHECK_EQ(costs.alone(0), 1'000);
  for (int run = 0; run < 20; ++run) {
    static_cast<void>(costs.start(0));
    costs.stop(0, 9'000, true);
  }

  CHECK_EQ(costs.alone(0), 1'000);
  CHECK(costs.recent(0) > 8'000);
  costs.stop(0, 3'000);  // the first one is forgotten
  CHECK_EQ(costs.alone(0), 3'000);
  costs.stop(0, 5'000);
  CHECK_EQ(costs.alone(0), 4'000);
}

TEST(without_a_run_alone_the_others_tell) {
  Costs costs(1);
  CHECK(costs.start(0));
  costs.stop(0, 5'000, true);

  CHECK_EQ(costs.alone(0), 5'000);
}

TEST(one_short_run_of_a_reaction_that_varies_does_not_make_it_short) {
  Costs costs(1);
  for (int run = 0; run < 8; ++run) costs.stop(0, 25'000);
  costs.stop(0, 7'000);

  CHECK(costs.alone(0) > 20'000);
}

TEST(a_run_that_waited_is_not_what_a_reaction_takes_alone) {
  Costs costs(1);
  for (int run = 0; run < 5; ++run) costs.stop(0, 2'000'000);
  costs.stop(0, 60'000'000'000);  // somebody looked at it for a minute

  CHECK(costs.alone(0) >= 2'000'000 && costs.alone(0) <= 8'000'000);
}

TEST(if_it_waited_at_first_the_next_run_corrects_that) {
  Costs costs(1);
  costs.stop(0, 2'000'000);
  costs.stop(0, 60'000'000'000);
  costs.stop(0, 2'000'000);

  CHECK(costs.alone(0) >= 2'000'000 && costs.alone(0) <= 8'000'000);
}

TEST(what_takes_longer_from_now_on_is_found_out_in_a_few_runs) {
  Costs costs(1);
  for (int run = 0; run < 5; ++run) costs.stop(0, 0);
  for (int run = 0; run < 30; ++run) costs.stop(0, 50'000'000);
  CHECK(costs.alone(0) > 49'000'000 && costs.alone(0) <= 50'000'000);

  for (int run = 0; run < 30; ++run) costs.stop(0, 3'000);
  CHECK(costs.alone(0) >= 3'000 && costs.alone(0) < 3'100);
}
