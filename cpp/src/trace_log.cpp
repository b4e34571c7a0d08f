// SPDX-License-Identifier: Apache-2.0
#include "reactorl/trace_log.hpp"

#include <algorithm>
#include <utility>

#include "reactorl/host.hpp"

namespace reactorl {
namespace {

void append_event(std::vector<std::int64_t>& words, TriggerId trigger,
                  std::optional<Tag> tag) {
  words.push_back(trigger);
  words.push_back(tag ? tag->time : -1);
  words.push_back(tag ? static_cast<std::int64_t>(tag->microstep) : -1);
}

auto narrow(std::size_t n) -> std::uint32_t { return static_cast<std::uint32_t>(n); }

}  // namespace

void TraceNotes::begin(ReactionId reaction, bool missed) {
  open_ = {reaction, narrow(words_.size()), 0, narrow(values_.size()), 0};
  flags_ = missed ? 1 : 0;
  mode_ = -1;
  sets_.clear();
  events_.clear();
}

void TraceNotes::event(TriggerId trigger, std::optional<Tag> tag) {
  append_event(events_, trigger, tag);
}

void TraceNotes::mode(ModeId mode, bool reset) {
  mode_ = mode;
  flags_ = (flags_ & 1) | (reset ? 2 : 0);
}

void TraceNotes::end(const PortStore& ports, Host& host) {
  std::ranges::sort(sets_);
  const auto twice = std::ranges::unique(sets_);
  sets_.erase(twice.begin(), twice.end());
  words_.insert(words_.end(), {static_cast<std::int64_t>(open_.reaction), flags_, mode_,
                               static_cast<std::int64_t>(sets_.size())});
  for (const SlotId slot : sets_) {
    words_.push_back(slot);
    values_.push_back(host.snapshot(ports.value(slot)));
  }
  words_.push_back(static_cast<std::int64_t>(events_.size() / 3));
  words_.insert(words_.end(), events_.begin(), events_.end());
  open_.words_end = narrow(words_.size());
  open_.values_end = narrow(values_.size());
  notes_.push_back(open_);
}

void TraceLog::tag(Tag tag, std::span<TraceNotes* const> workers,
                   const std::vector<LevelId>& level_of) {
  struct Ref {
    LevelId level;
    ReactionId reaction;
    TraceNotes* from;
    const TraceNotes::Note* note;
  };
  std::vector<Ref> refs;
  for (TraceNotes* notes : workers) {
    for (const auto& note : notes->notes_) {
      refs.push_back({level_of[note.reaction], note.reaction, notes, &note});
    }
  }
  std::ranges::sort(refs, {},
                    [](const Ref& r) { return std::pair(r.level, r.reaction); });
  tag_begin_ = words_.size();
  words_.insert(words_.end(), {tag.time, static_cast<std::int64_t>(tag.microstep),
                               static_cast<std::int64_t>(refs.size())});
  for (const Ref& ref : refs) {
    const auto& w = ref.from->words_;
    words_.insert(words_.end(), w.begin() + ref.note->words_begin,
                  w.begin() + ref.note->words_end);
    for (auto v = ref.note->values_begin; v < ref.note->values_end; ++v) {
      values_.push_back(std::move(ref.from->values_[v]));
    }
  }
  for (TraceNotes* notes : workers) {
    notes->notes_.clear();
    notes->words_.clear();
    notes->values_.clear();
  }
  stage_count_at_ = words_.size();
  words_.push_back(0);
}

void TraceLog::stage_event(TriggerId trigger, std::optional<Tag> tag) {
  ++words_[stage_count_at_];
  append_event(words_, trigger, tag);
}

void TraceLog::end_tag(bool keep) {
  if (!keep && words_[tag_begin_ + 2] == 0) words_.resize(tag_begin_);
}

}  // namespace reactorl
