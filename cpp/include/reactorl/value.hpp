// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

namespace reactorl {

/// How the host counts references to what ports and events carry. Both are called
/// only on threads that have entered the host.
struct ValueOps {
  void (*retain)(void*) noexcept;
  void (*release)(void*) noexcept;
};

/// One reference to something of the host's: a Python object, or a test's counter.
/// The core moves values; it never looks inside.
class Value {
 public:
  Value() = default;
  /// Takes over the caller's reference.
  static auto adopt(void* object) noexcept -> Value { return Value(object); }
  /// Adds a reference of its own.
  static auto share(void* object) noexcept -> Value {
    if (object != nullptr) ops.retain(object);
    return Value(object);
  }

  Value(Value&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  auto operator=(Value&& other) noexcept -> Value& {
    std::swap(object_, other.object_);  // the old one is released by `other`
    return *this;
  }
  Value(const Value&) = delete;
  auto operator=(const Value&) -> Value& = delete;
  ~Value() {
    if (object_ != nullptr) ops.release(object_);
  }

  /// Borrowed; null if nothing was ever stored.
  [[nodiscard]] auto get() const noexcept -> void* { return object_; }
  [[nodiscard]] auto copy() const noexcept -> Value { return share(object_); }
  /// Hands the reference to the caller.
  [[nodiscard]] auto release() noexcept -> void* {
    return std::exchange(object_, nullptr);
  }

  /// Set once by the host before anything is stored.
  static inline ValueOps ops{[](void*) noexcept {}, [](void*) noexcept {}};

 private:
  explicit Value(void* object) noexcept : object_(object) {}
  void* object_ = nullptr;
};

}  // namespace reactorl
