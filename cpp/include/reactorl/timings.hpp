// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "reactorl/ids.hpp"
#include "reactorl/tag.hpp"

namespace reactorl {

/// The last `limit` things that were added.
template <class T>
class Recent {
 public:
  explicit Recent(std::size_t limit = 0) : limit_(limit) {}

  void add(const T& item) {
    if (items_.size() < limit_) {
      items_.push_back(item);
    } else if (limit_ > 0) {
      items_[next_] = item;
      next_ = next_ + 1 == limit_ ? 0 : next_ + 1;
      ++forgotten_;
    } else {
      ++forgotten_;
    }
  }
  [[nodiscard]] auto size() const -> std::size_t { return items_.size(); }
  [[nodiscard]] auto forgotten() const -> std::uint64_t { return forgotten_; }
  /// Calls `visit(item)`, the oldest first.
  template <class Visit>
  void for_each(Visit visit) const {
    for (std::size_t i = next_; i < items_.size(); ++i) visit(items_[i]);
    for (std::size_t i = 0; i < next_; ++i) visit(items_[i]);
  }

 private:
  std::vector<T> items_;
  std::size_t limit_;
  std::size_t next_ = 0;  // the oldest, once all places are taken
  std::uint64_t forgotten_ = 0;
};

/// How long things took, by the clock on the wall. No part of a trace: two runs that are
/// the same differ here.
///
/// Sums are of the whole run; single invocations and tags are kept for the last ones
/// only, so that a run can be as long as it likes. Times are nanoseconds with an origin
/// of their own.
///
/// Thread safety: each worker notes for itself, without locks; a reaction's sum is
/// touched by the worker that runs it. To be read when no worker runs.
class Timings {
 public:
  struct Invocation {
    Epoch epoch = 0;  // of the tag
    ReactionId reaction = 0;
    bool missed = false;  // its deadline
    Time begin = 0;
    Time end = 0;
  };
  struct TagTime {
    Epoch epoch = 0;
    Tag tag;  // elapsed
    Time begin = 0;
    Time end = 0;
    Time lag = 0;  // by how much the wall clock was past the tag when it began
  };
  /// What a federate stood still for.
  enum class WaitKind : std::uint8_t {
    kSlot,   // of another federate, within a tag
    kTag,    // whether something comes before a tag, or at it
    kEvent,  // anything: it has no event of its own
  };
  struct Wait {
    std::uint32_t peer = 0;  // the federate it waited for; itself: the coordinator
    WaitKind kind = WaitKind::kSlot;
    Tag tag;  // elapsed; of kEvent the last one that was run
    Time begin = 0;
    Time end = 0;
  };
  struct WaitSum {
    std::uint64_t waits = 0;
    Time total = 0;
    Time longest = 0;
  };
  struct Sum {
    std::uint64_t runs = 0;
    std::uint64_t missed = 0;
    Time total = 0;
    Time longest = 0;
  };
  struct alignas(64) Work {
    explicit Work(std::size_t limit = 0) : recent(limit) {}
    Recent<Invocation> recent;
    std::uint64_t runs = 0;
    Time busy = 0;
  };
  struct Lags {
    std::uint64_t tags = 0;
    Time total = 0;
    Time longest = 0;
    Time began = 0;  // the first tag
    Time ended = 0;  // the last one
  };

  /// Keeps the last `limit` invocations of each worker, and as many tags.
  Timings(std::size_t reactions, WorkerId workers, std::size_t limit)
      : sums_(reactions), tags_(limit), recent_waits_(limit) {
    for (WorkerId w = 0; w < workers; ++w) works_.emplace_back(limit);
  }

  void note(WorkerId worker, const Invocation& ran) {
    const Time spent = ran.end - ran.begin;
    Sum& sum = sums_[ran.reaction];
    ++sum.runs;
    sum.missed += ran.missed ? 1 : 0;
    sum.total += spent;
    sum.longest = std::max(sum.longest, spent);
    Work& work = works_[worker];
    ++work.runs;
    work.busy += spent;
    work.recent.add(ran);
  }
  /// Only worker 0.
  void note(const TagTime& tag) {
    if (lags_.tags++ == 0) lags_.began = tag.begin;
    lags_.ended = tag.end;
    lags_.total += tag.lag;
    lags_.longest = std::max(lags_.longest, tag.lag);
    tags_.add(tag);
  }

  /// Only the worker in the gate's turn, or worker 0 between tags.
  void note(const Wait& wait) {
    const Time spent = wait.end - wait.begin;
    WaitSum& sum = waits_[{wait.peer, wait.kind}];
    ++sum.waits;
    sum.total += spent;
    sum.longest = std::max(sum.longest, spent);
    recent_waits_.add(wait);
  }

  [[nodiscard]] auto sums() const -> const std::vector<Sum>& { return sums_; }
  [[nodiscard]] auto works() const -> const std::vector<Work>& { return works_; }
  [[nodiscard]] auto tags() const -> const Recent<TagTime>& { return tags_; }
  [[nodiscard]] auto lags() const -> const Lags& { return lags_; }
  [[nodiscard]] auto waits() const
      -> const std::map<std::pair<std::uint32_t, WaitKind>, WaitSum>& {
    return waits_;
  }
  [[nodiscard]] auto recent_waits() const -> const Recent<Wait>& { return recent_waits_; }

 private:
  std::vector<Sum> sums_;    // per reaction
  std::vector<Work> works_;  // per worker
  Recent<TagTime> tags_;
  std::map<std::pair<std::uint32_t, WaitKind>, WaitSum> waits_;
  Recent<Wait> recent_waits_;
  Lags lags_;
};

}  // namespace reactorl
