// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include "reactorl/ids.hpp"
#include "reactorl/tag.hpp"

namespace reactorl::bind {

/// Schedules a physical action of a `Session`, from any thread. After the run it does
/// nothing. False with an exception set if `session` is no session.
auto schedule_physical(PyObject* session, TriggerId trigger, Time extra, PyObject* value)
    -> bool;

}  // namespace reactorl::bind
