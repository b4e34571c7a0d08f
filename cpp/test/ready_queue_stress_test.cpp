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
  std::vector<ReactionId> always{};  // added before the work begins
  ReactionId long_one = kNone;       // runs for up to so many pauses
  std::uint32_t pauses = 1;
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
      for (const ReactionId r : style_.always) active_.add(ready_, r);
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
      ReactionId r = kNone;
      if (dice.chance(30)) {
        const auto wanted = static_cast<ReactionId>(
            dice.below(static_cast<std::uint32_t>(graph_.plan.reactions.size())));
        if (ready_.take_ahead(worker, wanted)) r = wanted;
      }
      if (r == kNone) r = ready_.claim(worker);
      if (r == kNone) r = ready_.look_ahead(worker);
      if (r == kNone) {
        pause_briefly();
        if (++looks % 256 == 0) {
          std::this_thread::yield();
          if (began == 0) began = Clock::ticks_now();
          if (Clock::ticks_now() - began > 30 * kSecond) give_up(epoch);
        }
        continue;
      }
      began = 0;
      active_.start(r);
      if (dice.chance(style_.yields)) std::this_thread::yield();
      if (r == style_.long_one) {
        for (auto i = dice.below(style_.pauses); i > 0; --i) pause_briefly();
      }
      active_.run(ready_, r, style_.later);
      active_.finish(ready_, worker, r);
    }
  }

  [[noreturn]] void give_up(Epoch epoch) {
    std::fprintf(stderr, "hangs at tag %llu: %u outstanding, at level %u\n",
                 static_cast<unsigned long long>(epoch), ready_.outstanding(),
                 std::uint32_t{ready_.current_level()});
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
  for (int round = 0; round < check::scaled(10, 4); ++round) {
    const Graph graph =
        random_graph(dice, 5 + dice.below(60), 2 + dice.below(20), workers);
    const Style style{check::scaled(200, 40), 5 + dice.below(60), 20 + dice.below(70),
                      dice.below(30), round % 3 == 0 ? dice() : 0};

    Stress(graph, style).run();
  }
}

}  // namespace

TEST(two_threads_keep_the_order) { stress(2); }
TEST(four_threads_keep_the_order) { stress(4); }
TEST(eight_threads_keep_the_order) { stress(8); }

TEST(levels_that_appear_while_one_looks_for_the_next_are_found) {
  // A long reaction at level 0, and beside it a chain that a second worker runs ahead:
  // each of its reactions adds the next one just before it finishes. When the long one
  // finishes, its worker looks for the next level while levels appear and vanish.
  constexpr std::uint32_t kChain = 30;
  for (const WorkerId workers : {2U, 3U}) {
    Graph graph;
    constexpr std::uint32_t kSize = kChain + 2;
    constexpr ReactionId kLong = 0;  // the chain is 1 .. kChain
    constexpr ReactionId kLast = kChain + 1;
    std::vector<std::vector<std::uint32_t>> later(kSize);
    graph.before.assign(kSize, std::vector<bool>(kSize, false));
    graph.plan.reactions.resize(kSize);
    for (ReactionId r = 1; r < kLast; ++r) {
      graph.plan.reactions[r].level = LevelId(std::uint32_t{r});
      graph.plan.reactions[r].home = 1;
      later[r].push_back(r + 1);
      for (std::uint32_t end = r + 1; end < kSize; ++end) graph.before[r][end] = true;
    }
    graph.plan.reactions[kLast].level = 70;  // in another word than the chain
    graph.plan.levels = 71;
    graph.plan.workers = workers;
    graph.plan.downstream = make_table(later);
    graph.plan.validate();

    Style style{check::scaled(15'000, 1000), 0, 100, 2};
    style.always = {kLong, 1, kLast};
    style.pauses = 2000;
    style.long_one = kLong;
    Stress(graph, style).run();
  }
}
