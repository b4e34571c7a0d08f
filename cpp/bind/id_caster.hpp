// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

#include "reactorl/ids.hpp"

namespace nanobind::detail {

/// Ids are ints in Python; a missing one is -1.
template <class Kind>
struct type_caster<reactorl::Id<Kind>> {
  NB_TYPE_CASTER(reactorl::Id<Kind>, const_name("int"))

  auto from_python(handle source, std::uint8_t flags, cleanup_list* cleanup) noexcept
      -> bool {
    make_caster<std::int64_t> number;
    if (!number.from_python(source, flags, cleanup)) return false;
    if (number.value < -1 || number.value > UINT32_MAX) return false;
    value = number.value < 0
                ? reactorl::Id<Kind>(reactorl::kNone)
                : reactorl::Id<Kind>(static_cast<std::uint32_t>(number.value));
    return true;
  }
  static auto from_cpp(reactorl::Id<Kind> id, rv_policy policy,
                       cleanup_list* cleanup) noexcept -> handle {
    const std::int64_t number =
        id == reactorl::kNone ? -1 : static_cast<std::int64_t>(std::uint32_t{id});
    return make_caster<std::int64_t>::from_cpp(number, policy, cleanup);
  }
};

}  // namespace nanobind::detail
