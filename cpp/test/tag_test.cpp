// SPDX-License-Identifier: Apache-2.0
#include "reactorl/tag.hpp"

#include <algorithm>
#include <vector>

#include "check.hpp"

using namespace reactorl;

namespace {
constexpr std::uint32_t kLastMicrostep = kLastTag.microstep;
}

TEST(tags_are_ordered_by_time_then_microstep) {
  const std::vector<Tag> ascending{{-5, 9}, {0, 0},        {0, 1},  {0, kLastMicrostep},
                                   {1, 0},  {kForever, 0}, kLastTag};

  CHECK(std::ranges::is_sorted(ascending));
  CHECK(std::ranges::adjacent_find(ascending) == ascending.end());
}

TEST(only_tags_with_both_parts_equal_are_simultaneous) {
  CHECK((Tag{3, 1} == Tag{3, 1}));
  CHECK((Tag{3, 1} != Tag{3, 2}));
  CHECK((Tag{3, 1} != Tag{4, 1}));
}

TEST(adding_times_stops_at_forever) {
  CHECK_EQ(add_time(1, 2), 3);
  CHECK_EQ(add_time(-7, 7), 0);
  CHECK_EQ(add_time(kForever, 0), kForever);
  CHECK_EQ(add_time(kForever, kForever), kForever);
  CHECK_EQ(add_time(kForever - 1, 1), kForever);
  CHECK_EQ(add_time(kForever - 2, 1), kForever - 1);
  CHECK_EQ(add_time(0, kForever), kForever);
  CHECK_EQ(add_time(std::numeric_limits<Time>::min(), kForever), -1);
}

TEST(the_last_microstep_is_followed_by_the_last_tag) {
  CHECK_EQ(next_microstep({4, 0}), (Tag{4, 1}));
  CHECK_EQ(next_microstep({4, kLastMicrostep - 1}), (Tag{4, kLastMicrostep}));
  CHECK_EQ(next_microstep({4, kLastMicrostep}), kLastTag);
  CHECK_EQ(next_microstep(kLastTag), kLastTag);
}

TEST(a_positive_delay_forgets_the_microstep) {
  CHECK_EQ(delayed({10, 3}, 5), (Tag{15, 0}));
  CHECK_EQ(delayed({10, 0}, 1), (Tag{11, 0}));
}

TEST(no_delay_is_one_microstep) { CHECK_EQ(delayed({10, 3}, 0), (Tag{10, 4})); }

TEST(a_negative_delay_changes_nothing) { CHECK_EQ(delayed({10, 3}, -1), (Tag{10, 3})); }

TEST(a_delay_beyond_all_time_gives_the_last_tag) {
  CHECK_EQ(delayed({10, 3}, kForever), kLastTag);
  CHECK_EQ(delayed({kForever - 1, 0}, 1), kLastTag);
  CHECK_EQ(delayed(kLastTag, 1), kLastTag);
  CHECK_EQ(delayed(kLastTag, 0), kLastTag);
}

TEST(an_event_is_always_later_than_its_cause) {
  check::Dice dice(1);
  for (int i = 0; i < 100'000; ++i) {
    const Tag tag{static_cast<Time>(dice() >> 1U) - 1, dice.below(kLastMicrostep)};
    const Time by =
        dice.chance(30) ? 0 : static_cast<Time>(dice() >> (1 + dice.below(60)));

    CHECK(delayed(tag, by) > tag);
  }
}
