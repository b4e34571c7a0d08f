// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "check.hpp"
#include "program.hpp"
#include "reactorl/worker_pool.hpp"

namespace reactorl {

/// A program of random shape. What its bodies do is a function of what they have seen so
/// far, so any mistake in order or presence changes everything after it.
class RandomProgram {
 public:
  explicit RandomProgram(std::uint64_t seed) : dice_(seed) {
    add_modes();
    const std::uint32_t reactors = 2 + dice_.below(10);
    states_.resize(reactors);
    for (ReactorId r = 0; r < reactors; ++r) add_reactor(r);
  }
  RandomProgram(const RandomProgram&) = delete;
  auto operator=(const RandomProgram&) -> RandomProgram& = delete;

  /// Forgets what bodies have seen. Before each run.
  void rewind() { states_.assign(states_.size(), 0); }

  Program program;

 private:
  static auto mix(std::uint64_t a, std::uint64_t b) -> std::uint64_t {
    return check::Dice(a * 31 + b)();
  }

  void add_modes() {
    for (std::uint32_t n = dice_.below(4); n > 0; --n) {
      const ModeId scope = dice_.chance(50) ? any_mode() : kNone;
      modals_.push_back(program.modal(2 + dice_.below(2), scope));
      scopes_.push_back(scope);
    }
  }
  auto any_mode() -> ModeId {
    if (modals_.empty()) return kNone;
    const auto& modes = modals_[dice_.below(modals_.size())];
    return modes[dice_.below(modes.size())];
  }
  template <class T>
  auto any(const std::vector<T>& items) -> T {
    return items[dice_.below(items.size())];
  }

  void add_reactor(ReactorId reactor) {
    // Some reactors have modes; the others live in one, or in none.
    std::vector<ModeId> own;
    ModeId scope = dice_.chance(30) ? any_mode() : kNone;
    if (reactor < modals_.size()) {
      own = modals_[reactor];
      scope = scopes_[reactor];
    }
    const auto somewhere = [&] {
      return !own.empty() && dice_.chance(70) ? any(own) : scope;
    };
    std::vector<TriggerId> actions;
    std::vector<SlotId> triggers;
    for (std::uint32_t n = dice_.below(3); n > 0; --n) {
      const Time spacing = dice_.chance(50) ? kNoSpacing : dice_.below(6);
      const auto policy = static_cast<Policy>(dice_.below(4));
      actions.push_back(program.action(dice_.below(4), spacing, policy, somewhere()));
      triggers.push_back(program.of(actions.back()));
    }
    for (std::uint32_t n = dice_.below(3); n > 0; --n) {
      triggers.push_back(
          program.of(program.timer(dice_.below(5), dice_.below(8), somewhere())));
    }
    // Inputs: ports of earlier reactors at once, and of any of them after a delay.
    std::vector<SlotId> inputs;
    for (std::uint32_t n = dice_.below(5); n > 0 && !ports_.empty(); --n) {
      const SlotId port = any(ports_);
      inputs.push_back(dice_.chance(70) ? port
                                        : program.after(port, dice_.below(4), scope));
    }
    std::vector<SlotId> outputs;
    for (std::uint32_t n = dice_.below(4); n > 0; --n) outputs.push_back(program.slot());
    for (std::uint32_t n = 1 + dice_.below(4); n > 0; --n) {
      add_reaction(reactor, somewhere(), triggers, inputs, actions, outputs, own);
    }
    ports_.insert(ports_.end(), outputs.begin(), outputs.end());
  }

  void add_reaction(ReactorId reactor, ModeId scope, const std::vector<SlotId>& triggers,
                    const std::vector<SlotId>& inputs,
                    const std::vector<TriggerId>& actions,
                    const std::vector<SlotId>& outputs, const std::vector<ModeId>& own) {
    Program::Parts parts{.reactor = reactor, .scope = scope};
    for (const SlotId slot : triggers) {
      if (dice_.chance(50)) parts.triggers.push_back(slot);
    }
    for (const SlotId slot : inputs) {
      if (dice_.chance(40)) {
        parts.triggers.push_back(slot);
      } else if (dice_.chance(50)) {
        parts.sources.push_back(slot);
      }
    }
    for (const SlotId slot : outputs) {
      if (dice_.chance(70)) parts.effects.push_back(slot);
    }
    const std::uint32_t work = dice_.chance(20) ? dice_.below(1500) : 0;
    parts.body = [this, reactor, work, actions, own, read = parts.triggers,
                  also = parts.sources, write = parts.effects](Body& b) {
      std::uint64_t& state = states_[reactor];
      state = mix(state, b.reaction());
      for (const auto* slots : {&read, &also}) {
        for (const SlotId slot : *slots) {
          state = mix(state, b.present(slot) ? 2 : 1);
          state = mix(state, static_cast<std::uint64_t>(b.get(slot)));
        }
      }
      for (auto i = work; i > 0; --i) pause_briefly();
      act(b, state, actions, own, write);
    };
    const ReactionId id = program.react(std::move(parts));
    if (dice_.chance(30)) program.on_startup(id);
    if (dice_.chance(15)) program.on_shutdown(id);
    if (scope != kNone && dice_.chance(30)) program.on_reset(id);
  }

  /// Does what `state` says.
  static void act(Body& b, std::uint64_t state, const std::vector<TriggerId>& actions,
                  const std::vector<ModeId>& own, const std::vector<SlotId>& write) {
    check::Dice dice(state);
    for (const SlotId slot : write) {
      if (dice.chance(70)) b.set(slot, dice.below(1'000'000));
    }
    for (const TriggerId action : actions) {
      for (std::uint32_t n = dice.below(3); n > 0; --n) {
        b.schedule(action, static_cast<Time>(dice.below(6)) - 1, dice.below(1'000'000));
      }
    }
    if (!own.empty() && dice.chance(30)) {
      b.enter_mode(own[dice.below(own.size())], dice.chance(50));
    }
    if (dice.chance(1) && dice.chance(20)) b.request_stop();
  }

  check::Dice dice_;
  std::vector<std::vector<ModeId>> modals_;
  std::vector<ModeId> scopes_;
  std::vector<SlotId> ports_;
  std::vector<std::uint64_t> states_;  // per reactor
};

}  // namespace reactorl
