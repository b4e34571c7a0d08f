// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>
#include <cstdint>
#include <vector>

#include "python_host.hpp"
#include "reactorl/ids.hpp"

namespace reactorl::bind {

/// Whose a view is, and what it shows.
struct ViewIdentity {
  std::uint64_t serial;   // of the scheduler
  ReactorId holder;       // the reactor whose reactions may use it
  std::uint32_t element;  // channel, action or mode id of the program, for messages
};

/// Adds the types that bodies hold: Port, Action, ModeSwitch. They are written against
/// the plain C API, because a body touches one every hundred nanoseconds.
auto add_view_types(PyObject* module) -> bool;

/// New references. The index lists say which reactions of the holder may do what; the
/// check is one comparison and one bit. `copies`: each reaction gets a copy of the value.
/// `replaceable`: readers may set the port, which changes what the holder's reactions
/// read until the next value arrives, and nothing else.
auto new_port(const ViewIdentity& id, SlotId slot, reactorl_type type, bool copies,
              bool replaceable, const std::vector<std::uint32_t>& readers,
              const std::vector<std::uint32_t>& writers) -> PyObject*;
/// `session` is null for a logical action.
auto new_action(const ViewIdentity& id, SlotId slot, reactorl_type type,
                TriggerId trigger, PyObject* session, const PythonHost& host,
                const std::vector<std::uint32_t>& readers,
                const std::vector<std::uint32_t>& writers) -> PyObject*;
auto new_mode(const ViewIdentity& id, const std::vector<std::uint32_t>& resetting,
              const std::vector<std::uint32_t>& resuming) -> PyObject*;
/// The values of those of a tuple of ports that are present, as a list.
auto port_values(PyObject* ports) -> PyObject*;

}  // namespace reactorl::bind
