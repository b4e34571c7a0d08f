// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "check.hpp"
#include "random_graph.hpp"
#include "reactorl/costs.hpp"
#include "reactorl/plan.hpp"
#include "reactorl/ready_queue.hpp"
#include "reactorl/sharing_policy.hpp"

namespace reactorl {

/// How reactions run on a machine that exists in the test only.
struct Machine {
  WorkerId workers = 2;
  Time wake = 5'000;      // what a call for helpers costs worker 0
  Time arrival = 20'000;  // until helpers begin
  double slowdown = 0;    // by how much each reaction takes longer when shared
  double locked = 0;      // the part of each reaction that holds the interpreter lock
  bool one_at_a_time = false;
  int outlier_every = 0;  // tags with a reaction that waits for `outlier`; 0: none
  Time outlier = 50'000'000;
};

/// One program: reactions by level, all triggered at every tag.
struct Load {
  std::vector<std::vector<Time>> levels;  // costs
  double spread = 0;                      // by which part costs vary from tag to tag

  [[nodiscard]] static auto wide(std::size_t count, Time cost, double spread = 0)
      -> Load {
    return {{std::vector<Time>(count, cost)}, spread};
  }
};

/// Runs tags of a load under a policy and adds up simulated time.
class Simulation {
 public:
  Simulation(const Load& load, const Machine& machine)
      : machine(machine), load_(load), dice_(7) {
    plan_.workers = machine.workers;
    plan_.levels = static_cast<LevelId>(load.levels.size());
    for (LevelId level = 0; level < plan_.levels; ++level) {
      for (std::size_t i = 0; i < load.levels[level].size(); ++i) {
        Reaction reaction;
        reaction.level = level;
        reaction.home = static_cast<WorkerId>(i % machine.workers);
        plan_.reactions.push_back(reaction);
        usual_.push_back(load.levels[level][i]);
      }
    }
    plan_.downstream =
        make_table(std::vector<std::vector<std::uint32_t>>(plan_.reactions.size()));
    ready_ = std::make_unique<ReadyQueue>(plan_, 0);
    costs_ = std::make_unique<Costs>(plan_.reactions.size());
    policy_ = std::make_unique<SharingPolicy>(plan_, machine.one_at_a_time, *costs_,
                                              [] { return now; });
  }

  void run(int tags) {
    for (int i = 0; i < tags; ++i) run_tag();
  }

  Machine machine;  // may be changed between tags
  Time took = 0;    // all tags so far, under the policy
  Time alone = 0;   // the same tags on one worker
  Time ideal = 0;   // the same tags on all workers at no cost, if that is faster
  int shared_tags = 0;

 private:
  static inline Time now = 0;

  void run_tag() {
    draw_costs();
    ready_->begin(++epoch_);
    for (ReactionId r = 0; r < plan_.reactions.size(); ++r) ready_->add(r);
    policy_->begin_tag(epoch_);
    const Time began = now;
    bool is_shared = false;
    while (!ready_->finished()) {
      const ReactionId next = ready_->claim(0);
      const WorkerId helpers =
          ready_->outstanding() > 1 ? policy_->helpers_for(next, *ready_, 0) : 0;
      CHECK(helpers < machine.workers);
      if (helpers > 0) {
        is_shared = true;
        run_phase(next, helpers);
        break;
      }
      run_alone(next);
    }
    took += now - began;
    shared_tags += is_shared ? 1 : 0;
    account();
  }

  void draw_costs() {
    costs_now_ = usual_;
    for (Time& cost : costs_now_) {
      const auto part = static_cast<double>(dice_.below(2001)) / 1000.0 - 1.0;
      cost += static_cast<Time>(static_cast<double>(cost) * load_.spread * part);
    }
    if (machine.outlier_every > 0 &&
        dice_.below(static_cast<std::uint32_t>(machine.outlier_every)) == 0) {
      costs_now_[0] += machine.outlier;
    }
  }

  void run_alone(ReactionId r) {
    const bool timed = costs_->start(r);
    now += costs_now_[r];
    if (timed) costs_->stop(r, costs_now_[r]);
    ready_->finish(0, r);
  }

  /// Workers take the queued reactions level by level, the one that is free first.
  void run_phase(ReactionId next, WorkerId helpers) {
    Phase phase;
    const Time began = now;
    now += machine.wake;
    std::vector<Time> free(helpers + 1, now + machine.arrival);
    free[0] = now;
    LevelId level = plan_.reactions[next].level;
    Time locked = 0;
    for (ReactionId r = next; r != kNone; r = ready_->claim(0)) {
      if (plan_.reactions[r].level != level) {
        level = plan_.reactions[r].level;
        end_level(free, began, locked);
      }
      const auto worker = std::ranges::min_element(free);
      const auto spent =
          static_cast<Time>(static_cast<double>(costs_now_[r]) * (1 + machine.slowdown));
      *worker += spent;
      locked += static_cast<Time>(static_cast<double>(spent) * machine.locked);
      phase.alone += costs_->alone(r);
      if (worker != free.begin()) phase.by_others += costs_->alone(r);
      phase.busy += spent;
      if (costs_->start(r)) {
        if (machine.one_at_a_time) {
          costs_->stop_waiting(r, spent);
        } else {
          costs_->stop(r, spent, true);
        }
      }
      ready_->finish(0, r);
    }
    end_level(free, began, locked);
    now = free[0];
    phase.together = now - began;
    policy_->phase_ended(phase);
  }

  /// Everyone waits for the last one, and for the lock that all had to take in turn.
  static void end_level(std::vector<Time>& free, Time began, Time locked) {
    const Time busy_until = *std::ranges::max_element(free);
    std::ranges::fill(free, std::max(busy_until, began + locked));
  }

  void account() {
    Time all = 0;
    Time best = 0;
    std::size_t at = 0;
    for (const auto& level : load_.levels) {
      std::vector<Time> free(machine.workers, 0);
      Time sum = 0;
      for (std::size_t i = 0; i < level.size(); ++i, ++at) {
        *std::ranges::min_element(free) += costs_now_[at];
        sum += costs_now_[at];
      }
      all += sum;
      const auto locked = static_cast<Time>(static_cast<double>(sum) * machine.locked);
      best += std::max(*std::ranges::max_element(free), locked);
    }
    alone += all;
    ideal += std::min(all, best);
  }

  const Load load_;
  check::Dice dice_;
  Plan plan_;
  std::vector<Time> usual_;      // per reaction
  std::vector<Time> costs_now_;  // per reaction, at this tag
  std::unique_ptr<ReadyQueue> ready_;
  std::unique_ptr<Costs> costs_;
  std::unique_ptr<SharingPolicy> policy_;
  Epoch epoch_ = 0;
};

}  // namespace reactorl
