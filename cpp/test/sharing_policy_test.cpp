// SPDX-License-Identifier: Apache-2.0
// What the sharing policy must keep, on simulated machines with 1 to 64 workers.
#include "reactorl/sharing_policy.hpp"

#include <cstdio>
#include <cstdlib>

#include "check.hpp"
#include "simulated_machine.hpp"

using namespace reactorl;

namespace {

constexpr Time kUs = 1'000;
constexpr Time kMs = 1'000'000;
constexpr WorkerId kWorkers[] = {1, 2, 4, 8, 16, 64};
constexpr std::size_t kCounts[] = {2, 3, 8, 64};
constexpr Time kCosts[] = {200, 1 * kUs, 10 * kUs, 200 * kUs, 5 * kMs};

auto ratio(Time a, Time b) -> double {
  return static_cast<double>(a) / static_cast<double>(b);
}

struct Case {
  std::size_t count;
  Time cost;
  double spread;
  Machine machine;
};

void expect_at_most(double found, double bound, const Case& c, const char* what) {
  if (found <= bound) return;
  std::fprintf(stderr,
               "%s: %.3f > %.3f (%zu reactions of %lld ns +- %.0f %%, %u "
               "workers, locked %.1f, slowdown %.1f)\n",
               what, found, bound, c.count, static_cast<long long>(c.cost),
               100 * c.spread, c.machine.workers, c.machine.locked, c.machine.slowdown);
  CHECK(found <= bound);
}

/// Whether a tag takes much longer than a call for helpers, also on all workers.
auto is_long(const Case& c) -> bool {
  const auto rounds =
      static_cast<Time>((c.count + c.machine.workers - 1) / c.machine.workers);
  return rounds * c.cost >= 20 * (c.machine.wake + c.machine.arrival);
}

template <class Visit>
void for_each_case(const Machine& machine, Visit visit) {
  for (const WorkerId workers : kWorkers) {
    for (const std::size_t count : kCounts) {
      for (const Time cost : kCosts) {
        for (const double spread : {0.0, 0.5}) {
          Machine here = machine;
          here.workers = workers;
          visit(Case{count, cost, spread, here});
        }
      }
    }
  }
}

auto simulate(const Case& c) -> Simulation {
  Simulation simulation(Load::wide(c.count, c.cost, c.spread), c.machine);
  // The first tags, some of which run on one worker to renew estimates, weigh most with
  // many workers.
  simulation.run(c.count > 8 && c.machine.workers <= 16 ? 600 : 2000);
  return simulation;
}

}  // namespace

TEST(sharing_is_never_much_slower_than_one_worker) {
  for_each_case({}, [](const Case& c) {
    const Simulation done = simulate(c);
    expect_at_most(ratio(done.took, done.alone), 1.05, c, "against one worker");
  });
}

TEST(long_work_comes_close_to_the_ideal) {
  for_each_case({}, [](const Case& c) {
    if (!is_long(c)) return;
    const Simulation done = simulate(c);
    expect_at_most(ratio(done.took, done.ideal), 1 / 0.8, c, "against the ideal");
  });
}

TEST(work_behind_a_lock_is_hardly_slower_than_on_one_worker) {
  const Machine machine{.wake = 20 * kUs,
                        .arrival = 100 * kUs,
                        .slowdown = 0.2,
                        .locked = 1.0,
                        .one_at_a_time = true};
  for_each_case(machine, [](const Case& c) {
    const Simulation done = simulate(c);
    expect_at_most(ratio(done.took, done.alone), 1.05, c, "against one worker");
  });
}

TEST(work_that_releases_the_lock_is_shared) {
  const Machine machine{
      .wake = 20 * kUs, .arrival = 100 * kUs, .locked = 0.05, .one_at_a_time = true};
  for_each_case(machine, [](const Case& c) {
    if (!is_long(c)) return;
    const Simulation done = simulate(c);
    expect_at_most(ratio(done.took, done.ideal), 1 / 0.75, c, "against the ideal");
  });
}

TEST(sharing_stops_where_other_programs_have_the_cores) {
  const Machine machine{.slowdown = 3.0, .locked = 1.0};
  for_each_case(machine, [](const Case& c) {
    const Simulation done = simulate(c);
    expect_at_most(ratio(done.took, done.alone), 1.1, c, "against one worker");
  });
}

TEST(sharing_returns_when_the_cores_are_free_again) {
  for (const WorkerId workers : {2U, 8U, 64U}) {
    Case c{64, 200 * kUs, 0.2, {.workers = workers}};
    Simulation simulation(Load::wide(c.count, c.cost, c.spread), c.machine);
    simulation.machine.slowdown = 3.0;
    simulation.machine.locked = 1.0;
    simulation.run(1000);
    simulation.machine = c.machine;
    simulation.run(500);  // to find out
    simulation.took = simulation.ideal = 0;
    simulation.run(1000);

    expect_at_most(ratio(simulation.took, simulation.ideal), 1 / 0.8, c, "afterwards");
  }
}

TEST(tags_that_wait_for_something_do_not_end_sharing) {
  Machine machine;
  machine.outlier_every = 100;
  for_each_case(machine, [](const Case& c) {
    if (!is_long(c)) return;
    const Simulation done = simulate(c);
    expect_at_most(ratio(done.took, done.ideal), 1 / 0.75, c, "against the ideal");
  });
}

TEST(several_levels_are_shared_as_one) {
  for (const WorkerId workers : {2U, 8U, 64U}) {
    const Load load{{{100 * kUs},
                     std::vector<Time>(64, 100 * kUs),
                     {50 * kUs},
                     std::vector<Time>(32, 200 * kUs)},
                    0.2};
    Case c{98, 100 * kUs, 0.2, {.workers = workers}};
    Simulation simulation(load, c.machine);
    simulation.run(2000);

    expect_at_most(ratio(simulation.took, simulation.ideal), 1 / 0.75, c,
                   "against the ideal");
  }
}

TEST(one_worker_never_shares) {
  Simulation simulation(Load::wide(8, kMs), {.workers = 1});
  simulation.run(100);

  CHECK_EQ(simulation.shared_tags, 0);
  CHECK_EQ(simulation.took, simulation.alone);
}
