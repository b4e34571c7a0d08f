// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "reactorl/value.hpp"

namespace reactorl {

/// A number with a reference count: what ports and events carry in tests. `live` tells
/// whether any reference was lost.
class Counted {
 public:
  static auto make(std::int64_t number) -> Value {
    install();
    return Value::adopt(new Counted(number));
  }
  /// The number in `value`; -1 if there is none.
  static auto number(const Value& value) -> std::int64_t {
    const auto* object = static_cast<const Counted*>(value.get());
    return object == nullptr ? -1 : object->number_;
  }
  static auto refs(const Value& value) -> int {
    return static_cast<const Counted*>(value.get())->refs_.load();
  }
  static inline std::atomic<std::int64_t> live{0};

  static void install() {
    static const bool once = [] {
      Value::ops = {
          [](void* object) noexcept { static_cast<Counted*>(object)->retain(); },
          [](void* object) noexcept { static_cast<Counted*>(object)->release(); }};
      return true;
    }();
    static_cast<void>(once);
  }

 private:
  explicit Counted(std::int64_t number) : number_(number) { ++live; }
  ~Counted() { --live; }
  void retain() { refs_.fetch_add(1, std::memory_order_relaxed); }
  void release() {
    if (refs_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  std::atomic<int> refs_{1};
  std::int64_t number_;
};

}  // namespace reactorl
