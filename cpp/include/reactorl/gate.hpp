// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <limits>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "reactorl/ids.hpp"
#include "reactorl/links.hpp"
#include "reactorl/plan.hpp"
#include "reactorl/port_store.hpp"
#include "reactorl/tag.hpp"
#include "reactorl/timings.hpp"
#include "reactorl/trace_log.hpp"
#include "reactorl/turn.hpp"
#include "reactorl/value.hpp"

namespace reactorl {

class Executor;
struct Worker;

enum class MessageKind : std::uint8_t {
  // Between federates, with a number: their sequence on a link is a function of the
  // program.
  kValue,     // a slot is present: `index` is its place in the link's order
  kLate,      // an event of the stage `index`, for the tag `at`
  kPhysical,  // a value of the physical connection `index`, for the receiver to stamp
  kStop,      // a reaction ended the program: `at` is the final tag
  // Between federates, without a number: can be said again.
  kPromise,  // nothing before `tag`, or at it before `index`; the next event is `at`
  kDemand,   // the sender is at `tag` and waits for a slot of the receiver
  // From the coordinator.
  kFloor,    // nothing comes before `tag`, and nothing that is late before `at`
  kHorizon,  // no tag after `tag` may begin
  kAttend,   // take part in `tag`, so that it can be promised
  kEnd,      // the final tag is `at`
  kFailure,  // a reaction failed at `tag`, at the place `key` in its order
  // To the coordinator.
  kEnding,  // the final tag `tag` begins here
};

/// Whether a message of this kind has a number.
[[nodiscard]] constexpr auto is_numbered(MessageKind kind) -> bool {
  return kind <= MessageKind::kStop;
}

/// What a federate promises when it is done with a tag.
struct Promise {
  Tag low{};   // nothing before this tag
  Tag next{};  // its own next event
  auto operator==(const Promise&) const -> bool = default;
};

struct Message {
  MessageKind kind = MessageKind::kPromise;
  bool final = false;  // the sender is in its final tag
  PeerId peer = 0;     // to whom, or from whom
  Tag tag{};           // of the sender
  std::uint32_t index = 0;
  Tag at{};
  TraceKey key = kLastKey;
  // gcc warns of a designated initializer that leaves out a member without one.
  // NOLINTBEGIN(readability-redundant-member-init)
  Value value{};
  /// Rides on the last value of a tag, and says what a kPromise after it would say.
  std::optional<Promise> promise{};
  // NOLINTEND(readability-redundant-member-init)
};

/// What the coordinator has to know of a federate that waits.
struct Report {
  Tag next{};     // its own next event; kLastTag: none
  Tag bound{};    // it can act at this tag, at the earliest; at most `next`
  Tag done{};     // the last tag that it ran
  Tag horizon{};  // it begins no later tag
  /// It waits within the tag `next`; if that is kLastTag, it is done with the final one.
  bool inside = false;
  std::uint64_t taken = 0;  // messages of all kinds that it has taken in
  // Numbered messages, per peer, and those taken in.
  // NOLINTBEGIN(readability-redundant-member-init): gcc warns without, as above
  std::vector<std::uint64_t> sent{};
  std::vector<std::uint64_t> received{};
  // NOLINTEND(readability-redundant-member-init)
};

/// How a federate speaks to others. Called on worker threads that have entered the host,
/// by one at a time.
class GatePort {
 public:
  GatePort() = default;
  GatePort(const GatePort&) = delete;
  auto operator=(const GatePort&) -> GatePort& = delete;
  virtual ~GatePort() = default;
  /// Sends messages, in this order; may take their values.
  virtual void say(std::vector<Message>& messages) noexcept = 0;
  /// This federate can do nothing until something arrives. Said again whenever it wakes.
  virtual void wait(const Report& report) noexcept = 0;
};

/// Lets a federate run its part of a program as if it ran all of it: when a tag may
/// begin, which slots of others are known within it, and what others are told.
///
/// A slot of another federate that is not known at the beginning of a tag is represented
/// by the last reaction that may set it: this reaction is *held* in the ready queue, so
/// what depends on it waits, and nothing else does.
///
/// Thread safety: `put` and `waiting` for any thread. `turn` for any worker in a tag; one
/// at a time is inside. All else is for worker 0, between tags.
class Gate {
 public:
  /// `timings` is null if times are not measured.
  Gate(const GatePlan& plan, const Plan& program, GatePort& port, Executor& executor,
       PortStore& ports, Timings* timings);

  // Any thread.
  /// Puts a message aside until a worker takes it in. The caller wakes the workers.
  void put(Message message);
  [[nodiscard]] auto waiting() const -> bool { return waiting_.load(); }

  // Between tags.
  void start(Tag start);
  /// Takes messages in. Events of stages are given to `late(stage, tag, value)`.
  template <class Late>
  void take_in(Late late) {
    take_messages();
    for (Message& m : std::exchange(late_, {})) late(m);
  }
  /// The next tag at which this federate must take part for others.
  [[nodiscard]] auto next() const -> Tag;
  /// The final tag, if one is known; kLastTag: none is.
  [[nodiscard]] auto stop() const -> Tag { return stop_; }
  /// The tag after which nothing runs, because a reaction failed there.
  [[nodiscard]] auto limit() const -> Tag { return limit_.first; }
  [[nodiscard]] auto may_begin(Tag tag) const -> bool { return links_.may_begin(tag); }
  /// Tells the coordinator what this federate waits for.
  void wait(Tag next, Tag bound);
  /// Notes for whom this federate stands still from now on: before it may begin `next`,
  /// or until anything arrives if that is kLastTag.
  void blame(Tag next);
  /// Notes that it does not stand still for others any more.
  void blame_none();
  /// What a message said that cannot be; null: nothing.
  [[nodiscard]] auto broken() const -> const char* { return broken_.load(); }

  // A tag.
  void begin(Tag tag, Epoch epoch, bool final, Worker& worker);
  /// Sends what is left of the slots that cross.
  void settle_all();
  /// Null unless events of `stage` go to other federates.
  [[nodiscard]] auto route(TriggerId stage) const -> const Route*;
  void send_event(const Route& route, Tag at, const Value& value);
  void send_physical(const Route& route, const Value& value);
  /// A reaction asked for the end: all others are told before anything is promised.
  void send_stop(Tag final_tag);
  /// The tag is done. `next` is the next event here, `bound` the earliest possible one.
  void end(Tag next, Tag bound);

  // In a tag, any worker inside the host.
  /// Whether others may wait for what `reaction` sets.
  [[nodiscard]] auto writes(ReactionId reaction) const -> bool {
    return writes_[reaction];
  }
  /// Takes in what arrived and sends what is settled. `idle`: the worker has found
  /// nothing to do. Returns whether this worker took something in.
  auto turn(Worker& worker, bool idle) -> bool;

 private:
  /// Consecutive slots of a link that have one last writer.
  struct Held {
    ReactionId writer;
    std::uint32_t last;  // index of the last one of them
  };
  /// A wait that has begun.
  struct Blamed {
    Timings::WaitKind kind;
    Tag tag;
    Time since;
  };
  struct Peer {
    std::optional<Blamed> blamed;  // if times are measured
    std::vector<Held> held;
    std::uint32_t released = 0;                     // of `held`, at this tag
    std::deque<Message> early;                      // values of later tags
    std::uint32_t settled = 0;                      // slots that go there, at this tag
    std::uint32_t told = 0;                         // of these
    bool sent = false;                              // one of these was present
    bool asked = false;                             // it waits for one of them
    bool owed = false;                              // and has had no answer
    std::optional<Tag> demanded;                    // the last tag at which it was asked
    std::optional<std::pair<Place, Tag>> promised;  // the last promise
  };

  auto take_messages() -> bool;
  void take(Message& message);
  void take_kind(Message& message);
  void take_value(Message& message);
  void take_demand(const Message& message);
  void set_early(Worker& worker);
  void release_known();
  void release_after_failure();
  void settle();
  void tell_settled(bool idle);
  void demand();
  void say(Message message);
  auto ride(PeerId peer, const Promise& promise) -> bool;
  void flush();
  void report(Report report);
  void fail(const char* what);
  void blame_for_slots();
  void blame(PeerId peer, Timings::WaitKind kind, Tag tag, bool waits, Time now);
  [[nodiscard]] auto blocks(PeerId peer, Tag next) const -> bool;
  [[nodiscard]] auto key_of(ReactionId reaction) const -> TraceKey;

  const GatePlan& plan_;
  const Plan& program_;
  GatePort& port_;
  Executor& executor_;
  PortStore& ports_;
  Timings* timings_;
  std::vector<bool> writes_;  // per reaction

  std::mutex mutex_;
  std::vector<Message> arrived_;  // guarded by mutex_
  std::atomic<bool> waiting_{false};
  std::atomic<const char*> broken_{nullptr};

  // In a tag guarded by turn_; between tags of worker 0.
  Turn turn_;
  std::atomic<bool> idle_{false};
  Links links_;
  std::vector<Peer> peers_;
  std::vector<Message> late_;
  std::vector<Message> outbox_;
  std::set<Tag> attended_;
  std::vector<std::uint64_t> sent_;
  std::vector<std::uint64_t> received_;
  std::uint64_t taken_ = 0;
  Worker* worker_ = nullptr;  // the one in the turn
  Tag now_{};                 // the current tag, or the last one that was run
  Tag done_{};                // the one before
  Time start_ = 0;
  bool started_ = false;
  bool inside_ = false;  // a tag is running
  bool final_ = false;   // it is the final one
  Epoch epoch_ = 0;
  Tag stop_ = kLastTag;
  std::pair<Tag, TraceKey> limit_{kLastTag, kLastKey};
};

}  // namespace reactorl
