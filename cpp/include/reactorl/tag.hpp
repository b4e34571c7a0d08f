// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

namespace reactorl {

/// Nanoseconds.
using Time = std::int64_t;

inline constexpr Time kForever = std::numeric_limits<Time>::max();

/// A point in superdense time. Simultaneous means that both parts are equal.
struct Tag {
  Time time = 0;
  std::uint32_t microstep = 0;

  auto operator<=>(const Tag&) const = default;
};

inline constexpr Tag kLastTag{kForever, std::numeric_limits<std::uint32_t>::max()};

/// `a + b`, at most `kForever`. Requires: `b >= 0`.
[[nodiscard]] constexpr auto add_time(Time a, Time b) -> Time {
  return a >= kForever - b ? kForever : a + b;
}

/// The next microstep; the last tag is its own successor.
[[nodiscard]] constexpr auto next_microstep(Tag tag) -> Tag {
  if (tag.microstep == kLastTag.microstep) return kLastTag;
  return {tag.time, tag.microstep + 1};
}

/// When an event sent at `tag` with delay `by` arrives. A positive delay forgets the
/// microstep; zero means the next microstep; a negative one changes nothing.
[[nodiscard]] constexpr auto delayed(Tag tag, Time by) -> Tag {
  if (by < 0) return tag;
  if (by == 0) return next_microstep(tag);
  const Time time = add_time(tag.time, by);
  return time == kForever ? kLastTag : Tag{time, 0};
}

}  // namespace reactorl
