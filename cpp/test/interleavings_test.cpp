// SPDX-License-Identifier: Apache-2.0
// Three workers at a small program, and others of lock-free code, in every interleaving
// of their atomic operations up to a number of preemptions. Races of a few instructions
// are found here, which real threads would hit once in a million runs.
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "check.hpp"
#include "stepped_atomic.hpp"

namespace std {
template <class T>
using stepped_atomic = ::stepped::Atomic<T>;
}  // namespace std

// The code is compiled again, with atomics that can be stepped and under another name.
#define atomic stepped_atomic
#define reactorl reactorl_stepped
// NOLINTBEGIN(bugprone-suspicious-include)
#include "reactorl/published.hpp"
#include "src/plan.cpp"
#include "src/reach.cpp"
#include "src/ready_queue.cpp"
// NOLINTEND(bugprone-suspicious-include)

#include "random_graph.hpp"

using namespace reactorl;

namespace {

constexpr WorkerId kWorkers = 3;

/// Who must run before whom, as pairs; each reaction has a worker as its home.
auto make_plan(const std::vector<WorkerId>& homes,
               const std::vector<std::pair<std::uint32_t, std::uint32_t>>& order)
    -> Plan {
  Plan plan;
  plan.workers = kWorkers;
  plan.reactions.resize(homes.size());
  std::vector<std::vector<std::uint32_t>> later(homes.size());
  for (const auto& [first, second] : order) later[first].push_back(second);
  assign_levels(plan, later);
  for (std::size_t i = 0; i < homes.size(); ++i) plan.reactions[i].home = homes[i];
  plan.downstream = make_table(later);
  plan.validate();
  return plan;
}

/// How a worker asks for a reaction.
using Ask = std::function<ReactionId(ReadyQueue&, WorkerId)>;

auto claims(ReadyQueue& ready, WorkerId worker) -> ReactionId {
  return ready.claim(worker);
}
auto looks_ahead(ReadyQueue& ready, WorkerId worker) -> ReactionId {
  return ready.look_ahead(worker);
}
auto takes(ReactionId wanted) -> Ask {
  return [=](ReadyQueue& ready, WorkerId worker) -> ReactionId {
    return ready.take_ahead(worker, wanted) ? wanted : ReactionId(kNone);
  };
}

/// Lets each worker ask for a reaction and run what it gets; after that worker 0 runs
/// what is left. No reaction may begin before those that must precede it are done, and
/// each that was added runs once.
void check_all(const Plan& plan, const std::vector<Ask>& asks, std::size_t preemptions) {
  if (check::kSanitized) return;  // one thread, whose stacks sanitizers do not know
  std::unique_ptr<ReadyQueue> ready;
  std::vector<int> runs;
  std::vector<bool> done;
  const auto begins = [&](ReactionId reaction) {
    ++runs[reaction];
    for (ReactionId first = 0; first < plan.reactions.size(); ++first) {
      for (const ReactionId later : plan.downstream[first]) {
        if (later == reaction) CHECK(done[first]);
      }
    }
  };
  const auto ends = [&](WorkerId worker, ReactionId reaction) {
    done[reaction] = true;
    ready->finish(worker, reaction);
  };
  stepped::Interleavings interleavings(preemptions);
  const std::size_t count = interleavings.explore(
      [&] {
        ready = std::make_unique<ReadyQueue>(plan, 0);
        runs.assign(plan.reactions.size(), 0);
        done.assign(plan.reactions.size(), false);
        ready->begin(1);
        for (ReactionId r = 0; r < plan.reactions.size(); ++r) ready->add(r);
        ready->share(true);
        std::vector<std::function<void()>> workers;
        for (WorkerId worker = 0; worker < asks.size(); ++worker) {
          ready->attend(worker, true);
          workers.emplace_back([&, worker] {
            const ReactionId reaction = asks[worker](*ready, worker);
            if (reaction == kNone) return;
            begins(reaction);
            stepped::Interleavings::yield();  // in the body
            ends(worker, reaction);
          });
        }
        return workers;
      },
      [&] {
        while (!ready->finished()) {
          const ReactionId reaction = ready->claim(0);
          CHECK(reaction != kNone);
          if (reaction == kNone) return;
          begins(reaction);
          ends(0, reaction);
        }
        for (const int each : runs) CHECK_EQ(each, 1);
      });
  CHECK(count > 100);
}

}  // namespace

TEST(a_reaction_that_passes_from_one_worker_to_another_blocks_what_follows) {
  const Plan plan = make_plan({2, 1}, {{0, 1}});

  // Whichever of them reads the others first, in the order of their numbers.
  check_all(plan, {takes(0), looks_ahead, claims}, 2);
  check_all(plan, {claims, looks_ahead, takes(0)}, 2);
  check_all(plan, {looks_ahead, takes(0), claims}, 2);
  check_all(plan, {takes(0), claims, looks_ahead}, 2);
  check_all(plan, {takes(0), takes(1), claims}, 2);
}

TEST(workers_that_claim_share_a_level) {
  const Plan plan = make_plan({0, 1, 2, 0}, {{0, 3}, {1, 3}, {2, 3}});

  check_all(plan, {claims, claims, claims}, 2);
}

TEST(looking_ahead_keeps_the_order_of_a_chain) {
  const Plan plan = make_plan({0, 1, 2, 0}, {{0, 1}, {1, 2}});

  check_all(plan, {claims, looks_ahead, looks_ahead}, 2);
  check_all(plan, {looks_ahead, claims, takes(2)}, 2);
  check_all(plan, {looks_ahead, takes(1), claims}, 2);
}

TEST(a_reaction_is_taken_once_however_it_is_asked_for) {
  const Plan plan = make_plan({0, 1}, {});

  check_all(plan, {claims, claims, claims}, 2);
  check_all(plan, {claims, takes(0), takes(1)}, 2);
  check_all(plan, {takes(0), takes(0), takes(0)}, 2);
}

TEST(a_reader_never_sees_parts_of_two_tags) {
  if (check::kSanitized) return;
  std::unique_ptr<PublishedTag> published;
  Tag seen;
  stepped::Interleavings interleavings(2);
  interleavings.explore(
      [&]() -> std::vector<std::function<void()>> {
        published = std::make_unique<PublishedTag>();
        return {[&] {
                  published->set({1, 1});
                  published->set({2, 2});
                },
                [&] { seen = published->get(); }};
      },
      [&] { CHECK_EQ(seen.time, static_cast<Time>(seen.microstep)); });
}

TEST(workers_that_compute_the_same_order_at_once_use_its_memory_once) {
  if (check::kSanitized) return;
  // 0 and 1 precede 2, and 1 does not precede 3.
  const Plan plan = make_plan({0, 0, 0, 0}, {{0, 2}, {0, 3}, {1, 2}});
  const std::size_t two_sets = 2 * sizeof(std::uint64_t);
  std::unique_ptr<Reach> reach;
  stepped::Interleavings interleavings(2);
  interleavings.explore(
      [&]() -> std::vector<std::function<void()>> {
        reach = std::make_unique<Reach>(plan, two_sets);
        const auto ask = [&] { CHECK(reach->before(0, 2)); };
        return {ask, ask};
      },
      [&] { CHECK(!reach->before(1, 3)); });  // without memory the answer is yes
}
