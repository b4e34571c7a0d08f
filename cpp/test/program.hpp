// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <utility>
#include <vector>

#include "check.hpp"
#include "counted.hpp"
#include "random_graph.hpp"
#include "reactorl/scheduler.hpp"
#include "test_host.hpp"

namespace reactorl {

/// A program as a test writes it down: what each reaction reads, writes and does.
/// Levels and order follow from that.
class Program {
 public:
  struct Parts {
    ReactorId reactor = 0;
    std::vector<SlotId> triggers{};
    std::vector<SlotId> sources{};
    std::vector<SlotId> effects{};
    BodyFunction body{};
    ModeId scope = kNone;
    Time deadline = kNoDeadline;
  };

  auto slot() -> SlotId {
    slot_reactions_.emplace_back();
    slot_stages_.emplace_back();
    return SlotId(plan_.slots++);
  }
  /// Adds a trigger with a slot of its own, unless it has one.
  auto add(Trigger trigger) -> TriggerId {
    const auto id = static_cast<TriggerId>(plan_.triggers.size());
    if (trigger.slot == kNone) trigger.slot = slot();
    if (trigger.source != kNone) slot_stages_[trigger.source].push_back(id);
    plan_.triggers.push_back(trigger);
    return id;
  }
  auto timer(Time offset, Time period = 0, ModeId scope = kNone) -> TriggerId {
    return add({.scope = scope, .delay = offset, .spacing = period});
  }
  auto action(Time delay = 0, Time spacing = kNoSpacing, Policy policy = Policy::kDefer,
              ModeId scope = kNone) -> TriggerId {
    return add({TriggerKind::kLogical, policy, scope, kNone, kNone, delay, spacing});
  }
  auto physical(Time delay = 0, Time spacing = kNoSpacing, Policy policy = Policy::kDefer,
                ModeId scope = kNone) -> TriggerId {
    return add({TriggerKind::kPhysical, policy, scope, kNone, kNone, delay, spacing});
  }
  /// A delayed connection; gives the slot at its end.
  auto after(SlotId source, Time delay, ModeId scope = kNone,
             TriggerKind kind = TriggerKind::kStage) -> SlotId {
    return of(add({kind, Policy::kDefer, scope, kNone, source, delay, kNoSpacing}));
  }
  /// The slot of a trigger.
  [[nodiscard]] auto of(TriggerId trigger) const -> SlotId {
    return plan_.triggers[trigger].slot;
  }
  /// A modal reactor with so many modes, the first one initial.
  auto modal(std::size_t modes, ModeId scope = kNone) -> std::vector<ModeId> {
    std::vector<ModeId> ids;
    for (std::size_t i = 0; i < modes; ++i) {
      ids.push_back(static_cast<ModeId>(plan_.modes.size()));
      plan_.modes.push_back({plan_.modals, scope, i == 0});
    }
    ++plan_.modals;
    return ids;
  }
  auto react(Parts parts) -> ReactionId {
    const auto id = static_cast<ReactionId>(parts_.size());
    parts_.push_back(std::move(parts));
    return id;
  }
  void on_startup(ReactionId reaction) { plan_.startup.push_back(reaction); }
  void on_shutdown(ReactionId reaction) { plan_.shutdown.push_back(reaction); }
  void on_reset(ReactionId reaction) { plan_.reset.push_back(reaction); }
  /// A reaction to the start: the most usual way to begin.
  auto at_start(ReactorId reactor, std::vector<SlotId> effects, BodyFunction body)
      -> ReactionId {
    const ReactionId id = react(
        {.reactor = reactor, .effects = std::move(effects), .body = std::move(body)});
    on_startup(id);
    return id;
  }
  void forward(ReactionId reaction, SlotId from, SlotId to) {
    forwards_.emplace_back(reaction, from, to);
  }

  /// The slot carries native values from now on.
  void type(SlotId slot, reactorl_type type) { types_[slot] = type; }
  /// The reaction has native bodies instead of its own.
  void native(ReactionId reaction, NativeReaction native) {
    natives_[reaction] = std::move(native);
  }
  [[nodiscard]] auto natives() const -> const std::map<ReactionId, NativeReaction>& {
    return natives_;
  }

  [[nodiscard]] auto plan(WorkerId workers) const -> Plan {
    Plan plan = plan_;
    if (!types_.empty()) plan.slot_types.assign(plan.slots, Plan::kUntyped);
    for (const auto& [slot, type] : types_) plan.slot_types[slot] = type;
    std::vector<std::vector<std::uint32_t>> later(parts_.size());
    auto slot_reactions = slot_reactions_;
    for (ReactionId a = 0; a < parts_.size(); ++a) {
      const Parts& part = parts_[a];
      plan.reactions.push_back({.reactor = part.reactor,
                                .home = part.reactor % workers,
                                .scope = part.scope,
                                .deadline = part.deadline});
      for (const SlotId slot : part.triggers) slot_reactions[slot].push_back(a);
      bool next_found = false;
      for (ReactionId b = 0; b < parts_.size(); ++b) {
        const bool next = b > a && !next_found && parts_[b].reactor == part.reactor;
        next_found = next_found || next;
        if (next || (b != a && reads(parts_[b], part.effects))) later[a].push_back(b);
      }
    }
    for (const auto& [reaction, from, to] : forwards_) {
      plan.reactions[reaction].forward_from = from;
      plan.reactions[reaction].forward_to = to;
    }
    for (const auto& [reaction, native] : natives_) {
      plan.reactions[reaction].native = native.body != nullptr;
      plan.reactions[reaction].native_handler = native.handler != nullptr;
    }
    assign_levels(plan, later);
    plan.workers = workers;
    plan.slot_reactions = make_table(slot_reactions);
    plan.slot_stages = make_table(slot_stages_);
    plan.downstream = make_table(later);
    return plan;
  }
  [[nodiscard]] auto bodies() const -> std::vector<BodyFunction> {
    std::vector<BodyFunction> all;
    for (const Parts& part : parts_) all.push_back(part.body);
    return all;
  }

 private:
  [[nodiscard]] static auto reads(const Parts& part, const std::vector<SlotId>& slots)
      -> bool {
    return std::ranges::any_of(slots, [&](SlotId slot) {
      return std::ranges::find(part.triggers, slot) != part.triggers.end() ||
             std::ranges::find(part.sources, slot) != part.sources.end();
    });
  }

  Plan plan_;
  std::vector<Parts> parts_;
  std::vector<std::tuple<ReactionId, SlotId, SlotId>> forwards_;
  std::map<SlotId, reactorl_type> types_;
  std::map<ReactionId, NativeReaction> natives_;
  std::vector<std::vector<std::uint32_t>> slot_reactions_;
  std::vector<std::vector<std::uint32_t>> slot_stages_;
};

/// A program at work. Begins at time 0 and does not wait, unless options say otherwise.
class Session {
 public:
  explicit Session(const Program& program, WorkerId workers = 1,
                   Options options = {.fast = true, .trace = true, .start = 0})
      : plan_(program.plan(workers)),
        host(plan_, program.bodies()),
        scheduler(plan_, options, host) {
    for (const auto& [reaction, native] : program.natives()) {
      scheduler.set_native(reaction, native);
    }
  }
  ~Session() { scheduler.dismiss(); }
  Session(const Session&) = delete;
  auto operator=(const Session&) -> Session& = delete;

  auto run() -> Status {
    const Status status = scheduler.start();
    return status == Status::kRunning ? scheduler.run() : status;
  }
  [[nodiscard]] auto trace() const -> std::vector<std::int64_t> {
    return expand(scheduler.trace().bytes()).words;
  }
  [[nodiscard]] auto traced_numbers() const -> std::vector<std::int64_t> {
    std::vector<std::int64_t> all;
    const std::vector<const Value*> values = scheduler.trace().values();
    for (const std::int64_t i : expand(scheduler.trace().bytes()).which) {
      all.push_back(i < 0 ? -1 : number_of(*values[static_cast<std::size_t>(i)]));
    }
    return all;
  }

 private:
  Plan plan_;

 public:
  TestHost host;
  Scheduler scheduler;
};

/// What a body saw, and when.
struct Seen {
  Tag tag;
  std::int64_t number = 0;
  auto operator==(const Seen&) const -> bool = default;
  friend auto operator<<(std::ostream& out, const Seen& seen) -> std::ostream& {
    return out << '(' << seen.tag.time << ", " << seen.tag.microstep
               << "): " << seen.number << ';';
  }
};
using Log = std::vector<Seen>;

/// The workers and shuffles that every program must give the same result for.
struct Setting {
  WorkerId workers;
  std::uint64_t shuffle;
  [[nodiscard]] auto options() const -> Options {
    return {.fast = true, .trace = true, .start = 0, .shuffle = shuffle};
  }
};
inline constexpr Setting kSettings[] = {{1, 0}, {1, 1}, {2, 0}, {2, 2}, {4, 3}, {8, 4}};

}  // namespace reactorl
