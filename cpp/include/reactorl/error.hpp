// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace reactorl {

/// A plan whose tables do not fit together. The planner made a mistake, not the user;
/// `row` says where to look in `table`.
class PlanError : public std::logic_error {
 public:
  PlanError(const std::string& table, std::uint64_t row, const std::string& what)
      : std::logic_error(table + "[" + std::to_string(row) + "]: " + what) {}
};

}  // namespace reactorl
