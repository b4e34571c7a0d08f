// SPDX-License-Identifier: Apache-2.0
#include "reactorl/modes.hpp"

#include <algorithm>
#include <vector>

#include "check.hpp"

using namespace reactorl;

namespace {

using Ids = std::vector<ModeId>;

/// One modal reactor with the modes 0 (initial), 1 and 2.
auto single() -> Plan {
  Plan plan;
  plan.modals = 1;
  plan.modes = {{0, kNone, true}, {0, kNone, false}, {0, kNone, false}};
  return plan;
}

/// Outer modes 0 (initial) and 1. In 0 lives a modal reactor with 2 (initial) and 3, in
/// 1 one with 4 (initial) and 5; in 3 yet another, with 6 (initial) and 7.
auto nested() -> Plan {
  Plan plan;
  plan.modals = 4;
  plan.modes = {{0, kNone, true}, {0, kNone, false}, {1, 0, true}, {1, 0, false},
                {2, 1, true},     {2, 1, false},     {3, 3, true}, {3, 3, false}};
  return plan;
}

auto active(const Modes& modes, ModeId count) -> Ids {
  Ids ids;
  for (ModeId m = 0; m < count; ++m) {
    if (modes.active(m)) ids.push_back(m);
  }
  return ids;
}

void check_change(const Modes::Change& change, const Ids& by_reset, const Ids& by_history,
                  const Ids& left, const Ids& first) {
  CHECK_EQ(change.entered_by_reset, by_reset);
  CHECK_EQ(change.entered_by_history, by_history);
  CHECK_EQ(change.left, left);
  CHECK_EQ(change.first, first);
}

}  // namespace

TEST(a_plan_without_modes_has_none) {
  const Plan plan;
  Modes modes(plan);

  CHECK(!modes.any());
  CHECK(modes.active(kNone));
  CHECK(modes.visited(kNone));
}

TEST(initial_modes_are_active_at_first) {
  const Plan plan = nested();
  const Modes modes(plan);

  CHECK(modes.any());
  CHECK_EQ(active(modes, 8), (Ids{0, 2}));
  CHECK(modes.visited(2));
  CHECK(!modes.visited(4));  // initial, but inside an inactive mode
}

TEST(nothing_changes_without_a_request) {
  const Plan plan = nested();
  Modes modes(plan);

  check_change(modes.commit(5), {}, {}, {}, {});
  CHECK_EQ(active(modes, 8), (Ids{0, 2}));
}

TEST(a_switch_takes_effect_at_the_commit) {
  const Plan plan = single();
  Modes modes(plan);
  modes.request(1, true);
  CHECK_EQ(active(modes, 3), (Ids{0}));

  check_change(modes.commit(5), {1}, {}, {0}, {1});
  CHECK_EQ(active(modes, 3), (Ids{1}));
  check_change(modes.commit(6), {}, {}, {}, {});
}

TEST(the_last_request_wins) {
  const Plan plan = single();
  Modes modes(plan);
  modes.request(1, true);
  modes.request(2, false);

  check_change(modes.commit(5), {}, {2}, {0}, {2});
  CHECK(!modes.visited(1));
}

TEST(a_mode_is_first_only_once) {
  const Plan plan = single();
  Modes modes(plan);
  modes.request(1, true);
  check_change(modes.commit(1), {1}, {}, {0}, {1});
  modes.request(0, true);
  check_change(modes.commit(2), {0}, {}, {1}, {});
  modes.request(1, true);
  check_change(modes.commit(3), {1}, {}, {0}, {});
}

TEST(a_mode_can_be_reset_to_itself) {
  const Plan plan = single();
  Modes modes(plan);
  modes.request(0, true);

  check_change(modes.commit(5), {0}, {}, {}, {});
}

TEST(history_of_the_active_mode_changes_nothing) {
  const Plan plan = single();
  Modes modes(plan);
  modes.request(0, false);

  check_change(modes.commit(5), {}, {}, {}, {});
}

TEST(a_reset_counts_once) {
  const Plan plan = nested();
  Modes modes(plan);
  modes.request(0, true);
  check_change(modes.commit(1), {0, 2}, {}, {}, {});
  modes.request(3, false);  // elsewhere
  check_change(modes.commit(2), {}, {3, 6}, {2}, {3, 6});
  modes.request(1, true);
  check_change(modes.commit(3), {1, 4}, {}, {0, 3, 6}, {1, 4});
  modes.request(0, false);

  check_change(modes.commit(4), {}, {0, 3, 6}, {1, 4}, {});
}

TEST(the_time_of_leaving_is_kept) {
  const Plan plan = single();
  Modes modes(plan);
  CHECK_EQ(modes.left_at(1, 77), 77);
  modes.request(1, false);
  static_cast<void>(modes.commit(5));
  modes.request(0, false);
  static_cast<void>(modes.commit(9));

  CHECK_EQ(modes.left_at(0, 77), 5);
  CHECK_EQ(modes.left_at(1, 77), 9);
}

TEST(leaving_an_outer_mode_leaves_all_inside) {
  const Plan plan = nested();
  Modes modes(plan);
  modes.request(3, false);
  check_change(modes.commit(1), {}, {3, 6}, {2}, {3, 6});
  modes.request(1, false);

  check_change(modes.commit(2), {}, {1, 4}, {0, 3, 6}, {1, 4});
  CHECK_EQ(active(modes, 8), (Ids{1, 4}));
  CHECK_EQ(modes.left_at(6, 0), 2);
}

TEST(history_of_an_outer_mode_finds_the_inner_ones_as_they_were) {
  const Plan plan = nested();
  Modes modes(plan);
  modes.request(3, false);
  static_cast<void>(modes.commit(1));
  modes.request(7, false);
  static_cast<void>(modes.commit(2));
  modes.request(1, true);
  static_cast<void>(modes.commit(3));
  modes.request(0, false);

  check_change(modes.commit(4), {}, {0, 3, 7}, {1, 4}, {});
}

TEST(a_reset_reaches_everything_inside) {
  const Plan plan = nested();
  Modes modes(plan);
  modes.request(3, false);
  static_cast<void>(modes.commit(1));
  modes.request(0, true);

  check_change(modes.commit(2), {0, 2}, {}, {3, 6}, {});
  CHECK_EQ(active(modes, 8), (Ids{0, 2}));
}

TEST(a_reset_of_an_outer_mode_overrides_a_request_inside) {
  const Plan plan = nested();
  Modes modes(plan);
  modes.request(3, false);
  modes.request(0, true);

  check_change(modes.commit(1), {0, 2}, {}, {}, {});
  modes.request(1, false);
  modes.request(3, true);
  static_cast<void>(modes.commit(2));
  modes.request(0, true);
  check_change(modes.commit(3), {0, 2}, {}, {1, 4}, {});
}

TEST(a_reset_cascades_through_two_levels) {
  const Plan plan = nested();
  Modes modes(plan);
  modes.request(3, false);
  static_cast<void>(modes.commit(1));
  modes.request(7, false);
  static_cast<void>(modes.commit(2));
  modes.request(3, true);

  check_change(modes.commit(3), {3, 6}, {}, {7}, {});
}

TEST(a_reset_inside_a_mode_that_is_left_waits_for_its_return) {
  const Plan plan = nested();
  Modes modes(plan);
  modes.request(3, true);   // inside 0
  modes.request(1, false);  // which is left at the same tag
  check_change(modes.commit(1), {}, {1, 4}, {0, 2}, {1, 4});
  CHECK(!modes.visited(3));
  modes.request(0, false);

  check_change(modes.commit(2), {3, 6}, {0}, {1, 4}, {3, 6});
}

TEST(a_history_inside_a_mode_that_is_left_waits_for_its_return) {
  const Plan plan = nested();
  Modes modes(plan);
  modes.request(3, false);
  modes.request(1, true);
  check_change(modes.commit(1), {1, 4}, {}, {0, 2}, {1, 4});
  modes.request(0, false);

  check_change(modes.commit(2), {}, {0, 3, 6}, {1, 4}, {3, 6});
}

TEST(random_switches_keep_one_mode_per_active_reactor) {
  const Plan plan = nested();
  check::Dice dice(12);
  Modes modes(plan);
  Ids visited{0, 2};
  for (int i = 0; i < 20'000; ++i) {
    const Ids before = active(modes, 8);
    for (const ModeId m : before) {  // reactions of an active mode ask
      if (!dice.chance(40)) continue;
      const ModeId sibling = dice.below(2) == 0 ? m : ModeId(m ^ 1U);
      modes.request(sibling, dice.chance(50));
    }
    const Modes::Change change = modes.commit(i);
    const Ids after = active(modes, 8);

    for (ModeId m = 0; m < 8; ++m) {
      const bool was = std::ranges::binary_search(before, m);
      const bool is = std::ranges::binary_search(after, m);
      const bool reset = std::ranges::binary_search(change.entered_by_reset, m);
      const bool history = std::ranges::binary_search(change.entered_by_history, m);
      CHECK_EQ(std::ranges::binary_search(change.left, m), was && !is);
      CHECK(!(reset && history));
      CHECK(!(reset || history) || is);
      CHECK(!(is && !was) || reset || history);
      CHECK(!(history && was));
      CHECK(!is || modes.active(plan.modes[m].scope));
      CHECK(!is || !modes.active(ModeId(m ^ 1U)));
      CHECK_EQ(modes.visited(m), modes.visited(m) || is);
      if (std::ranges::binary_search(change.first, m)) {
        CHECK(std::ranges::find(visited, m) == visited.end());
        visited.push_back(m);
      }
    }
    for (std::uint32_t modal = 0; modal < 4; ++modal) {
      const ModeId m(modal * 2);  // each reactor has two modes with neighbouring ids
      CHECK_EQ(modes.active(m) || modes.active(ModeId(m + 1)),
               modes.active(plan.modes[m].scope));
    }
  }
  CHECK_EQ(visited.size(), std::size_t{8});
}
