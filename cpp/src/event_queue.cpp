// SPDX-License-Identifier: Apache-2.0
#include "reactorl/event_queue.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace reactorl {

auto PendingEvents::find(Tag tag) const -> std::size_t {
  const auto first = events_.begin() + static_cast<std::ptrdiff_t>(head_);
  const auto it = std::lower_bound(first, events_.end(), tag,
                                   [](const Event& e, Tag t) { return e.tag < t; });
  if (it == events_.end() || it->tag != tag) return npos;
  return static_cast<std::size_t>(it - events_.begin());
}

void PendingEvents::insert(Tag tag, Value value) {
  if (events_.empty() || head_ == events_.size()) {
    events_.clear();
    head_ = 0;
  }
  if (events_.empty() || events_.back().tag < tag) {
    events_.push_back({tag, std::move(value)});
    return;
  }
  const auto first = events_.begin() + static_cast<std::ptrdiff_t>(head_);
  const auto it = std::upper_bound(first, events_.end(), tag,
                                   [](Tag t, const Event& e) { return t < e.tag; });
  events_.insert(it, Event{tag, std::move(value)});
}

auto PendingEvents::replace(Tag tag, Value& value) -> bool {
  const auto i = find(tag);
  if (i == npos) return false;
  events_[i].value = std::move(value);
  return true;
}

auto PendingEvents::take(Tag tag) -> std::optional<Value> {
  const auto i = find(tag);
  if (i == npos) return std::nullopt;
  Value value = std::move(events_[i].value);
  if (i != head_) {
    events_.erase(events_.begin() + static_cast<std::ptrdiff_t>(i));
    return value;
  }
  ++head_;
  // Drop the taken ones when they outnumber the rest: amortised constant time.
  if (head_ == events_.size()) {
    events_.clear();
    head_ = 0;
  } else if (head_ > 64 && head_ > events_.size() / 2) {
    events_.erase(events_.begin(), events_.begin() + static_cast<std::ptrdiff_t>(head_));
    head_ = 0;
  }
  return value;
}

void PendingEvents::drop_until(Tag tag) {
  while (!empty() && events_[head_].tag <= tag) ++head_;
  if (empty()) {
    events_.clear();
    head_ = 0;
  }
}

auto PendingEvents::take_all() -> std::vector<Event> {
  events_.erase(events_.begin(), events_.begin() + static_cast<std::ptrdiff_t>(head_));
  head_ = 0;
  return std::exchange(events_, {});
}

void EventQueue::put(Tag tag, TriggerId trigger) {
  heap_.push_back({tag, trigger});
  std::push_heap(heap_.begin(), heap_.end(), std::greater<>{});
}

void EventQueue::keep(const std::function<bool(const Entry&)>& wanted) {
  std::erase_if(heap_, [&](const Entry& entry) { return !wanted(entry); });
  std::ranges::sort(heap_);  // a sorted list is a heap
  const auto twice = std::ranges::unique(heap_);
  heap_.erase(twice.begin(), twice.end());
}

void EventQueue::pop() {
  std::pop_heap(heap_.begin(), heap_.end(), std::greater<>{});
  heap_.pop_back();
}

}  // namespace reactorl
