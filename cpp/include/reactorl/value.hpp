// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>

#include "reactorl/native_value.hpp"

namespace reactorl {

/// How the host counts references to what ports and events carry. Both are called
/// only on threads that have entered the host.
struct ValueOps {
  void (*retain)(void*) noexcept;
  void (*release)(void*) noexcept;
};

/// One reference to something of the host's, which is a Python object, or a test's
/// counter; or to a native value, which has the lowest bit of its pointer set. The core
/// moves values; it never looks inside what belongs to the host.
class Value {
 public:
  Value() = default;
  /// Takes over the caller's reference.
  static auto adopt(void* object) noexcept -> Value { return Value(object); }
  /// Adds a reference of its own.
  static auto share(void* object) noexcept -> Value {
    if (object != nullptr) retain(object);
    return Value(object);
  }
  /// Takes over the caller's reference.
  static auto adopt(NativeValue* native) noexcept -> Value {
    return Value(reinterpret_cast<char*>(native) + 1);
  }

  Value(Value&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  auto operator=(Value&& other) noexcept -> Value& {
    std::swap(object_, other.object_);  // the old one is released by `other`
    return *this;
  }
  Value(const Value&) = delete;
  auto operator=(const Value&) -> Value& = delete;
  ~Value() {
    if (object_ != nullptr) drop(object_);
  }

  /// Borrowed; null if nothing was ever stored.
  [[nodiscard]] auto get() const noexcept -> void* { return object_; }
  /// Borrowed; null unless this is a native value. Others need no host.
  [[nodiscard]] auto native() const noexcept -> NativeValue* {
    return native_of(object_);
  }
  /// The same for what `get` returned.
  [[nodiscard]] static auto native_of(void* object) noexcept -> NativeValue* {
    const auto bits = reinterpret_cast<std::uintptr_t>(object);
    if ((bits & 1U) == 0) return nullptr;
    // By way of a number: gcc knows too little about the lowest bit of pointers.
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    return reinterpret_cast<NativeValue*>(bits - 1);
  }
  [[nodiscard]] auto copy() const noexcept -> Value { return share(object_); }
  /// Hands the reference to the caller.
  [[nodiscard]] auto release() noexcept -> void* {
    return std::exchange(object_, nullptr);
  }

  /// Set once by the host before anything is stored.
  static inline ValueOps ops{[](void*) noexcept {}, [](void*) noexcept {}};

 private:
  explicit Value(void* object) noexcept : object_(object) {}

  static void retain(void* object) noexcept {
    if (NativeValue* const native = native_of(object)) {
      native->retain();
    } else {
      ops.retain(object);
    }
  }
  static void drop(void* object) noexcept {
    if (NativeValue* const native = native_of(object)) {
      native->release();
    } else {
      ops.release(object);
    }
  }

  void* object_ = nullptr;
};

}  // namespace reactorl
