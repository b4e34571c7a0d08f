// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>

namespace reactorl {

/// Ids are indices into the tables of a `Plan`, fixed before the run.
using ReactionId = std::uint32_t;
using ReactorId = std::uint32_t;
using SlotId = std::uint32_t;
using TriggerId = std::uint32_t;
using ModeId = std::uint32_t;
using LevelId = std::uint32_t;
using WorkerId = std::uint32_t;

/// No such thing: a reaction that is not there, a scope outside all modes.
inline constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

/// Stands for a trigger in the event queue: reactions to the entry of modes are due. It
/// sorts behind all triggers of the same tag.
inline constexpr TriggerId kModeEntry = kNone;

/// Counts tags. Something is present iff it was marked in the current epoch, so a
/// new tag clears every presence flag by counting one further.
using Epoch = std::uint64_t;

}  // namespace reactorl
