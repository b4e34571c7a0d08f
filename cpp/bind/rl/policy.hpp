// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

namespace reactorl::bind {

/// Adds policies, and rollouts with them, to the module.
void bind_policies(nanobind::module_& m);

}  // namespace reactorl::bind
