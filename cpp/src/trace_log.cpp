// SPDX-License-Identifier: Apache-2.0
#include "reactorl/trace_log.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "reactorl/host.hpp"

namespace reactorl {
namespace {

/// A number of 64 bits, at seven bits a byte.
constexpr std::size_t kLongest = 10;
constexpr std::uint32_t kHasMode = 4;
constexpr std::uint32_t kHasEvents = 8;
constexpr unsigned kCountShift = 4;

auto put(std::uint8_t* at, std::uint64_t number) -> std::uint8_t* {
  while (number >= 0x80) {
    *at++ = static_cast<std::uint8_t>(number | 0x80U);
    number >>= 7U;
  }
  *at++ = static_cast<std::uint8_t>(number);
  return at;
}

auto put(std::uint8_t* at, const TraceNotes::Event& event) -> std::uint8_t* {
  at = put(at, event.trigger);
  if (!event.tag) return put(at, 0);
  at = put(at, std::uint64_t{event.tag->microstep} + 1);
  return put(at, static_cast<std::uint64_t>(event.tag->time));
}

auto put(std::uint8_t* at, const std::vector<TraceNotes::Event>& events)
    -> std::uint8_t* {
  at = put(at, events.size());
  for (const auto& event : events) at = put(at, event);
  return at;
}

/// As `Host::snapshot`, for a native value, without the host.
auto snapshot(const Value& value, const void* last, bool values) -> std::optional<Value> {
  const NativeValue& now = *value.native();
  const NativeValue* before = Value::native_of(const_cast<void*>(last));
  const bool by_type = !values && !is_scalar(now.type());
  if (before != nullptr && before->type() == now.type() &&
      (by_type || before->equals(now))) {
    return std::nullopt;
  }
  return value.copy();
}

auto longest(const std::vector<TraceNotes::Event>& events) -> std::size_t {
  return kLongest * (1 + 3 * events.size());
}

}  // namespace

auto TraceNotes::room(std::size_t count) -> std::uint8_t* {
  if (size_ - used_ < count) {
    size_ = std::max(2 * size_, used_ + count);
    auto larger = std::make_unique_for_overwrite<std::uint8_t[]>(size_);
    if (used_ > 0) std::memcpy(larger.get(), bytes_.get(), used_);
    bytes_ = std::move(larger);
  }
  return bytes_.get() + used_;
}

void TraceNotes::end(const PortStore& ports, Host& host, TraceKept& kept, bool values) {
  if (sets_.size() > 1) {
    if (!std::ranges::is_sorted(sets_)) std::ranges::sort(sets_);
    const auto twice = std::ranges::unique(sets_);
    sets_.erase(twice.begin(), twice.end());
  }
  std::uint8_t* const begin = room(kLongest * (3 + sets_.size()) + longest(events_));
  std::uint8_t* at = put(begin, static_cast<ReactionId>(key_));
  const std::uint32_t parts =
      flags_ | (mode_ == kNone ? 0 : kHasMode) | (events_.empty() ? 0 : kHasEvents);
  at = put(at, (std::uint64_t{sets_.size()} << kCountShift) | parts);
  if (mode_ != kNone) at = put(at, mode_);
  for (const SlotId slot : sets_) {
    const Value& sent = ports.value(slot);
    std::optional<Value> value = sent.native() != nullptr
                                     ? snapshot(sent, kept[slot], values)
                                 : sent.get() == nullptr && kept[slot] == nullptr
                                     ? std::nullopt
                                     : host.snapshot(sent, kept[slot]);
    at = put(at, (std::uint64_t{slot} << 1U) | (value ? 0U : 1U));
    if (!value) continue;
    kept[slot] = value->get();
    values_.push_back(std::move(*value));
  }
  if (!events_.empty()) at = put(at, events_);
  used_ += static_cast<std::size_t>(at - begin);
  notes_.push_back({key_, static_cast<std::uint32_t>(used_),
                    static_cast<std::uint32_t>(values_.size())});
}

void TraceLog::append_all(TraceNotes& notes) {
  bytes_.append({notes.bytes_.get(), notes.used_});
  for (Value& value : notes.values_) values_.push(std::move(value));
}

void TraceLog::append(const Ref& ref) {
  TraceNotes& notes = *ref.from;
  const TraceNotes::Note& note = notes.notes_[ref.note];
  const TraceNotes::Note before =
      ref.note == 0 ? TraceNotes::Note{} : notes.notes_[ref.note - 1];
  bytes_.append(
      {notes.bytes_.get() + before.bytes_end, note.bytes_end - before.bytes_end});
  for (auto v = before.values_end; v < note.values_end; ++v) {
    values_.push(std::move(notes.values_[v]));
  }
}

void TraceLog::end_tag(Tag tag, std::span<TraceNotes* const> workers, bool keep,
                       TraceKey last) {
  refs_.clear();
  TraceNotes* only = nullptr;  // who noted all
  std::size_t who = 0;
  for (TraceNotes* notes : workers) {
    if (notes->notes_.empty()) continue;
    only = notes;
    ++who;
  }
  const bool in_order = who == 1 && last == kLastKey &&
                        std::ranges::is_sorted(only->notes_, {}, &TraceNotes::Note::key);
  if (!in_order) {
    for (TraceNotes* notes : workers) {
      for (std::uint32_t n = 0; n < notes->notes_.size(); ++n) {
        const TraceKey key = notes->notes_[n].key;
        if (key <= last) refs_.push_back({key, notes, n});
      }
    }
    std::ranges::sort(refs_, {}, &Ref::key);
  }
  const std::size_t count = in_order ? only->notes_.size() : refs_.size();
  if (keep || count > 0) {
    std::uint8_t head[3 * kLongest];
    std::uint8_t* at = put(head, static_cast<std::uint64_t>(tag.time - time_));
    at = put(at, tag.microstep);
    at = put(at, count);
    bytes_.append({head, at});
    time_ = tag.time;
    if (in_order) append_all(*only);
    for (const Ref& ref : refs_) append(ref);
    if (stage_events_.empty()) {
      bytes_.push(0);
    } else {
      std::vector<std::uint8_t> tail(longest(stage_events_));
      bytes_.append({tail.data(), put(tail.data(), stage_events_)});
    }
  }
  stage_events_.clear();
  for (TraceNotes* notes : workers) notes->clear();
}

auto TraceLog::bytes() const -> std::vector<std::uint8_t> {
  std::vector<std::uint8_t> all;
  all.reserve(bytes_.size());
  bytes_.for_each([&](auto piece) { all.insert(all.end(), piece.begin(), piece.end()); });
  return all;
}

auto TraceLog::values() const -> std::vector<const Value*> {
  std::vector<const Value*> all;
  all.reserve(values_.size());
  values_.for_each([&](auto piece) {
    for (const Value& value : piece) all.push_back(&value);
  });
  return all;
}

namespace {

/// Reads bytes and writes words.
class Expander {
 public:
  explicit Expander(std::span<const std::uint8_t> bytes)
      : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  auto all() -> Expanded {
    while (at_ != end_) tag();
    return std::move(out_);
  }

 private:
  auto take() -> std::int64_t {
    std::uint64_t number = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (at_ == end_) break;
      const std::uint8_t byte = *at_++;
      number |= std::uint64_t{byte & 0x7FU} << shift;
      if ((byte & 0x80U) == 0) return static_cast<std::int64_t>(number);
    }
    throw std::invalid_argument("these are not the bytes of a trace");
  }
  void word(std::int64_t w) { out_.words.push_back(w); }
  auto copy() -> std::int64_t {
    word(take());
    return out_.words.back();
  }

  void tag() {
    time_ += take();
    word(time_);
    copy();
    for (auto left = copy(); left > 0; --left) reaction();
    events();
  }
  void reaction() {
    copy();
    const auto head = static_cast<std::uint64_t>(take());
    const std::uint64_t sets = head >> kCountShift;
    word(static_cast<std::int64_t>(head & 3U));
    word((head & kHasMode) != 0 ? take() : -1);
    word(static_cast<std::int64_t>(sets));
    for (std::uint64_t i = 0; i < sets; ++i) set(static_cast<std::uint64_t>(take()));
    if ((head & kHasEvents) != 0) {
      events();
    } else {
      word(0);
    }
  }
  void set(std::uint64_t noted) {
    const std::size_t slot = noted >> 1U;
    if (slot > SlotId(kNone))
      throw std::invalid_argument("these are not the bytes of a trace");
    if (slot >= kept_.size()) kept_.resize(slot + 1, -1);
    if ((noted & 1U) == 0) kept_[slot] = values_++;
    word(static_cast<std::int64_t>(slot));
    out_.which.push_back(kept_[slot]);
  }
  void events() {
    for (auto left = copy(); left > 0; --left) {
      copy();
      const std::int64_t step = take() - 1;
      word(step < 0 ? -1 : take());
      word(step);
    }
  }

  const std::uint8_t* at_;
  const std::uint8_t* end_;
  Expanded out_;
  std::vector<std::int64_t> kept_;  // per slot
  std::int64_t values_ = 0;
  Time time_ = 0;
};

}  // namespace

auto expand(std::span<const std::uint8_t> bytes) -> Expanded {
  return Expander(bytes).all();
}

}  // namespace reactorl
