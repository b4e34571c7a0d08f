// SPDX-License-Identifier: Apache-2.0
#include "reactorl/reach.hpp"

#include <vector>

namespace reactorl {

Reach::Reach(const Plan& plan, std::size_t budget)
    : plan_(plan),
      words_((plan.reactions.size() + 63) / 64),
      budget_(static_cast<std::ptrdiff_t>(budget)),
      known_(std::make_unique<std::atomic<Words*>[]>(plan.reactions.size())) {}

Reach::~Reach() {
  for (std::size_t i = 0; i < plan_.reactions.size(); ++i) delete[] known_[i].load();
}

auto Reach::before(ReactionId first, ReactionId later) const -> bool {
  if (plan_.reactions[first].level >= plan_.reactions[later].level) return false;
  const Words* set = descendants(first);
  return set == nullptr || ((set[later / 64] >> (later % 64)) & 1U) != 0;
}

auto Reach::descendants(ReactionId reaction) const -> const Words* {
  if (const Words* set = known_[reaction].load(std::memory_order_acquire)) return set;
  const auto bytes = static_cast<std::ptrdiff_t>(words_ * sizeof(Words));
  if (budget_.fetch_sub(bytes) < bytes) {
    budget_.fetch_add(bytes);
    return nullptr;
  }
  auto* set = new Words[words_]();
  std::vector<ReactionId> open{reaction};
  while (!open.empty()) {
    const ReactionId r = open.back();
    open.pop_back();
    for (const ReactionId next : plan_.downstream[r]) {
      Words& word = set[next / 64];
      const Words bit = Words{1} << (next % 64);
      if ((word & bit) == 0) {
        word |= bit;
        open.push_back(next);
      }
    }
  }
  Words* expected = nullptr;
  if (!known_[reaction].compare_exchange_strong(expected, set)) {
    delete[] set;  // another worker was faster
    budget_.fetch_add(bytes);
    return expected;
  }
  return set;
}

}  // namespace reactorl
