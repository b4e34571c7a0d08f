// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "reactorl/ids.hpp"
#include "reactorl/value.hpp"

namespace reactorl {

/// What every port and action holds. A slot is shared by a port and all that it
/// reaches without delay, so relays and fan-out cost nothing.
///
/// Thread safety: a slot is written by one reaction at a time and read only by
/// reactions that run later; the ready queue orders them. No slot needs a lock.
class PortStore {
 public:
  explicit PortStore(std::uint32_t slots) : slots_(slots) {}

  /// Stores `value` for the tag `now`; true if the slot was absent until then.
  auto set(SlotId slot, Value value, Epoch now) -> bool {
    Slot& s = slots_[slot];
    s.value = std::move(value);
    if (s.set_in == now) return false;
    s.set_in = now;
    return true;
  }
  /// Makes the value present that the slot has already; true if it was absent until then.
  auto mark(SlotId slot, Epoch now) -> bool {
    return std::exchange(slots_[slot].set_in, now) != now;
  }
  /// The native value of a slot if it may be changed in place; else null.
  [[nodiscard]] auto unshared(SlotId slot) -> NativeValue* {
    NativeValue* value = slots_[slot].value.native();
    return value != nullptr && value->is_unique() ? value : nullptr;
  }
  [[nodiscard]] auto present(SlotId slot, Epoch now) const -> bool {
    return slots_[slot].set_in == now;
  }
  /// The tag at which it was last set; 0 if never.
  [[nodiscard]] auto set_in(SlotId slot) const -> Epoch { return slots_[slot].set_in; }
  /// The last value ever set, also when absent; null if never.
  [[nodiscard]] auto value(SlotId slot) const -> const Value& {
    return slots_[slot].value;
  }

 private:
  struct Slot {
    Value value;
    Epoch set_in = 0;
  };
  std::vector<Slot> slots_;
};

}  // namespace reactorl
