// SPDX-License-Identifier: Apache-2.0
// Threads that meet at a turn, in every interleaving of their atomic operations.
#include <atomic>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "check.hpp"
#include "stepped_atomic.hpp"

namespace std {
template <class T>
using stepped_atomic = ::stepped::Atomic<T>;
}  // namespace std

#define atomic stepped_atomic
#define reactorl reactorl_stepped
#include "reactorl/turn.hpp"

using namespace reactorl;

TEST(what_is_asked_for_is_done_after_it_was_asked_and_by_one_at_a_time) {
  if (check::kSanitized) return;
  struct State {
    Turn turn;
    std::atomic<int> asked{0};
    std::atomic<int> done{0};
    int inside = 0;
  };
  std::unique_ptr<State> state;
  stepped::Interleavings interleavings(3);
  const std::size_t count = interleavings.explore(
      [&]() -> std::vector<std::function<void()>> {
        state = std::make_unique<State>();
        const auto ask = [&] {
          state->asked.fetch_add(1);
          state->turn.take([&] {
            CHECK_EQ(state->inside, 0);
            ++state->inside;
            state->done.store(state->asked.load());
            --state->inside;
          });
        };
        return {ask, ask, ask};
      },
      // Nobody left before somebody saw that it had asked.
      [&] { CHECK_EQ(state->done.load(), 3); });
  CHECK(count > 100);
}
