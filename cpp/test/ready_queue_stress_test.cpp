// SPDX-License-Identifier: Apache-2.0
// Threads that claim, look ahead and finish as the scheduler's workers do.
#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#include "active_set.hpp"
#include "check.hpp"
#include "random_graph.hpp"
#include "reactorl/clock.hpp"
#include "reactorl/ready_queue.hpp"
#include "reactorl/worker_pool.hpp"

using namespace reactorl;

namespace {

constexpr Time kSecond = 1'000'000'000;

/// How a stress test runs its reactions.
struct Style {
  int epochs;
  unsigned first;   // percent of reactions added before the work begins
  unsigned later;   // percent of what follows a reaction that it adds
  unsigned yields;  // percent of reactions that give the core away while they run
  std::uint64_t shuffle = 0;
};

class Stress {
 public:
  Stress(const Graph& graph, Style style)
      : graph_(graph),
        style_(style),
        ready_(graph.plan, style.shuffle),
        active_(graph),
        workers_(graph.plan.workers) {}

  void run() {
    std::vector<std::thread> helpers;
    for (WorkerId w = 1; w < workers_; ++w) {
      helpers.emplace_back([this, w] { help(w); });
    }
    check::Dice dice(graph_.plan.reactions.size());
    for (Epoch epoch = 1; epoch <= static_cast<Epoch>(style_.epochs); ++epoch) {
      ready_.begin(epoch);
      active_.begin(epoch);
      for (ReactionId r = 0; r < graph_.plan.reactions.size(); ++r) {
        if (dice.chance(style_.first)) active_.add(ready_, r);
      }
      ready_.share(true);
      outside_.store(0);
      open_.store(epoch);
      work(0, epoch);
      while (outside_.load() + 1 < workers_) std::this_thread::yield();
      ready_.share(false);
      active_.check_all_finished();
    }
    open_.store(kOver);
    for (std::thread& helper : helpers) helper.join();
  }

 private:
  static constexpr Epoch kOver = ~Epoch{0};

  void help(WorkerId worker) {
    for (Epoch last = 0;;) {
      const Epoch epoch = open_.load();
      if (epoch == kOver) return;
      if (epoch == last) {
        std::this_thread::yield();
        continue;
      }
      last = epoch;
      work(worker, epoch);
      outside_.fetch_add(1);
    }
  }

  void work(WorkerId worker, Epoch epoch) {
    check::Dice dice((epoch << 8U) ^ worker);
    Time began = 0;  // of a time without work
    for (unsigned looks = 0; !ready_.finished();) {
      ReactionId r = ready_.claim(worker);
      if (r == kNone) r = ready_.look_ahead(worker);
      if (r == kNone) {
        pause_briefly();
        if (++looks % 256 == 0) {
          std::this_thread::yield();
          if (began == 0) began = Clock::ticks_now();
          if (Clock::ticks_now() - began > 60 * kSecond) give_up(epoch);
        }
        continue;
      }
      began = 0;
      active_.start(r);
      if (dice.chance(style_.yields)) std::this_thread::yield();
      active_.run(ready_, r, style_.later);
      active_.finish(ready_, worker, r);
    }
  }

  [[noreturn]] void give_up(Epoch epoch) {
    std::fprintf(stderr, "hangs at tag %llu: %u outstanding, at level %u\n",
                 static_cast<unsigned long long>(epoch), ready_.outstanding(),
                 ready_.current_level());
    std::_Exit(1);
  }

  const Graph& graph_;
  Style style_;
  ReadyQueue ready_;
  ActiveSet active_;
  WorkerId workers_;
  alignas(64) std::atomic<Epoch> open_{0};
  alignas(64) std::atomic<WorkerId> outside_{0};
};

void stress(WorkerId workers) {
  check::Dice dice(workers);
  for (int round = 0; round < check::scaled(30, 8); ++round) {
    const Graph graph =
        random_graph(dice, 5 + dice.below(60), 2 + dice.below(20), workers);
    const Style style{check::scaled(300, 60), 5 + dice.below(60), 20 + dice.below(70),
                      dice.below(30), round % 3 == 0 ? dice() : 0};

    Stress(graph, style).run();
  }
}

}  // namespace

TEST(two_threads_keep_the_order) { stress(2); }
TEST(four_threads_keep_the_order) { stress(4); }
TEST(eight_threads_keep_the_order) { stress(8); }

TEST(levels_that_appear_while_one_looks_for_the_next_are_found) {
  // Chains of one reaction per level beside each other: each reaction adds the next just
  // before it finishes, while the other workers look for the next level.
  for (const WorkerId workers : {2U, 3U, 4U}) {
    Graph graph;
    constexpr std::uint32_t kChains = 3;
    constexpr std::uint32_t kLength = 24;
    std::vector<std::vector<std::uint32_t>> later(kChains * kLength);
    graph.before.assign(later.size(), std::vector<bool>(later.size(), false));
    graph.plan.reactions.resize(later.size());
    graph.plan.workers = workers;
    for (std::uint32_t c = 0; c < kChains; ++c) {
      for (std::uint32_t i = 0; i < kLength; ++i) {
        const std::uint32_t r = c * kLength + i;
        graph.plan.reactions[r].home = c % workers;
        if (i + 1 < kLength) later[r].push_back(r + 1);
        for (std::uint32_t j = i + 1; j < kLength; ++j) {
          graph.before[r][c * kLength + j] = true;
        }
      }
    }
    assign_levels(graph.plan, later);
    graph.plan.downstream = make_table(later);

    Stress(graph, {check::scaled(20'000, 500), 3, 100, 1}).run();
  }
}
