// SPDX-License-Identifier: Apache-2.0
#include "reactorl/ready_queue.hpp"

#include <array>
#include <bit>

namespace reactorl {
namespace {

/// How much a waiting worker reads before it gives up and waits.
constexpr std::size_t kMaxInspected = 512;
constexpr std::size_t kMaxBlockers = 64;
constexpr std::size_t kCacheLine = 64;

/// A fixed scramble of 64 bits (splitmix64's finaliser).
constexpr auto scramble(std::uint64_t x) -> std::uint64_t {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31U);
}

}  // namespace

ReadyQueue::ReadyQueue(const Plan& plan, std::uint64_t shuffle)
    : plan_(plan),
      reach_(plan),
      workers_(plan.workers),
      home_stride_(plan.levels + kCacheLine / sizeof(Segment) + 1),
      shuffle_(shuffle),
      state_(std::make_unique<std::atomic<std::uint64_t>[]>(plan.reactions.size())),
      unfinished_(std::make_unique<std::atomic<std::uint32_t>[]>(plan.levels)),
      used_(std::make_unique<std::atomic<std::uint64_t>[]>((plan.levels + 63) / 64)),
      segments_(std::make_unique<Segment[]>(home_stride_ * plan.workers)),
      entries_(std::make_unique<std::atomic<ReactionId>[]>(plan.reactions.size())),
      running_(std::make_unique<WorkerSlot[]>(plan.workers)),
      used_words_((plan.levels + 63) / 64) {
  // Each segment has room for all reactions that could ever be in it, so adding never
  // reallocates.
  const std::size_t count = home_stride_ * workers_;
  for (const Reaction& r : plan.reactions) {
    ++segments_[segment_of(r.level, r.home)].base;
  }
  std::uint32_t base = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t capacity = segments_[i].base;
    segments_[i].base = base;
    base += capacity;
  }
  // A worker that looks ahead may see a place taken before the entry is there.
  for (std::size_t i = 0; i < plan.reactions.size(); ++i) entries_[i].store(kNone);
}

void ReadyQueue::begin(Epoch epoch) {
  for (std::size_t w = 0; w < used_words_; ++w) {
    std::uint64_t bits = used_[w].load(std::memory_order_relaxed);
    if (bits == 0) continue;
    used_[w].store(0, std::memory_order_relaxed);
    for (; bits != 0; bits &= bits - 1) {
      const LevelId level(w * 64 + static_cast<std::size_t>(std::countr_zero(bits)));
      for (WorkerId home = 0; home < workers_; ++home) {
        Segment& segment = segments_[segment_of(level, home)];
        segment.head.store(0, std::memory_order_relaxed);
        segment.tail.store(0, std::memory_order_relaxed);
      }
      unfinished_[level].store(0, std::memory_order_relaxed);
    }
  }
  epoch_ = epoch;
  outstanding_.store(0, std::memory_order_relaxed);
  held_.store(0, std::memory_order_relaxed);
  current_.store(0, std::memory_order_relaxed);
}

auto ReadyQueue::bump(std::atomic<std::uint32_t>& counter, std::uint32_t by)
    -> std::uint32_t {
  if (shared_) return counter.fetch_add(by);
  const std::uint32_t old = counter.load(std::memory_order_relaxed);
  counter.store(old + by, std::memory_order_relaxed);
  return old;
}

auto ReadyQueue::add(ReactionId reaction) -> bool {
  std::atomic<std::uint64_t>& state = state_[reaction];
  std::uint64_t old = state.load(std::memory_order_relaxed);
  const std::uint64_t queued = stamp(kQueued);
  if (old >= queued) return false;
  const Reaction& r = plan_.reactions[reaction];
  Segment& segment = segments_[segment_of(r.level, r.home)];
  std::atomic<std::uint64_t>& used = used_[r.level / 64];
  const std::uint64_t bit = std::uint64_t{1} << (r.level % 64);
  if (shared_) {
    if (!state.compare_exchange_strong(old, queued)) return false;
    outstanding_.fetch_add(1);
    unfinished_[r.level].fetch_add(1);
    entries_[segment.base + segment.tail.fetch_add(1)].store(reaction);
    if ((used.load() & bit) == 0) used.fetch_or(bit);
    return true;
  }
  state.store(queued, std::memory_order_relaxed);
  bump(outstanding_, 1);
  bump(unfinished_[r.level], 1);
  entries_[segment.base + bump(segment.tail, 1)].store(reaction,
                                                       std::memory_order_relaxed);
  used.store(used.load(std::memory_order_relaxed) | bit, std::memory_order_relaxed);
  return true;
}

auto ReadyQueue::entry_index(std::uint32_t i, std::uint32_t n) const -> std::uint32_t {
  if (shuffle_ == 0) return i;
  const std::uint64_t dice = scramble(shuffle_ ^ (epoch_ << 8U));
  const std::uint32_t turned = static_cast<std::uint32_t>((i + (dice >> 1U) % n) % n);
  return (dice & 1U) != 0 ? n - 1 - turned : turned;
}

auto ReadyQueue::take(WorkerId worker, ReactionId reaction) -> bool {
  std::uint64_t queued = stamp(kQueued);
  if (shared_) {
    running_[worker].running.store(kClaiming);
    if (!state_[reaction].compare_exchange_strong(queued, stamp(kRunning))) return false;
    running_[worker].running.store(reaction);
    return true;
  }
  if (state_[reaction].load(std::memory_order_relaxed) != queued) return false;
  state_[reaction].store(stamp(kRunning), std::memory_order_relaxed);
  running_[worker].running.store(reaction, std::memory_order_relaxed);
  return true;
}

auto ReadyQueue::take_from(Segment& segment, WorkerId worker) -> ReactionId {
  // The level is current, so the tail no longer moves.
  const std::uint32_t tail = segment.tail.load(std::memory_order_acquire);
  while (segment.head.load(std::memory_order_relaxed) < tail) {
    // Announced before the entry disappears from the queue, see the class comment.
    if (shared_) running_[worker].running.store(kClaiming);
    const std::uint32_t i = bump(segment.head, 1);
    if (i >= tail) break;
    const ReactionId reaction = entries_[segment.base + entry_index(i, tail)].load();
    if (take(worker, reaction)) return reaction;  // else another one looked ahead
  }
  if (shared_) running_[worker].running.store(kLooking);
  return kNone;
}

auto ReadyQueue::claim(WorkerId worker, bool polite) -> ReactionId {
  if (shuffle_ != 0 && !strict_home_ && (scramble(shuffle_ + epoch_) & 3U) == 0) {
    const ReactionId ahead = look_ahead(worker);
    if (ahead != kNone) return ahead;
  }
  while (!finished()) {
    const LevelId level = current_.load();
    if (level == kNone) return kNone;
    const WorkerId reach = strict_home_ && shared_ ? 1 : workers_;
    WorkerId home = worker;
    for (WorkerId k = 0; k < reach; ++k) {
      const bool leave = polite && k > 0 && running_[home].running.load() == kLooking;
      if (!leave) {
        const ReactionId reaction = take_from(segments_[segment_of(level, home)], worker);
        if (reaction != kNone) return reaction;
      }
      if (++home == workers_) home = 0;
    }
    if (unfinished_[level].load() != 0) return kNone;
    advance(level);
  }
  return kNone;
}

void ReadyQueue::advance(LevelId from) {
  // Safe without a snapshot: a level below all unfinished reactions can only stay
  // finished, because only reactions of lower levels could add to it.
  LevelId expected = from;
  const LevelId next = next_level(LevelId(from + 1));
  if (shared_) {
    current_.compare_exchange_strong(expected, next);
  } else {
    current_.store(next, std::memory_order_relaxed);
  }
}

auto ReadyQueue::next_level(LevelId from) const -> LevelId {
  std::size_t w = from / 64;
  if (w >= used_words_) return kNone;
  std::uint64_t mask = ~std::uint64_t{0} << (from % 64);
  for (; w < used_words_; ++w, mask = ~std::uint64_t{0}) {
    // Read anew for each level: what was unfinished a moment ago may have added to a
    // higher level before it finished.
    while (const std::uint64_t bits = used_[w].load() & mask) {
      const auto bit = static_cast<unsigned>(std::countr_zero(bits));
      const LevelId level(w * 64 + bit);
      if (unfinished_[level].load() != 0) return level;
      mask &= bit == 63 ? 0 : ~std::uint64_t{0} << (bit + 1);
    }
  }
  return kNone;
}

auto ReadyQueue::look_ahead(WorkerId worker) -> ReactionId {
  const LevelId current = current_.load();
  if (current == kNone || strict_home_) return kNone;
  if (shuffle_ != 0) return search(worker, kNone, current);
  // Everything of the current level is taken, or this worker should claim instead.
  for (WorkerId home = 0; home < workers_; ++home) {
    const Segment& segment = segments_[segment_of(current, home)];
    if (segment.head.load() < segment.tail.load()) return kNone;
  }
  // What is held at the current level is not among what workers run.
  const bool held = held_.load() != 0;
  return search(worker, kNone, held ? current : LevelId(current + 1));
}

auto ReadyQueue::take_ahead(WorkerId worker, ReactionId wanted) -> bool {
  const LevelId current = current_.load();
  if (current == kNone || strict_home_) return false;
  if (plan_.reactions[wanted].level == current) {
    if (take(worker, wanted)) return true;
    if (shared_) running_[worker].running.store(kLooking);
    return false;
  }
  return search(worker, wanted, current) == wanted;
}

auto ReadyQueue::search(WorkerId worker, ReactionId wanted, LevelId from) -> ReactionId {
  // 1. What runs now, read before the levels: whatever finishes meanwhile has added its
  //    successors before it finished, so they are seen below.
  std::array<ReactionId, kMaxBlockers> blockers;
  std::size_t blocker_count = 0;
  // Asked twice about claims: a reaction may pass from one that claims it to one that
  // looked ahead, and must not be missed between the two.
  for (WorkerId other = 0; other < workers_; ++other) {
    if (other != worker && running_[other].running.load() == kClaiming) return kNone;
  }
  for (WorkerId other = 0; other < workers_; ++other) {
    if (other == worker) continue;
    const std::uint32_t r = running_[other].running.load();
    if (r == kLooking || r == kAway) continue;
    if (r == kClaiming || blocker_count == kMaxBlockers) return kNone;
    blockers[blocker_count++] = ReactionId(r);
  }
  // 2. The levels upwards. What is queued but not free blocks what follows it.
  std::size_t inspected = 0;
  for (LevelId level = next_level(from); level != kNone;
       level = next_level(LevelId(level + 1))) {
    for (WorkerId home = 0; home < workers_; ++home) {
      const Segment& segment = segments_[segment_of(level, home)];
      const std::uint32_t tail = segment.tail.load();
      for (std::uint32_t i = 0; i < tail; ++i) {
        if (++inspected > kMaxInspected) return kNone;
        const ReactionId reaction = entries_[segment.base + i].load();
        if (reaction == kNone) continue;  // being added by one that blocks it anyway
        const std::uint64_t state = state_[reaction].load();
        if (state < stamp(kQueued) || state == stamp(kDone)) continue;
        bool free = state == stamp(kQueued) && (wanted == kNone || reaction == wanted);
        for (std::size_t b = 0; free && b < blocker_count; ++b) {
          free = !reach_.before(blockers[b], reaction);
        }
        if (free) {
          if (take(worker, reaction)) return reaction;
          if (shared_) running_[worker].running.store(kLooking);
        }
        if (reaction == wanted) return kNone;
        if (blocker_count == kMaxBlockers) return kNone;
        blockers[blocker_count++] = reaction;
      }
    }
  }
  return kNone;
}

void ReadyQueue::hold(ReactionId reaction) {
  const LevelId level = plan_.reactions[reaction].level;
  Segment& segment = segments_[segment_of(level, plan_.reactions[reaction].home)];
  state_[reaction].store(stamp(kRunning), std::memory_order_relaxed);
  bump(outstanding_, 1);
  bump(held_, 1);
  bump(unfinished_[level], 1);
  entries_[segment.base + bump(segment.tail, 1)].store(reaction,
                                                       std::memory_order_relaxed);
  std::atomic<std::uint64_t>& used = used_[level / 64];
  const std::uint64_t bit = std::uint64_t{1} << (level % 64);
  used.store(used.load(std::memory_order_relaxed) | bit, std::memory_order_relaxed);
}

void ReadyQueue::release(ReactionId reaction) {
  state_[reaction].store(stamp(kDone));
  bump(unfinished_[plan_.reactions[reaction].level], static_cast<std::uint32_t>(-1));
  bump(held_, static_cast<std::uint32_t>(-1));
  bump(outstanding_, static_cast<std::uint32_t>(-1));
}

auto ReadyQueue::quiet() const -> bool {
  for (WorkerId w = 0; w < workers_; ++w) {
    const std::uint32_t r = running_[w].running.load();
    if (r != kLooking && r != kAway) return false;
  }
  return true;
}

auto ReadyQueue::passed(ReactionId reaction) const -> bool {
  const std::uint64_t own = state_[reaction].load();
  if (own >= stamp(kQueued)) return own == stamp(kDone);
  const LevelId level = plan_.reactions[reaction].level;
  const LevelId current = current_.load();
  if (current > level || finished()) return true;  // also if no level has work
  // All that is unfinished is at the current level or above; levels are read upwards, so
  // what one adds meanwhile to a higher level is seen there.
  std::size_t inspected = 0;
  for (LevelId at = next_level(current); at < level; at = next_level(LevelId(at + 1))) {
    for (WorkerId home = 0; home < workers_; ++home) {
      const Segment& segment = segments_[segment_of(at, home)];
      const std::uint32_t tail = segment.tail.load();
      for (std::uint32_t i = 0; i < tail; ++i) {
        const ReactionId other = entries_[segment.base + i].load();
        if (++inspected > kMaxInspected || other == kNone) return false;
        const std::uint64_t state = state_[other].load();
        if (state < stamp(kQueued) || state == stamp(kDone)) continue;
        if (reach_.before(other, reaction)) return false;
      }
    }
  }
  // It may have been added while the levels were read.
  return state_[reaction].load() < stamp(kQueued);
}

void ReadyQueue::finish(WorkerId worker, ReactionId reaction) {
  const LevelId level = plan_.reactions[reaction].level;
  if (shared_) {
    state_[reaction].store(stamp(kDone));
    running_[worker].running.store(kLooking);
    unfinished_[level].fetch_sub(1);
    outstanding_.fetch_sub(1);
    return;
  }
  state_[reaction].store(stamp(kDone), std::memory_order_relaxed);
  running_[worker].running.store(kLooking, std::memory_order_relaxed);
  bump(unfinished_[level], static_cast<std::uint32_t>(-1));
  bump(outstanding_, static_cast<std::uint32_t>(-1));
}

}  // namespace reactorl
