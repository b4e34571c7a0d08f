// SPDX-License-Identifier: Apache-2.0
#include "reactorl/value.hpp"

#include <utility>
#include <vector>

#include "check.hpp"
#include "counted.hpp"

using namespace reactorl;

TEST(an_empty_value_holds_nothing) {
  const Value value;

  CHECK(value.get() == nullptr);
  CHECK(value.copy().get() == nullptr);
}

TEST(copies_share_one_object) {
  Value first = Counted::make(7);
  {
    const Value second = first.copy();
    CHECK(second.get() == first.get());
    CHECK_EQ(Counted::refs(first), 2);
  }

  CHECK_EQ(Counted::refs(first), 1);
}

TEST(moving_hands_the_reference_over) {
  Value first = Counted::make(7);
  const Value second = std::move(first);

  CHECK_EQ(Counted::number(second), 7);
  CHECK_EQ(Counted::refs(second), 1);
}

TEST(assigning_releases_the_old_object_with_the_source) {
  Value first = Counted::make(1);
  {
    Value second = Counted::make(2);
    first = std::move(second);
    CHECK_EQ(Counted::number(first), 2);
  }

  CHECK_EQ(Counted::live.load(), 1);
}

TEST(a_released_reference_is_the_callers) {
  Value value = Counted::make(5);
  void* const object = value.release();
  CHECK(value.get() == nullptr);

  const Value again = Value::adopt(object);
  CHECK_EQ(Counted::number(again), 5);
  CHECK_EQ(Counted::refs(again), 1);
}

TEST(sharing_adds_a_reference) {
  const Value value = Counted::make(5);
  const Value shared = Value::share(value.get());

  CHECK_EQ(Counted::refs(value), 2);
  CHECK(Value::share(nullptr).get() == nullptr);
}

TEST(nothing_is_left_over) {
  {
    std::vector<Value> values;
    for (int i = 0; i < 100; ++i) values.push_back(Counted::make(i));
    values.erase(values.begin() + 10, values.begin() + 20);
    CHECK_EQ(Counted::live.load(), 90);
    CHECK_EQ(Counted::number(values[10]), 20);
  }

  CHECK_EQ(Counted::live.load(), 0);
}
