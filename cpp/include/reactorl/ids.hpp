// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace reactorl {

/// No such thing: a reaction that is not there, a scope outside all modes. Converts to
/// any kind of id.
struct None {};
inline constexpr None kNone{};

/// An index into one of the tables of a `Plan`, fixed before the run. Ids of different
/// kinds do not convert into each other and cannot be compared.
template <class Kind>
class Id {
 public:
  constexpr Id() = default;
  // Implicit, so that kNone and literals can be written wherever an id is expected.
  constexpr Id(None /*none*/) : index_(kNoIndex) {}
  consteval Id(int literal) : index_(static_cast<std::uint32_t>(literal)) {}
  template <class Index>
    requires std::same_as<Index, std::uint32_t> || std::same_as<Index, std::size_t>
  constexpr explicit Id(Index index) : index_(static_cast<std::uint32_t>(index)) {}

  /// As an index.
  constexpr operator std::uint32_t() const { return index_; }
  constexpr auto operator++() -> Id& {
    ++index_;
    return *this;
  }

 private:
  static constexpr std::uint32_t kNoIndex = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t index_ = 0;
};

template <class Kind>
constexpr auto operator==(Id<Kind> a, Id<Kind> b) -> bool {
  return static_cast<std::uint32_t>(a) == static_cast<std::uint32_t>(b);
}
template <class Kind>
constexpr auto operator==(Id<Kind> id, None none) -> bool {
  return id == Id<Kind>(none);
}
template <class Kind>
constexpr auto operator<=>(Id<Kind> a, Id<Kind> b) -> std::strong_ordering {
  return static_cast<std::uint32_t>(a) <=> static_cast<std::uint32_t>(b);
}
template <class A, class B>
constexpr auto operator==(Id<A>, Id<B>) -> bool = delete;
template <class A, class B>
constexpr auto operator<=>(Id<A>, Id<B>) -> std::strong_ordering = delete;

using ReactionId = Id<struct ReactionKind>;
using ReactorId = Id<struct ReactorKind>;
using SlotId = Id<struct SlotKind>;
using TriggerId = Id<struct TriggerKindTag>;
using ModeId = Id<struct ModeKind>;
using LevelId = Id<struct LevelKind>;
/// Workers are counted and divided by, so theirs are plain numbers.
using WorkerId = std::uint32_t;

/// Stands for a trigger in the event queue: reactions to the entry of modes are due. It
/// sorts behind all triggers of the same tag.
inline constexpr TriggerId kModeEntry = kNone;

/// Counts tags. Something is present iff it was marked in the current epoch, so a
/// new tag clears every presence flag by counting one further.
using Epoch = std::uint64_t;

}  // namespace reactorl
