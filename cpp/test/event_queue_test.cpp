// SPDX-License-Identifier: Apache-2.0
#include "reactorl/event_queue.hpp"

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "check.hpp"
#include "counted.hpp"

using namespace reactorl;

namespace {

auto taken(PendingEvents& events, Tag tag) -> std::int64_t {
  const auto value = events.take(tag);
  return value ? Counted::number(*value) : -2;
}

}  // namespace

TEST(events_are_taken_by_their_tag) {
  PendingEvents events;
  events.insert({5, 0}, Counted::make(50));
  events.insert({3, 0}, Counted::make(30));
  events.insert({5, 1}, Counted::make(51));
  events.insert({4, 7}, Counted::make(47));

  CHECK_EQ(taken(events, {4, 7}), 47);
  CHECK_EQ(taken(events, {4, 7}), -2);
  CHECK_EQ(taken(events, {3, 0}), 30);
  CHECK_EQ(taken(events, {5, 1}), 51);
  CHECK(!events.empty());
  CHECK_EQ(taken(events, {5, 0}), 50);
  CHECK(events.empty());
}

TEST(an_event_without_payload_is_an_event) {
  PendingEvents events;
  events.insert({1, 0}, Value());

  CHECK(events.contains({1, 0}));
  CHECK(!events.contains({1, 1}));
  CHECK_EQ(taken(events, {1, 0}), -1);
}

TEST(replacing_changes_the_payload_and_gives_the_old_one_back) {
  PendingEvents events;
  events.insert({1, 0}, Counted::make(1));
  Value value = Counted::make(2);

  CHECK(events.replace({1, 0}, value));
  CHECK_EQ(Counted::number(value), 1);
  CHECK(!events.replace({1, 1}, value));
  CHECK_EQ(Counted::number(value), 1);
  CHECK_EQ(taken(events, {1, 0}), 2);
}

TEST(take_all_gives_what_is_left_in_order) {
  PendingEvents events;
  for (int i = 0; i < 10; ++i) events.insert({i, 0}, Counted::make(i));
  for (int i = 0; i < 4; ++i) CHECK_EQ(taken(events, {i, 0}), i);

  const auto rest = events.take_all();

  CHECK(events.empty());
  CHECK_EQ(rest.size(), std::size_t{6});
  for (int i = 0; i < 6; ++i) {
    CHECK_EQ(rest[static_cast<std::size_t>(i)].tag, (Tag{i + 4, 0}));
    CHECK_EQ(Counted::number(rest[static_cast<std::size_t>(i)].value), i + 4);
  }
  CHECK(events.take_all().empty());
  events.insert({0, 0}, Value());
  CHECK(events.contains({0, 0}));
}

TEST(a_long_stream_passes_through) {
  PendingEvents events;
  for (int i = 0; i < 100; ++i) events.insert({i, 0}, Counted::make(i));
  for (int i = 0; i < 10'000; ++i) {
    CHECK_EQ(taken(events, {i, 0}), i);
    events.insert({i + 100, 0}, Counted::make(i + 100));
  }

  CHECK_EQ(events.take_all().size(), std::size_t{100});
}

TEST(pending_events_behave_like_a_map) {
  check::Dice dice(2);
  for (int round = 0; round < check::scaled(60, 10); ++round) {
    PendingEvents events;
    std::map<Tag, std::int64_t> model;
    const std::uint32_t span = 1 + dice.below(400);
    for (int i = 0; i < 3000; ++i) {
      const Tag tag{dice.below(span), dice.below(3)};
      switch (dice.below(8)) {
        case 0:
        case 1:
        case 2:
          if (model.contains(tag)) break;
          events.insert(tag, Counted::make(i));
          model[tag] = i;
          break;
        case 3: {
          Value value = Counted::make(i);
          CHECK_EQ(events.replace(tag, value), model.contains(tag));
          if (model.contains(tag)) model[tag] = i;
          break;
        }
        case 4:
          CHECK_EQ(taken(events, tag), model.contains(tag) ? model[tag] : -2);
          model.erase(tag);
          break;
        case 5: CHECK_EQ(events.contains(tag), model.contains(tag)); break;
        default:  // the scheduler takes the earliest
          if (model.empty()) break;
          CHECK_EQ(taken(events, model.begin()->first), model.begin()->second);
          model.erase(model.begin());
      }
      CHECK_EQ(events.empty(), model.empty());
    }
    const auto rest = events.take_all();
    CHECK_EQ(rest.size(), model.size());
    auto expected = model.begin();
    for (const auto& event : rest) {
      CHECK_EQ(event.tag, expected->first);
      CHECK_EQ(Counted::number(event.value), expected->second);
      ++expected;
    }
  }
}

TEST(no_payload_is_lost) { CHECK_EQ(Counted::live.load(), 0); }

TEST(the_queue_orders_by_tag_then_trigger) {
  EventQueue queue;
  queue.put({2, 0}, 0);
  queue.put({1, 1}, 5);
  queue.put({1, 1}, 4);
  queue.put({1, 0}, 9);
  queue.put({1, 1}, kNone);
  const std::vector<EventQueue::Entry> expected{
      {{1, 0}, 9}, {{1, 1}, 4}, {{1, 1}, 5}, {{1, 1}, kNone}, {{2, 0}, 0}};

  for (const auto& entry : expected) {
    CHECK(queue.top() == entry);
    queue.pop();
  }
  CHECK(queue.empty());
}

TEST(the_queue_keeps_duplicates) {
  EventQueue queue;
  queue.put({1, 0}, 3);
  queue.put({1, 0}, 3);

  CHECK_EQ(queue.size(), std::size_t{2});
  queue.pop();
  CHECK((queue.top() == EventQueue::Entry{{1, 0}, 3}));
}

TEST(the_queue_keeps_what_is_wanted_once) {
  EventQueue queue;
  queue.keep([](const EventQueue::Entry&) { return true; });
  check::Dice dice(30);
  std::set<std::pair<Tag, TriggerId>> model;
  for (int i = 0; i < 500; ++i) {
    const Tag tag{dice.below(20), dice.below(3)};
    const TriggerId trigger(dice.below(6));
    queue.put(tag, trigger);
    if (trigger != 3) model.emplace(tag, trigger);
  }
  queue.keep([](const EventQueue::Entry& entry) { return entry.trigger != 3; });
  queue.put({7, 9}, 1);  // it is a queue as before
  model.emplace(Tag{7, 9}, TriggerId(1));

  CHECK_EQ(queue.size(), model.size());
  for (const auto& [tag, trigger] : model) {
    CHECK((queue.top() == EventQueue::Entry{tag, trigger}));
    queue.pop();
  }
}

TEST(the_queue_behaves_like_a_sorted_multiset) {
  check::Dice dice(3);
  EventQueue queue;
  std::multiset<std::pair<Tag, TriggerId>> model;
  for (int i = 0; i < check::scaled(300'000, 30'000); ++i) {
    if (dice.chance(52) || model.empty()) {
      const Tag tag{dice.below(1000), dice.below(4)};
      const TriggerId trigger(dice.below(20));
      queue.put(tag, trigger);
      model.emplace(tag, trigger);
    } else {
      CHECK_EQ(queue.top().tag, model.begin()->first);
      CHECK_EQ(queue.top().trigger, model.begin()->second);
      queue.pop();
      model.erase(model.begin());
    }
    CHECK_EQ(queue.size(), model.size());
  }
}
