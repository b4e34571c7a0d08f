// SPDX-License-Identifier: Apache-2.0
#include "reactorl/port_store.hpp"

#include "check.hpp"
#include "counted.hpp"

using namespace reactorl;

TEST(a_slot_is_absent_and_empty_at_first) {
  const PortStore ports(3);

  for (SlotId slot = 0; slot < 3; ++slot) {
    CHECK(!ports.present(slot, 1));
    CHECK_EQ(ports.set_in(slot), Epoch{0});
    CHECK(ports.value(slot).get() == nullptr);
  }
}

TEST(a_slot_is_present_at_the_tag_it_was_set_at) {
  PortStore ports(2);

  CHECK(ports.set(1, Counted::make(4), 7));
  CHECK(ports.present(1, 7));
  CHECK(!ports.present(0, 7));
  CHECK(!ports.present(1, 8));
  CHECK_EQ(ports.set_in(1), Epoch{7});
}

TEST(the_last_set_of_a_tag_wins_and_only_the_first_is_news) {
  PortStore ports(1);

  CHECK(ports.set(0, Counted::make(1), 3));
  CHECK(!ports.set(0, Counted::make(2), 3));
  CHECK_EQ(Counted::number(ports.value(0)), 2);
  CHECK(ports.set(0, Counted::make(3), 4));
}

TEST(an_absent_slot_keeps_its_value) {
  PortStore ports(1);
  ports.set(0, Counted::make(9), 1);

  CHECK(!ports.present(0, 2));
  CHECK_EQ(Counted::number(ports.value(0)), 9);
}

TEST(setting_no_value_makes_present) {
  PortStore ports(1);
  ports.set(0, Counted::make(9), 1);

  CHECK(ports.set(0, Value(), 2));
  CHECK(ports.present(0, 2));
  CHECK(ports.value(0).get() == nullptr);
}

TEST(overwritten_values_are_released) {
  {
    PortStore ports(2);
    for (int i = 1; i <= 100; ++i) {
      ports.set(0, Counted::make(i), static_cast<Epoch>(i));
      ports.set(1, ports.value(0).copy(), static_cast<Epoch>(i));
    }
    CHECK_EQ(Counted::live.load(), 1);
  }

  CHECK_EQ(Counted::live.load(), 0);
}
