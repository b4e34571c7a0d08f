// SPDX-License-Identifier: Apache-2.0
#include "reactorl/trace_log.hpp"

#include <optional>
#include <vector>

#include "check.hpp"
#include "counted.hpp"
#include "test_host.hpp"

using namespace reactorl;

namespace {

using Words = std::vector<std::int64_t>;

struct Setting {
  Setting() : host(plan, {}), ports(10) {}

  void tag(Tag at, bool keep = false) {
    std::vector<TraceNotes*> workers{&notes[0], &notes[1]};
    log.tag(at, workers, levels);
    log.end_tag(keep);
  }
  void set(int worker, SlotId slot, std::int64_t number) {
    ports.set(slot, Counted::make(number), 1);
    notes[worker].set(slot);
  }
  [[nodiscard]] auto numbers() const -> Words {
    Words all;
    for (const Value& value : log.values()) all.push_back(Counted::number(value));
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
  s.notes[0].begin(2, false);
  s.notes[0].end(s.ports, s.host);
  s.tag({30, 4});

  CHECK_EQ(s.log.words(), (Words{30, 4, 1, /**/ 2, 0, -1, 0, 0, /**/ 0}));
}

TEST(sets_are_noted_once_in_ascending_order_with_the_last_value) {
  Setting s;
  s.notes[0].begin(0, false);
  s.set(0, 7, 70);
  s.set(0, 3, 30);
  s.set(0, 7, 71);
  s.notes[0].end(s.ports, s.host);
  s.tag({0, 0});

  CHECK_EQ(s.log.words(), (Words{0, 0, 1, /**/ 0, 0, -1, 2, 3, 7, 0, /**/ 0}));
  CHECK_EQ(s.numbers(), (Words{30, 71}));
}

TEST(events_are_noted_in_the_order_of_the_calls) {
  Setting s;
  s.notes[0].begin(0, false);
  s.notes[0].event(5, Tag{9, 1});
  s.notes[0].event(2, std::nullopt);
  s.notes[0].end(s.ports, s.host);
  s.tag({0, 0});

  CHECK_EQ(s.log.words(),
           (Words{0, 0, 1, /**/ 0, 0, -1, 0, 2, 5, 9, 1, 2, -1, -1, /**/ 0}));
}

TEST(flags_tell_of_deadlines_and_modes) {
  Setting s;
  s.notes[0].begin(0, true);
  s.notes[0].mode(4, true);
  s.notes[0].mode(6, false);  // the last request counts
  s.notes[0].end(s.ports, s.host);
  s.notes[0].begin(3, false);
  s.notes[0].mode(6, true);
  s.notes[0].end(s.ports, s.host);
  s.tag({0, 0});

  CHECK_EQ(s.log.words(), (Words{0, 0, 2, 0, 1, 6, 0, 0, 3, 2, 6, 0, 0, 0}));
}

TEST(reactions_are_ordered_by_level_and_id_whoever_ran_them) {
  Words first;
  for (int order = 0; order < 16; ++order) {
    Setting s;
    for (std::uint32_t i = 0; i < 4; ++i) {
      const ReactionId r = order % 2 == 0 ? i : 3 - i;
      const int worker = (order >> r) & 1;
      s.notes[worker].begin(r, false);
      s.set(worker, r, 10 + r);
      s.notes[worker].event(r, Tag{r, 0});
      s.notes[worker].end(s.ports, s.host);
    }
    s.tag({1, 0});

    if (first.empty()) first = s.log.words();
    CHECK_EQ(s.log.words(), first);
    CHECK_EQ(s.numbers(), (Words{10, 13, 11, 12}));
  }
}

TEST(stage_events_close_a_tag) {
  Setting s;
  s.notes[1].begin(0, false);
  s.notes[1].end(s.ports, s.host);
  std::vector<TraceNotes*> workers{&s.notes[0], &s.notes[1]};
  s.log.tag({2, 0}, workers, s.levels);
  s.log.stage_event(1, Tag{7, 0});
  s.log.stage_event(3, std::nullopt);
  s.log.end_tag(false);

  CHECK_EQ(s.log.words(),
           (Words{2, 0, 1, /**/ 0, 0, -1, 0, 0, /**/ 2, 1, 7, 0, 3, -1, -1}));
}

TEST(a_tag_at_which_nothing_ran_is_forgotten_unless_kept) {
  Setting s;
  s.notes[0].begin(1, false);
  s.notes[0].end(s.ports, s.host);
  s.tag({1, 0});
  const Words before = s.log.words();
  s.tag({2, 0});
  CHECK_EQ(s.log.words(), before);
  s.tag({3, 0}, true);

  Words after = before;
  after.insert(after.end(), {3, 0, 0, 0});
  CHECK_EQ(s.log.words(), after);
}

TEST(notes_of_a_tag_do_not_come_again) {
  Setting s;
  for (int tag = 0; tag < 3; ++tag) {
    s.notes[tag % 2].begin(0, false);
    s.set(tag % 2, 1, tag);
    s.notes[tag % 2].end(s.ports, s.host);
    s.tag({tag, 0});
  }

  CHECK_EQ(s.log.words().size(), std::size_t{3 * 10});
  CHECK_EQ(s.numbers(), (Words{0, 1, 2}));
}

TEST(values_are_released_with_the_log) { CHECK_EQ(Counted::live.load(), 0); }
