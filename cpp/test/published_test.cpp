// SPDX-License-Identifier: Apache-2.0
#include "reactorl/published.hpp"

#include <atomic>
#include <thread>
#include <vector>

#include "check.hpp"

using namespace reactorl;

TEST(readers_never_see_parts_of_two_tags) {
  PublishedTag published;
  std::atomic<bool> done{false};
  std::atomic<int> torn{0};
  std::vector<std::thread> readers;
  for (int i = 0; i < 2; ++i) {
    readers.emplace_back([&] {
      Tag last{};
      while (!done.load()) {
        const Tag tag = published.get();
        const bool pair = static_cast<Time>(tag.microstep) == tag.time % 7;
        if (!pair || tag < last) ++torn;
        last = tag;
      }
    });
  }

  for (Time t = 0; t < check::scaled(2'000'000, 200'000); ++t) {
    published.set({t, static_cast<std::uint32_t>(t % 7)});
  }
  done.store(true);
  for (std::thread& reader : readers) reader.join();

  CHECK_EQ(torn.load(), 0);
}
