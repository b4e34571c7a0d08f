// SPDX-License-Identifier: Apache-2.0
#include "reactorl/native_bodies.hpp"

#include "reactorl/native_value.hpp"
#include "reactorl/scheduler.hpp"

namespace reactorl {
namespace {

/// What a body gets as `reactorl_context`.
struct Running : reactorl_context {
  Running(const reactorl_api& api, Worker& worker, const NativeReaction& reaction)
      : reactorl_context{&api}, worker(&worker), reaction(&reaction) {}

  Worker* worker;
  const NativeReaction* reaction;
  bool failed = false;
  std::int32_t code = 0;
  std::string message;

  [[nodiscard]] auto core() const -> Scheduler& { return *worker->scheduler; }
  auto fail(std::string what) -> std::nullptr_t {
    if (!failed) message = std::move(what);
    if (!failed) code = -1;
    failed = true;
    return nullptr;
  }
};

auto running(reactorl_context* context) -> Running& {
  return *static_cast<Running*>(context);
}

auto name_of(reactorl_type type) -> std::string {
  constexpr const char* kNames[] = {"none",    "bool",    "int8",   "int16",  "int32",
                                    "int64",   "uint8",   "uint16", "uint32", "uint64",
                                    "float32", "float64", "bytes"};
  if (!is_type(type)) return "no type";
  std::string name = kNames[kind_of(type)];
  if (is_scalar(type)) return name;
  return name + '[' + std::to_string(count_of(type)) + ']';
}

using Kind = NativeElement::Kind;
constexpr const char* kInput = "input";
constexpr const char* kEffect = "effect";

/// The slot of a channel, if all is as it should be; else null, and `find` says why.
auto find_slot(const Running& self, const std::vector<NativeElement>& all,
               std::uint32_t number, std::uint32_t channel, reactorl_type type)
    -> const SlotId* {
  if (self.failed || number >= all.size()) return nullptr;
  const NativeElement& element = all[number];
  if (channel >= element.slots.size()) return nullptr;
  if (type != without_layout(element.type)) return nullptr;
  return &element.slots[channel];
}

/// The element `number`; null if the body fails because there is no such one, or
/// because it failed before.
auto find(Running& self, const char* role, std::uint32_t number) -> const NativeElement* {
  if (self.failed) return nullptr;
  const auto& all = role == kInput ? self.reaction->inputs : self.reaction->effects;
  if (number < all.size()) return &all[number];
  return self.fail(std::string(role) + " must be less than " +
                   std::to_string(all.size()) + ", got " + std::to_string(number));
}

/// The same for a channel of an element that carries values of `type`.
auto find(Running& self, const char* role, std::uint32_t number, std::uint32_t channel,
          const reactorl_type* type) -> const NativeElement* {
  const NativeElement* found = find(self, role, number);
  if (found == nullptr) return nullptr;
  if (channel >= found->slots.size()) {
    return self.fail("channel of " + found->name + " must be less than " +
                     std::to_string(found->slots.size()) + ", got " +
                     std::to_string(channel));
  }
  if (type != nullptr && *type != without_layout(found->type)) {
    return self.fail(found->name + " has dtype " + name_of(found->type) +
                     ", and the native body uses it as " + name_of(*type));
  }
  return found;
}

auto find_effect(Running& self, std::uint32_t number, Kind kind, const char* what)
    -> const NativeElement* {
  const NativeElement* found = find(self, kEffect, number);
  if (found == nullptr || found->kind == kind) return found;
  return self.fail("effect " + std::to_string(number) + ", " + found->name + ", is not " +
                   what);
}

auto value_of(reactorl_type type, const void* data) -> Value {
  return type == REACTORL_NONE ? Value() : Value::adopt(NativeValue::make(type, data));
}

// ---- What is behind the functions of reactorl.h -------------------------------------

auto input_width(reactorl_context* context, std::uint32_t input) -> std::uint32_t {
  const NativeElement* found = find(running(context), kInput, input);
  return found == nullptr ? 0 : static_cast<std::uint32_t>(found->slots.size());
}

auto effect_width(reactorl_context* context, std::uint32_t effect) -> std::uint32_t {
  const NativeElement* found = find(running(context), kEffect, effect);
  return found == nullptr ? 0 : static_cast<std::uint32_t>(found->slots.size());
}

auto present(reactorl_context* context, std::uint32_t input, std::uint32_t channel)
    -> bool {
  Running& self = running(context);
  const NativeElement* found = find(self, kInput, input, channel, nullptr);
  return found != nullptr && self.core().present(found->slots[channel]);
}

auto get(reactorl_context* context, std::uint32_t input, std::uint32_t channel,
         reactorl_type type) -> const void* {
  Running& self = running(context);
  const SlotId* slot = find_slot(self, self.reaction->inputs, input, channel, type);
  if (slot == nullptr) {
    static_cast<void>(find(self, kInput, input, channel, &type));
    return nullptr;
  }
  const NativeValue* value = self.core().value(*slot).native();
  return value == nullptr ? nullptr : value->data();
}

/// The slot of a channel of a port that may be set; kNone if the body fails.
auto find_output(Running& self, std::uint32_t effect, std::uint32_t channel,
                 reactorl_type type) -> SlotId {
  const SlotId* slot = find_slot(self, self.reaction->effects, effect, channel, type);
  if (slot != nullptr && self.reaction->effects[effect].kind == Kind::kPort) return *slot;
  if (find_effect(self, effect, Kind::kPort, "a port") == nullptr) return kNone;
  const NativeElement* found = find(self, kEffect, effect, channel, &type);
  return found == nullptr ? SlotId(kNone) : found->slots[channel];
}

auto set(reactorl_context* context, std::uint32_t effect, std::uint32_t channel,
         reactorl_type type, const void* data) -> std::int32_t {
  Running& self = running(context);
  const SlotId slot = find_output(self, effect, channel, type);
  if (slot == kNone) return -1;
  if (type == REACTORL_NONE) {
    self.core().set(*self.worker, slot, Value());
  } else if (data != nullptr) {
    self.core().set_native(*self.worker, slot, data);
  } else {
    self.fail("a value of dtype " + name_of(type) + " must not be null");
    return -1;
  }
  return 0;
}

auto make(reactorl_context* context, std::uint32_t effect, std::uint32_t channel,
          reactorl_type type) -> void* {
  Running& self = running(context);
  const SlotId slot = find_output(self, effect, channel, type);
  if (slot == kNone) return nullptr;
  if (type == REACTORL_NONE) return self.fail("a value of dtype none has no memory");
  return self.core().set_native(*self.worker, slot, nullptr);
}

auto schedule(reactorl_context* context, std::uint32_t effect, std::int64_t delay,
              reactorl_type type, const void* data) -> std::int32_t {
  Running& self = running(context);
  const NativeElement* found = find_effect(self, effect, Kind::kAction, "an action");
  if (found == nullptr) return -1;
  if (find(self, kEffect, effect, 0, &type) == nullptr) return -1;
  if (data == nullptr && type != REACTORL_NONE) {
    self.fail("a payload of dtype " + name_of(type) + " must not be null");
    return -1;
  }
  // NOLINTNEXTLINE(clang-analyzer-cplusplus.NewDeleteLeaks): the value owns it
  Value value = value_of(found->type, data);
  if (found->physical) {
    self.core().schedule_physical(found->trigger, delay, std::move(value));
  } else {
    self.core().schedule(*self.worker, found->trigger, delay, std::move(value));
  }
  return 0;
}

auto enter_mode(reactorl_context* context, std::uint32_t effect) -> std::int32_t {
  Running& self = running(context);
  const NativeElement* found = find_effect(self, effect, Kind::kMode, "a mode");
  if (found == nullptr) return -1;
  self.core().switch_mode(*self.worker, found->mode, found->by_reset);
  return 0;
}

auto request_stop(reactorl_context* context) -> std::int32_t {
  Running& self = running(context);
  if (self.failed) return -1;
  if (!self.reaction->stops) {
    self.fail(
        "a native body that requests the end of the program must be declared with "
        "stops=True");
    return -1;
  }
  self.core().request_stop();
  return 0;
}

auto tag(reactorl_context* context) -> reactorl_tag {
  const Tag now = running(context).core().tag();
  return {now.time, now.microstep};
}

auto start_time(reactorl_context* context) -> std::int64_t {
  return running(context).core().clock().start_time();
}

auto physical_time(reactorl_context* context) -> std::int64_t {
  Running& self = running(context);
  if (self.failed) return 0;
  const std::optional<Time> time = self.core().read_clock(*self.worker);
  if (!time) self.fail("the physical clock could not be read");
  return time.value_or(0);
}

auto fail(reactorl_context* context, std::int32_t code, const char* message)
    -> std::int32_t {
  Running& self = running(context);
  const bool first = !self.failed;
  self.fail(message == nullptr ? "" : message);
  if (first && code != 0) self.code = code;
  return code != 0 ? code : -1;
}

constexpr reactorl_api kApi = {
    .abi = REACTORL_ABI,
    .size = sizeof(reactorl_api),
    .input_width = input_width,
    .effect_width = effect_width,
    .present = present,
    .get = get,
    .set = set,
    .make = make,
    .schedule = schedule,
    .enter_mode = enter_mode,
    .request_stop = request_stop,
    .tag = tag,
    .start_time = start_time,
    .physical_time = physical_time,
    .fail = fail,
};

}  // namespace

void NativeBodies::set(ReactionId reaction, NativeReaction native) {
  if (reactions_.size() <= reaction) reactions_.resize(reaction + std::size_t{1});
  reactions_[reaction] = std::move(native);
}

auto NativeBodies::invoke(Worker& worker, ReactionId reaction, bool missed) noexcept
    -> bool {
  const NativeReaction& native = reactions_[reaction];
  const reactorl_function function = missed ? native.handler : native.body;
  if (function == nullptr) return true;  // a missed deadline without a handler
  Running self(kApi, worker, native);
  const std::int32_t code = function(&self, native.state);
  if (code == 0 && !self.failed) return true;
  if (!self.failed) self.code = code;
  const TraceKey key = trace_key(plan_.reactions[reaction].level, reaction);
  const std::lock_guard lock(mutex_);
  failures_.emplace(key, Failure{self.code, std::move(self.message)});
  return false;
}

auto NativeBodies::first_failure() -> std::pair<TraceKey, Failure> {
  const std::lock_guard lock(mutex_);
  if (failures_.empty()) return {kLastKey, {}};
  return *failures_.begin();
}

}  // namespace reactorl
