// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

#include "reactorl/ids.hpp"
#include "reactorl/plan.hpp"

namespace reactorl {

/// Answers whether one reaction must run before another. The descendants of a reaction
/// are found when they are first asked for, then kept: only reactions that others wait
/// for are ever asked about, and a matrix for all would not fit for large programs.
///
/// Thread safety: any worker may ask.
class Reach {
 public:
  /// `budget` bounds the bytes kept; beyond it the answer is always yes, which costs
  /// parallelism but is never wrong.
  explicit Reach(const Plan& plan, std::size_t budget = std::size_t{64} << 20U);
  Reach(const Reach&) = delete;
  auto operator=(const Reach&) -> Reach& = delete;
  ~Reach();

  [[nodiscard]] auto before(ReactionId first, ReactionId later) const -> bool;

 private:
  using Words = std::uint64_t;
  auto descendants(ReactionId reaction) const -> const Words*;

  const Plan& plan_;
  std::size_t words_;  // per reaction
  mutable std::atomic<std::ptrdiff_t> budget_;
  mutable std::unique_ptr<std::atomic<Words*>[]> known_;
};

}  // namespace reactorl
