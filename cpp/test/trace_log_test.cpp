// SPDX-License-Identifier: Apache-2.0
#include "reactorl/trace_log.hpp"

#include <optional>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "counted.hpp"
#include "test_host.hpp"

using namespace reactorl;

namespace {

using Words = std::vector<std::int64_t>;

struct Setting {
  Setting() : host(plan, {}), ports(10) { log.open(10); }

  void tag(Tag at, bool keep = false, TraceKey last = kLastKey) {
    std::vector<TraceNotes*> workers{&notes[0], &notes[1]};
    log.end_tag(at, workers, keep, last);
  }
  void begin(int worker, ReactionId reaction, bool missed = false) {
    notes[worker].begin(trace_key(levels[reaction], reaction), missed);
  }
  void end(int worker) { notes[worker].end(ports, host, log.kept(), false); }
  [[nodiscard]] auto words() const -> Words { return expand(log.bytes()).words; }
  void set(int worker, SlotId slot, std::int64_t number) {
    ports.set(slot, Counted::make(number), 1);
    notes[worker].set(slot);
  }
  [[nodiscard]] auto numbers() const -> Words {
    Words all;
    const auto values = log.values();
    for (const std::int64_t i : expand(log.bytes()).which) {
      all.push_back(i < 0 ? -1 : Counted::number(*values[static_cast<std::size_t>(i)]));
    }
    return all;
  }

  Plan plan;
  TestHost host;
  PortStore ports;
  TraceNotes notes[2];
  TraceLog log;
  std::vector<LevelId> levels{0, 1, 1, 0};
};

}  // namespace

TEST(a_reaction_that_does_nothing_is_noted) {
  Setting s;
  s.begin(0, 2);
  s.end(0);
  s.tag({30, 4});

  CHECK_EQ(s.words(), (Words{30, 4, 1, /**/ 2, 0, -1, 0, 0, /**/ 0}));
}

TEST(sets_are_noted_once_in_ascending_order_with_the_last_value) {
  Setting s;
  s.begin(0, 0);
  s.set(0, 7, 70);
  s.set(0, 3, 30);
  s.set(0, 7, 71);
  s.end(0);
  s.tag({0, 0});

  CHECK_EQ(s.words(), (Words{0, 0, 1, /**/ 0, 0, -1, 2, 3, 7, 0, /**/ 0}));
  CHECK_EQ(s.numbers(), (Words{30, 71}));
}

TEST(events_are_noted_in_the_order_of_the_calls) {
  Setting s;
  s.begin(0, 0);
  s.notes[0].event(5, Tag{9, 1});
  s.notes[0].event(2, std::nullopt);
  s.end(0);
  s.tag({0, 0});

  CHECK_EQ(s.words(), (Words{0, 0, 1, /**/ 0, 0, -1, 0, 2, 5, 9, 1, 2, -1, -1, /**/ 0}));
}

TEST(flags_tell_of_deadlines_and_modes) {
  Setting s;
  s.begin(0, 0, true);
  s.notes[0].mode(4, true);
  s.notes[0].mode(6, false);  // the last request counts
  s.end(0);
  s.begin(0, 3);
  s.notes[0].mode(6, true);
  s.end(0);
  s.tag({0, 0});

  CHECK_EQ(s.words(), (Words{0, 0, 2, 0, 1, 6, 0, 0, 3, 2, 6, 0, 0, 0}));
}

TEST(reactions_are_ordered_by_level_and_id_on_any_worker) {
  Words first;
  for (int order = 0; order < 16; ++order) {
    Setting s;
    for (std::uint32_t i = 0; i < 4; ++i) {
      const ReactionId r(order % 2 == 0 ? i : 3 - i);
      const int worker = (order >> r) & 1;
      s.begin(worker, r);
      s.set(worker, SlotId(std::uint32_t{r}), 10 + r);
      s.notes[worker].event(TriggerId(std::uint32_t{r}), Tag{r, 0});
      s.end(worker);
    }
    s.tag({1, 0});

    if (first.empty()) first = s.words();
    CHECK_EQ(s.words(), first);
    CHECK_EQ(s.numbers(), (Words{10, 13, 11, 12}));
  }
}

TEST(stage_events_close_a_tag) {
  Setting s;
  s.begin(1, 0);
  s.end(1);
  s.log.stage_event(1, Tag{7, 0});
  s.log.stage_event(3, std::nullopt);
  s.tag({2, 0});

  CHECK_EQ(s.words(), (Words{2, 0, 1, /**/ 0, 0, -1, 0, 0, /**/ 2, 1, 7, 0, 3, -1, -1}));
}

TEST(a_tag_at_which_nothing_ran_is_forgotten_unless_kept) {
  Setting s;
  s.begin(0, 1);
  s.end(0);
  s.tag({1, 0});
  const Words before = s.words();
  s.tag({2, 0});
  CHECK_EQ(s.words(), before);
  s.tag({3, 0}, true);

  Words after = before;
  after.insert(after.end(), {3, 0, 0, 0});
  CHECK_EQ(s.words(), after);
}

TEST(notes_of_a_tag_do_not_come_again) {
  Setting s;
  for (int tag = 0; tag < 3; ++tag) {
    s.begin(tag % 2, 0);
    s.set(tag % 2, 1, tag);
    s.end(tag % 2);
    s.tag({tag, 0});
  }

  CHECK_EQ(s.words().size(), std::size_t{3 * 10});
  CHECK_EQ(s.numbers(), (Words{0, 1, 2}));
}

TEST(a_value_that_stays_the_same_is_kept_once) {
  Setting s;
  s.ports.set(1, Counted::make(7), 1);
  for (int tag = 0; tag < 3; ++tag) {
    s.begin(tag % 2, 0);
    s.notes[tag % 2].set(1);
    s.end(tag % 2);
    s.tag({tag, 0});
  }
  s.begin(0, 0);
  s.set(0, 1, 8);
  s.end(0);
  s.tag({3, 0});

  CHECK_EQ(s.numbers(), (Words{7, 7, 7, 8}));
  CHECK_EQ(s.log.values().size(), std::size_t{2});
}

TEST(a_slot_that_never_had_a_value_has_none) {
  Setting s;
  s.begin(0, 0);
  s.notes[0].set(4);
  s.end(0);
  s.tag({0, 0});

  CHECK_EQ(s.numbers(), (Words{-1}));
}

TEST(what_comes_after_the_last_key_is_left_out) {
  for (int worker = 0; worker < 2; ++worker) {
    Setting s;
    for (const ReactionId r : std::vector<ReactionId>{0, 3, 1, 2}) {
      s.begin(r == 1 ? worker : 0, r);
      s.end(r == 1 ? worker : 0);
    }
    s.tag({0, 0}, true, trace_key(1, 1));

    CHECK_EQ(s.words(), (Words{0, 0, 3, 0, 0, -1, 0, 0, 3, 0, -1, 0, 0, 1, 0, -1, 0, 0,
                               /**/ 0}));
  }
}

TEST(large_numbers_and_many_notes_come_back) {
  Setting s;
  s.levels.resize(3'000'000);
  Words expected;
  constexpr std::int64_t kTags = 40'000;  // more than a block
  for (std::int64_t tag = 0; tag < kTags; ++tag) {
    const Time time = tag * 1'000'000'007;
    const ReactionId reaction(static_cast<std::uint32_t>(tag * 71));
    s.begin(0, reaction);
    s.notes[0].event(300, Tag{kForever - tag, 4'000'000'000U});
    s.end(0);
    s.tag({time, 200});
    expected.insert(expected.end(), {time, 200, 1, std::int64_t{reaction}, 0, -1, 0, 1,
                                     300, kForever - tag, 4'000'000'000, 0});
  }

  CHECK(s.words() == expected);
}

TEST(bytes_that_are_cut_are_refused) {
  Setting s;
  s.begin(0, 2, true);
  s.set(0, 7, 70);
  s.notes[0].event(1, Tag{300, 0});
  s.end(0);
  s.tag({1000, 0});
  const std::vector<std::uint8_t> whole = s.log.bytes();

  for (std::size_t length = 1; length < whole.size(); ++length) {
    bool refused = false;
    try {
      static_cast<void>(expand({whole.data(), length}));
    } catch (const std::invalid_argument&) {
      refused = true;
    }
    CHECK(refused);
  }
}

TEST(values_are_released_with_the_log) { CHECK_EQ(Counted::live.load(), 0); }
