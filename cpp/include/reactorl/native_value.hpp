// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

#include "reactorl.h"

namespace reactorl {

// A type of `reactorl.h` has its kind in the lowest 8 bits and its count in the next 40.
// Inside of the core it also has a layout: a number by which the host knows how to show
// the value, such as the shape of an array. Native bodies see types without it.
inline constexpr unsigned kLayoutShift = 48;

[[nodiscard]] constexpr auto kind_of(reactorl_type type) -> unsigned {
  return type & 0xFFU;
}
[[nodiscard]] constexpr auto without_layout(reactorl_type type) -> reactorl_type {
  return type & ((reactorl_type{1} << kLayoutShift) - 1);
}
[[nodiscard]] constexpr auto count_of(reactorl_type type) -> std::uint64_t {
  return without_layout(type) >> 8U;
}
[[nodiscard]] constexpr auto layout_of(reactorl_type type) -> std::size_t {
  return type >> kLayoutShift;
}
[[nodiscard]] constexpr auto is_type(reactorl_type type) -> bool {
  return kind_of(type) <= REACTORL_BYTES;
}
/// Whether it is a single number, or nothing.
[[nodiscard]] constexpr auto is_scalar(reactorl_type type) -> bool {
  return kind_of(type) != REACTORL_BYTES && count_of(type) == 0;
}
/// The size of a value in bytes.
[[nodiscard]] constexpr auto size_of(reactorl_type type) -> std::size_t {
  constexpr std::size_t kSizes[] = {0, 1, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 1};
  const std::size_t size = is_type(type) ? kSizes[kind_of(type)] : 0;
  return is_scalar(type) ? size : size * count_of(type);
}

/// Plain data of a type: what native bodies send. It counts its references itself and can
/// be released on any thread. Once sent it never changes.
class alignas(16) NativeValue {
 public:
  /// A value that is zero; the caller has the only reference.
  [[nodiscard]] static auto make(reactorl_type type) -> NativeValue* {
    NativeValue* value = allocate(type);
    value->assign(nullptr);
    return value;
  }
  /// A copy of `data`; the caller has the only reference.
  [[nodiscard]] static auto make(reactorl_type type, const void* data) -> NativeValue* {
    NativeValue* value = allocate(type);
    value->assign(data);
    return value;
  }
  /// Replaces an unshared value by a copy of `data`, or by zero if that is null.
  void assign(const void* data) {
    if (data == nullptr) {
      std::memset(this->data(), 0, size_);
    } else if (size_ == sizeof(std::uint64_t)) {  // most are single numbers
      std::memcpy(this->data(), data, sizeof(std::uint64_t));
    } else {
      std::memmove(this->data(), data, size_);  // it may be the value itself
    }
  }
  NativeValue(const NativeValue&) = delete;
  auto operator=(const NativeValue&) -> NativeValue& = delete;

  void retain() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept {
    // Most have one reference, which nobody else can share meanwhile.
    if (is_unique() || references_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      this->~NativeValue();
      ::operator delete(this);
    }
  }

  /// Whether nobody else has a reference, so that the holder may change the value.
  [[nodiscard]] auto is_unique() const -> bool {
    return references_.load(std::memory_order_acquire) == 1;
  }

  [[nodiscard]] auto type() const -> reactorl_type { return type_; }
  [[nodiscard]] auto data() -> void* { return this + 1; }
  [[nodiscard]] auto data() const -> const void* { return this + 1; }
  [[nodiscard]] auto equals(const NativeValue& other) const -> bool {
    return type_ == other.type_ && std::memcmp(data(), other.data(), size_) == 0;
  }

 private:
  explicit NativeValue(reactorl_type type)
      : size_(static_cast<std::uint32_t>(size_of(type))), type_(type) {}
  ~NativeValue() = default;

  static auto allocate(reactorl_type type) -> NativeValue* {
    return new (::operator new(sizeof(NativeValue) + size_of(type))) NativeValue(type);
  }

  std::atomic<std::uint32_t> references_{1};
  std::uint32_t size_;
  reactorl_type type_;
};
static_assert(sizeof(NativeValue) == 16);

}  // namespace reactorl
