// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "reactorl/ids.hpp"
#include "reactorl/tag.hpp"

namespace reactorl {

/// Another federate. Counted from 0; the own number is among them and has no links.
using PeerId = std::uint32_t;

/// How far a link is known: everything before is settled. Slots that cross at one tag
/// have an order, so one place says it for all of them.
struct Place {
  Tag tag{};
  std::uint32_t index = 0;  // in the link's order of slots
  auto operator<=>(const Place&) const = default;
};

/// A slot that is set in one federate and read at the same tag in another.
struct Crossing {
  SlotId slot = 0;
  ReactionId writer = 0;  // the last one that may set it
};

inline constexpr Time kNothingLate = -1;

/// What goes from and to one peer.
struct LinkPlan {
  std::vector<Crossing> in;  // by level and id of the writer
  std::vector<Crossing> out;
  Time in_delay = kNothingLate;  // the least delay of what comes later than it was sent
  bool sends = false;            // anything at all goes there
  /// Besides its own events, which it announces, it acts only at tags at which this
  /// federate sends it something.
  bool answers = false;
};

/// An event of a stage of this federate, for others.
struct Route {
  TriggerId stage = 0;
  std::vector<PeerId> peers;
  bool here = true;  // it is also delivered in this federate
};

/// What the core of one federate has to know of the others. Integers only.
struct GatePlan {
  std::vector<LinkPlan> peers;
  std::vector<Route> routes;  // of stages with peers, by stage
  bool flat = false;          // all tags but the final one have microstep 0
  bool physical = false;      // events may come from the physical world
  bool stops = false;         // a reaction of this federate may end the program
  PeerId me = 0;              // the own number
};

/// What a federate knows of the tags at which its peers may still send something, and
/// what follows for its own.
///
/// Every statement is a promise of a peer or of the coordinator and stays true: places
/// and tags only grow, and a statement that is older than another one changes nothing.
/// None is about the final tag, which nobody can foresee: that a peer has nothing left
/// to do does not mean that its reactions to the end set nothing. At the final tag only
/// what peers say within it counts.
///
/// Thread safety: none; see `Gate`.
class Links {
 public:
  explicit Links(const GatePlan& plan)
      : plan_(plan),
        reached_(plan.peers.size()),
        final_(plan.peers.size()),
        next_(plan.peers.size()),
        sent_(plan.peers.size(), Tag{std::numeric_limits<Time>::min(), 0}) {}

  void start(Tag start) {
    for (Place& place : reached_) place = {start, 0};
    for (Tag& tag : next_) tag = start;
    floor_ = start;
    late_floor_ = start;
  }
  /// All that `peer` sends from now on is at `place` or later.
  void reach(PeerId peer, Place place) {
    reached_[peer] = std::max(reached_[peer], place);
  }
  /// `peer` is in the final tag, and so many slots are settled.
  void reach_final(PeerId peer, std::uint32_t index) {
    final_[peer] = std::max(final_[peer], index);
  }
  /// Whether it is known if a slot is present at `tag`.
  [[nodiscard]] auto settled(PeerId peer, Place place, bool final) const -> bool {
    if (final) return final_[peer] > place.index;
    return reached_[peer] > place || floor_ > place.tag;
  }
  /// Whether `peer` is done with `tag`.
  [[nodiscard]] auto beyond(PeerId peer, Tag tag) const -> bool {
    return reached_[peer].tag > tag;
  }
  /// Something goes to `peer` at `tag`.
  void send(PeerId peer, Tag tag) { sent_[peer] = tag; }
  /// The next event of `peer` itself when it said so last: it will get there unasked.
  void expect(PeerId peer, Tag next) { next_[peer] = next; }
  [[nodiscard]] auto expected(PeerId peer) const -> Tag { return next_[peer]; }
  /// Nothing comes at the tag it is sent before `direct`, nothing else before `late`.
  void floor(Tag direct, Tag late) {
    floor_ = std::max(floor_, direct);
    late_floor_ = std::max(late_floor_, late);
  }
  /// No tag after this one may begin yet.
  void limit(Tag horizon) { horizon_ = horizon; }
  [[nodiscard]] auto horizon() const -> Tag { return horizon_; }

  /// Whether nothing can come any more that must be there when `tag` begins. What
  /// arrives late must be there then; a slot may be settled within the tag.
  [[nodiscard]] auto may_begin(Tag tag) const -> bool {
    return tag <= horizon_ && direct_from() >= tag && late_from() > tag;
  }
  /// Whether something of `peer` can still come that must be there when `tag` begins.
  [[nodiscard]] auto delays(PeerId peer, Tag tag) const -> bool {
    const LinkPlan& link = plan_.peers[peer];
    const bool direct = !link.in.empty() && std::max(from(peer), floor_) < tag;
    if (direct || link.in_delay == kNothingLate) return direct;
    return std::max(delayed(from(peer), link.in_delay), late_floor_) <= tag;
  }
  /// The earliest tag that can still be run after `done`, if the next event here is at
  /// `next`: what this federate promises.
  [[nodiscard]] auto low(Tag next, Tag done) const -> Tag {
    return std::max(std::min({next, direct_from(), late_from()}), after(done));
  }
  /// The earliest tag after one that is done. Nothing can be added to that one: its slots
  /// are settled, and all that comes late was there when it began.
  [[nodiscard]] auto after(Tag done) const -> Tag {
    if (done == kLastTag) return kLastTag;
    return plan_.flat ? Tag{add_time(done.time, 1), 0} : next_microstep(done);
  }

 private:
  /// The earliest tag at which `peer` can act, unless this federate acts before. One that
  /// only answers and is done with all that was sent to it waits for its own next event.
  [[nodiscard]] auto from(PeerId peer) const -> Tag {
    const Tag tag = reached_[peer].tag;
    if (!plan_.peers[peer].answers || tag <= sent_[peer]) return tag;
    return std::max(tag, next_[peer]);
  }
  /// No slot is set before.
  [[nodiscard]] auto direct_from() const -> Tag {
    Tag least = kLastTag;
    for (PeerId p = 0; p < reached_.size(); ++p) {
      if (!plan_.peers[p].in.empty()) least = std::min(least, from(p));
    }
    return std::max(least, floor_);
  }
  /// No event arrives before.
  [[nodiscard]] auto late_from() const -> Tag {
    Tag least = kLastTag;
    for (PeerId p = 0; p < reached_.size(); ++p) {
      const Time delay = plan_.peers[p].in_delay;
      if (delay == kNothingLate) continue;
      least = std::min(least, delayed(from(p), delay));
    }
    return std::max(least, late_floor_);
  }

  const GatePlan& plan_;
  std::vector<Place> reached_;
  std::vector<std::uint32_t> final_;
  std::vector<Tag> next_;
  std::vector<Tag> sent_;  // the last tag at which something was sent
  Tag floor_{};
  Tag late_floor_{};
  Tag horizon_ = kLastTag;
};

}  // namespace reactorl
