// SPDX-License-Identifier: Apache-2.0
#include "reactorl/links.hpp"

#include "check.hpp"

using namespace reactorl;

namespace {

/// One peer with slots that cross, one with events that come at least 5 later.
auto two_peers(bool flat = false) -> GatePlan {
  GatePlan plan;
  plan.flat = flat;
  plan.peers.resize(2);
  plan.peers[0].in = {{0, 0}, {1, 0}, {2, 1}};
  plan.peers[1].in_delay = 5;
  return plan;
}

}  // namespace

TEST(a_slot_may_settle_within_a_tag_but_what_is_late_must_be_there) {
  const GatePlan plan = two_peers();
  Links links(plan);
  links.start({0, 0});

  CHECK(links.may_begin({0, 0}));
  CHECK(!links.may_begin({0, 1}));
  links.reach(0, {{5, 0}, 0});
  CHECK(links.may_begin({4, 0}));
  CHECK(!links.may_begin({5, 0}));  // an event of the other peer may still come at 5
  links.reach(1, {{0, 1}, 0});
  CHECK(!links.may_begin({5, 0}));
  links.reach(1, {{1, 0}, 0});
  CHECK(links.may_begin({5, 0}));
  CHECK(!links.may_begin({5, 1}));  // the first peer is at 5 only
}

TEST(a_delay_of_zero_is_a_microstep) {
  GatePlan plan = two_peers();
  plan.peers[1].in_delay = 0;
  Links links(plan);
  links.start({0, 0});
  links.reach(0, {kLastTag, 0});

  links.reach(1, {{3, 4}, 0});
  CHECK(links.may_begin({3, 4}));
  CHECK(!links.may_begin({3, 5}));
}

TEST(statements_that_are_older_change_nothing) {
  const GatePlan plan = two_peers();
  Links links(plan);
  links.start({0, 0});
  links.reach(0, {{7, 0}, 2});
  links.reach(0, {{7, 0}, 1});
  links.reach(0, {{6, 0}, 9});
  links.floor({3, 0}, {9, 0});
  links.floor({2, 0}, {8, 0});

  CHECK(links.may_begin({7, 0}));
  CHECK(!links.may_begin({7, 1}));
}

TEST(slots_of_a_link_settle_in_its_order) {
  const GatePlan plan = two_peers();
  Links links(plan);
  links.start({0, 0});
  links.reach(0, {{7, 0}, 2});

  CHECK(links.settled(0, {{6, 3}, 2}, false));
  CHECK(links.settled(0, {{7, 0}, 1}, false));
  CHECK(!links.settled(0, {{7, 0}, 2}, false));
  links.floor({7, 0}, {7, 0});
  CHECK(!links.settled(0, {{7, 0}, 2}, false));
  links.floor({7, 1}, {7, 0});
  CHECK(links.settled(0, {{7, 0}, 2}, false));
}

TEST(at_the_final_tag_only_what_is_said_within_it_counts) {
  const GatePlan plan = two_peers();
  Links links(plan);
  links.start({0, 0});
  links.reach(0, {kLastTag, 0});
  links.floor(kLastTag, kLastTag);

  CHECK(!links.settled(0, {{7, 1}, 0}, true));
  links.reach_final(0, 1);
  CHECK(links.settled(0, {{7, 1}, 0}, true));
  CHECK(!links.settled(0, {{7, 1}, 1}, true));
}

TEST(a_tag_that_is_done_promises_the_next_one) {
  const GatePlan stepwise = two_peers();
  const GatePlan flat = two_peers(true);
  for (const GatePlan* plan : {&stepwise, &flat}) {
    Links links(*plan);
    links.start({0, 0});
    const Tag next = plan->flat ? Tag{1, 0} : Tag{0, 1};
    CHECK(links.low({9, 0}, {0, 0}) == next);
    links.reach(0, {{4, 0}, 0});
    CHECK(links.low({9, 0}, {0, 0}) == Tag({4, 0}));
    links.reach(0, {{30, 0}, 0});
    CHECK(links.low({9, 0}, {0, 0}) == Tag({5, 0}));
    links.reach(1, {{30, 0}, 0});
    CHECK(links.low({9, 0}, {0, 0}) == Tag({9, 0}));
    CHECK(links.low(kLastTag, {0, 0}) == Tag({30, 0}));
    CHECK(links.low(kLastTag, kLastTag) == kLastTag);
  }
}

TEST(no_tag_begins_beyond_the_horizon) {
  const GatePlan plan;
  Links links(plan);
  links.start({0, 0});
  CHECK(links.may_begin({1000, 0}));

  links.limit({5, 1});
  CHECK(links.may_begin({5, 1}));
  CHECK(!links.may_begin({5, 2}));
  links.limit({4, 0});
  CHECK(!links.may_begin({5, 1}));
}

TEST(a_peer_that_only_answers_acts_at_its_own_events_once_it_is_done) {
  GatePlan plan = two_peers();
  plan.peers[0].answers = true;
  plan.peers.pop_back();
  Links links(plan);
  links.start({0, 0});
  links.expect(0, {9, 0});
  links.send(0, {3, 0});

  links.reach(0, {{3, 0}, 2});  // not done with what was sent
  CHECK(!links.may_begin({4, 0}));
  CHECK(!links.beyond(0, {3, 0}));
  links.reach(0, {{3, 1}, 0});
  CHECK(links.beyond(0, {3, 0}));
  CHECK(links.may_begin({9, 0}));
  CHECK(!links.may_begin({10, 0}));
  CHECK(links.delays(0, {10, 0}));
  CHECK(links.low({20, 0}, {3, 0}) == Tag({9, 0}));
  links.send(0, {9, 0});
  CHECK(!links.may_begin({9, 1}));
}

TEST(another_peer_may_act_as_soon_as_it_has_not_promised) {
  const GatePlan plan = two_peers();
  Links links(plan);
  links.start({0, 0});
  links.expect(0, {9, 0});
  links.reach(0, {{3, 1}, 0});
  links.reach(1, {kLastTag, 0});

  CHECK(links.may_begin({3, 1}));
  CHECK(!links.may_begin({4, 0}));
}
