// SPDX-License-Identifier: Apache-2.0
#include "views.hpp"

#include <new>
#include <utility>

#include "access.hpp"
#include "freeze.hpp"
#include "session.hpp"

namespace reactorl::bind {
namespace {

// ---- Port -------------------------------------------------------------------------

struct PortView : ViewBase {
  SlotId slot;
  reactorl_type type;  // of the values; see `Plan::slot_types`
  bool copies;         // a mutable input: each reaction gets a copy of its own
  ReactionSet readers;
  ReactionSet writers;
  Epoch copied_in;        // the copy is for this tag ...
  ReactionId copied_for;  // ... and this reaction
  PyObject* copy;
  bool replaceable;       // a reader may set it, for later reads of its reactor alone
  Epoch replaced_in;      // the tag at which a reader set it last
  PyObject* replacement;  // null: never
};

auto as_port(PyObject* o) -> PortView& { return *reinterpret_cast<PortView*>(o); }

auto private_copy(PortView& port, const Worker& worker, PyObject* value) -> PyObject* {
  const Epoch now = worker.scheduler->epoch();
  if (port.copied_in != now || port.copied_for != worker.reaction) {
    PyObject* module = PyImport_ImportModule("copy");
    if (module == nullptr) return nullptr;
    PyObject* copy = PyObject_CallMethod(module, "deepcopy", "O", value);
    Py_DECREF(module);
    if (copy == nullptr) return nullptr;
    Py_XSETREF(port.copy, copy);
    port.copied_in = now;
    port.copied_for = worker.reaction;
  }
  return Py_NewRef(port.copy);
}

/// The value that a reader set instead of the one that arrived; null if no reader did,
/// or another one has arrived since. No lock: reactions of a reactor run in turns.
auto replacement(const PortView& port, const Worker& worker) -> PyObject* {
  if (port.replacement == nullptr) return nullptr;
  // At the tag of the call, values arrived before it: writers precede readers.
  const bool current = port.replaced_in >= worker.scheduler->set_in(port.slot);
  return current ? port.replacement : nullptr;
}

auto is_present(const PortView& port, const Worker& worker) -> bool {
  if (worker.scheduler->present(port.slot)) return true;
  return port.replacement != nullptr && port.replaced_in == worker.scheduler->epoch();
}

/// Shows a native value; each time as a new object.
auto typed_value(PortView& port, const Worker& worker) -> PyObject* {
  PyObject* value = host_of(worker).as_object(worker.scheduler->value(port.slot));
  if (value == nullptr || !port.copies) return value;
  PyObject* copy = private_copy(port, worker, value);
  Py_DECREF(value);
  return copy;
}

auto port_value(PyObject* self, void* /*unused*/) -> PyObject* {
  PortView& port = as_port(self);
  Worker* worker = permitted(port, port.readers);
  if (worker == nullptr) return refuse(port, "port", "reads");
  PyObject* value = replacement(port, *worker);
  if (port.type != Plan::kUntyped && value == nullptr) return typed_value(port, *worker);
  if (value == nullptr) {
    value = static_cast<PyObject*>(worker->scheduler->value(port.slot).get());
  }
  if (value == nullptr) Py_RETURN_NONE;
  if (port.copies) return private_copy(port, *worker, value);
  return Py_NewRef(value);
}

auto port_is_present(PyObject* self, void* /*unused*/) -> PyObject* {
  PortView& port = as_port(self);
  Worker* worker = permitted(port, port.readers);
  if (worker == nullptr) return refuse(port, "port", "reads");
  return PyBool_FromLong(is_present(port, *worker) ? 1 : 0);
}

auto port_set(PyObject* self, PyObject* value) -> PyObject* {
  PortView& port = as_port(self);
  Worker* worker = permitted(port, port.writers);
  const bool replaces = worker == nullptr && port.replaceable;
  if (replaces) worker = permitted(port, port.readers);
  if (worker == nullptr) return refuse(port, "port", "sets");
  if (port.type != Plan::kUntyped && !replaces) {
    Value native;
    if (!host_of(*worker).as_value(value, port.type, "port", port.element, native)) {
      return nullptr;
    }
    worker->scheduler->set(*worker, port.slot, std::move(native));
    Py_RETURN_NONE;
  }
  if (host_of(*worker).freeze_arrays && !freeze(value)) return nullptr;
  if (replaces) {
    Py_XSETREF(port.replacement, Py_NewRef(value));
    port.replaced_in = worker->scheduler->epoch();
    port.copied_in = 0;  // a copy that this reaction has is of the value before
    Py_RETURN_NONE;
  }
  worker->scheduler->set(*worker, port.slot, Value::share(value));
  Py_RETURN_NONE;
}

void port_dealloc(PyObject* self) {
  PortView& port = as_port(self);
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  Py_CLEAR(port.copy);
  Py_CLEAR(port.replacement);
  port.readers.~ReactionSet();
  port.writers.~ReactionSet();
  type->tp_free(self);
  Py_DECREF(type);
}

auto port_traverse(PyObject* self, visitproc visit, void* arg) -> int {
  Py_VISIT(as_port(self).copy);
  Py_VISIT(as_port(self).replacement);
  Py_VISIT(Py_TYPE(self));
  return 0;
}

auto port_clear(PyObject* self) -> int {
  Py_CLEAR(as_port(self).copy);
  Py_CLEAR(as_port(self).replacement);
  return 0;
}

PyGetSetDef port_getset[] = {
    {"value", port_value, nullptr,
     "The value set at the current tag; if absent, the last one (None if never set).",
     nullptr},
    {"is_present", port_is_present, nullptr, "Whether it was set at the current tag.",
     nullptr},
    {}};
PyMethodDef port_methods[] = {
    {"set", port_set, METH_O,
     "Make the port present with a value, at the current tag. The last set wins."},
    {}};
PyType_Slot port_slots[] = {
    {Py_tp_doc, const_cast<char*>("A port as the reactions of one reactor see it.")},
    {Py_tp_dealloc, reinterpret_cast<void*>(port_dealloc)},
    {Py_tp_traverse, reinterpret_cast<void*>(port_traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(port_clear)},
    {Py_tp_getset, port_getset},
    {Py_tp_methods, port_methods},
    {0, nullptr}};
PyType_Spec port_spec = {
    "reactorl._core.Port", sizeof(PortView), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    port_slots};

// ---- Action -----------------------------------------------------------------------

struct ActionView : ViewBase {
  SlotId slot;
  TriggerId trigger;
  bool physical;
  ReactionSet readers;
  ReactionSet writers;
  reactorl_type type;
  PyObject* session;  // owned; physical actions only: any thread may schedule
  // Likewise, with a type. The host's own may be gone when a thread schedules.
  PyObject* layout;    // owned or null
  PyObject* mismatch;  // owned or null
};

auto as_action(PyObject* o) -> ActionView& { return *reinterpret_cast<ActionView*>(o); }

auto action_value(PyObject* self, void* /*unused*/) -> PyObject* {
  ActionView& action = as_action(self);
  Worker* worker = permitted(action, action.readers);
  if (worker == nullptr) return refuse(action, "action", "reads");
  return host_of(*worker).as_object(worker->scheduler->value(action.slot));
}

auto action_is_present(PyObject* self, void* /*unused*/) -> PyObject* {
  ActionView& action = as_action(self);
  Worker* worker = permitted(action, action.readers);
  if (worker == nullptr) return refuse(action, "action", "reads");
  return PyBool_FromLong(worker->scheduler->present(action.slot) ? 1 : 0);
}

/// A duration in nanoseconds; false with an exception set if it is none.
auto to_duration(PyObject* object, Time& out) -> bool {
  if (PyLong_CheckExact(object)) {
    int overflow = 0;
    out = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow != 0) out = overflow > 0 ? kForever : -1;
    return out != -1 || PyErr_Occurred() == nullptr;
  }
  PyObject* module = PyImport_ImportModule("reactorl.tag");
  if (module == nullptr) return false;
  PyObject* number = PyObject_CallMethod(module, "nanoseconds", "O", object);
  Py_DECREF(module);
  if (number == nullptr) return false;
  out = PyLong_AsLongLong(number);
  Py_DECREF(number);
  return PyErr_Occurred() == nullptr;
}

auto action_schedule(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                     PyObject* names) -> PyObject* {
  ActionView& action = as_action(self);
  PyObject* delay = nullptr;
  PyObject* value = nullptr;
  if (nargs > 2) {
    PyErr_SetString(PyExc_TypeError, "schedule(delay=0, value=None) takes no more");
    return nullptr;
  }
  if (nargs > 0) delay = args[0];
  if (nargs > 1) value = args[1];
  const Py_ssize_t named = names == nullptr ? 0 : PyTuple_GET_SIZE(names);
  for (Py_ssize_t i = 0; i < named; ++i) {
    PyObject* name = PyTuple_GET_ITEM(names, i);
    PyObject** place = nullptr;
    if (PyUnicode_CompareWithASCIIString(name, "delay") == 0) place = &delay;
    if (PyUnicode_CompareWithASCIIString(name, "value") == 0) place = &value;
    if (place == nullptr || *place != nullptr) {
      PyErr_Format(PyExc_TypeError, "schedule() got %s argument '%U'",
                   place == nullptr ? "an unknown" : "twice the", name);
      return nullptr;
    }
    *place = args[nargs + i];
  }
  Time extra = 0;
  if (delay != nullptr && !to_duration(delay, extra)) return nullptr;
  if (extra < 0 &&
      PyErr_WarnEx(PyExc_RuntimeWarning, "a negative delay counts as none", 1) < 0) {
    return nullptr;
  }
  if (value == nullptr) value = Py_None;
  if (action.physical) {
    Value sent;
    if (action.type == Plan::kUntyped) {
      sent = Value::share(value);
    } else if (!to_native(value, action.type, action.layout, sent)) {
      raise_mismatch(action.mismatch, "action", action.element, value);
      return nullptr;
    }
    if (!schedule_physical(action.session, action.trigger, extra, std::move(sent))) {
      return nullptr;
    }
    Py_RETURN_NONE;
  }
  Worker* worker = permitted(action, action.writers);
  if (worker == nullptr) return refuse(action, "action", "schedules");
  const bool freezes = action.type == Plan::kUntyped && host_of(*worker).freeze_arrays;
  if (freezes && !freeze(value)) return nullptr;
  Value sent;
  if (!host_of(*worker).as_value(value, action.type, "action", action.element, sent)) {
    return nullptr;
  }
  worker->scheduler->schedule(*worker, action.trigger, extra, std::move(sent));
  Py_RETURN_NONE;
}

void action_dealloc(PyObject* self) {
  ActionView& action = as_action(self);
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  Py_CLEAR(action.session);
  Py_CLEAR(action.layout);
  Py_CLEAR(action.mismatch);
  action.readers.~ReactionSet();
  action.writers.~ReactionSet();
  type->tp_free(self);
  Py_DECREF(type);
}

auto action_traverse(PyObject* self, visitproc visit, void* arg) -> int {
  Py_VISIT(as_action(self).session);
  Py_VISIT(as_action(self).layout);
  Py_VISIT(as_action(self).mismatch);
  Py_VISIT(Py_TYPE(self));
  return 0;
}

auto action_clear(PyObject* self) -> int {
  Py_CLEAR(as_action(self).session);
  Py_CLEAR(as_action(self).layout);
  Py_CLEAR(as_action(self).mismatch);
  return 0;
}

PyGetSetDef action_getset[] = {
    {"value", action_value, nullptr,
     "The payload of the event at the current tag; if absent, the last one.", nullptr},
    {"is_present", action_is_present, nullptr,
     "Whether an event of this action is at the current tag.", nullptr},
    {}};
PyMethodDef action_methods[] = {
    {"schedule", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(action_schedule)),
     METH_FASTCALL | METH_KEYWORDS,
     "schedule(delay=0, value=None): make the action present `delay` plus its minimum "
     "delay later; zero means the next microstep. A physical action counts from the "
     "physical clock and may be scheduled from any thread."},
    {}};
PyType_Slot action_slots[] = {
    {Py_tp_doc, const_cast<char*>("An action as the reactions of its reactor see it.")},
    {Py_tp_dealloc, reinterpret_cast<void*>(action_dealloc)},
    {Py_tp_traverse, reinterpret_cast<void*>(action_traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(action_clear)},
    {Py_tp_getset, action_getset},
    {Py_tp_methods, action_methods},
    {0, nullptr}};
PyType_Spec action_spec = {
    "reactorl._core.Action", sizeof(ActionView), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    action_slots};

// ---- Mode -------------------------------------------------------------------------

struct ModeView : ViewBase {
  ReactionSet resetting;
  ReactionSet resuming;
};

auto as_mode(PyObject* o) -> ModeView& { return *reinterpret_cast<ModeView*>(o); }

auto mode_set(PyObject* self, PyObject* /*unused*/) -> PyObject* {
  ModeView& mode = as_mode(self);
  bool reset = true;
  Worker* worker = permitted(mode, mode.resetting);
  if (worker == nullptr) {
    reset = false;
    worker = permitted(mode, mode.resuming);
  }
  if (worker == nullptr) return refuse(mode, "mode", "switches to");
  worker->scheduler->switch_mode(*worker, ModeId(mode.element), reset);
  Py_RETURN_NONE;
}

void mode_dealloc(PyObject* self) {
  ModeView& mode = as_mode(self);
  PyTypeObject* type = Py_TYPE(self);
  mode.resetting.~ReactionSet();
  mode.resuming.~ReactionSet();
  type->tp_free(self);
  Py_DECREF(type);
}

PyMethodDef mode_methods[] = {
    {"set", mode_set, METH_NOARGS,
     "Switch to this mode when the current tag is done; the last call wins."},
    {}};
PyType_Slot mode_slots[] = {
    {Py_tp_doc, const_cast<char*>("A mode as the reactions of its reactor see it.")},
    {Py_tp_dealloc, reinterpret_cast<void*>(mode_dealloc)},
    {Py_tp_methods, mode_methods},
    {0, nullptr}};
PyType_Spec mode_spec = {"reactorl._core.ModeSwitch", sizeof(ModeView), 0,
                         Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                         mode_slots};

PyTypeObject* port_type = nullptr;
PyTypeObject* action_type = nullptr;
PyTypeObject* mode_type = nullptr;

void fill(ReactionSet& set, const std::vector<std::uint32_t>& indices) {
  new (&set) ReactionSet();
  for (const std::uint32_t index : indices) set.add(index);
}

template <class View>
auto make(PyTypeObject* type, const ViewIdentity& id) -> View* {
  auto* view = reinterpret_cast<View*>(type->tp_alloc(type, 0));
  if (view == nullptr) throw std::bad_alloc();
  view->serial = id.serial;
  view->holder = id.holder;
  view->element = id.element;
  return view;
}

}  // namespace

auto refuse(const ViewBase& view, const char* kind, const char* verb) -> PyObject* {
  const Worker* worker = current_worker();
  if (worker == nullptr || worker->serial != view.serial || worker->reaction == kNone) {
    PyErr_Format(PyExc_RuntimeError,
                 "%s %s can be used only inside a reaction of the run it "
                 "belongs to; keep what you need in the reactor's state",
                 *kind == 'a' ? "an" : "a", kind);
    return nullptr;
  }
  PyObject* error = PyObject_CallFunction(host_of(*worker).refuse, "sIIIs", kind,
                                          view.element, std::uint32_t{view.holder},
                                          std::uint32_t{worker->reaction}, verb);
  if (error != nullptr) {
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error)), error);
    Py_DECREF(error);
  }
  return nullptr;
}

auto new_port(const ViewIdentity& id, SlotId slot, reactorl_type type, bool copies,
              bool replaceable, const std::vector<std::uint32_t>& readers,
              const std::vector<std::uint32_t>& writers) -> PyObject* {
  auto* port = make<PortView>(port_type, id);
  port->slot = slot;
  port->type = type;
  port->copies = copies;
  port->copied_in = 0;
  port->copied_for = kNone;
  port->copy = nullptr;
  port->replaceable = replaceable;
  port->replaced_in = 0;
  port->replacement = nullptr;
  fill(port->readers, readers);
  fill(port->writers, writers);
  return reinterpret_cast<PyObject*>(port);
}

auto new_action(const ViewIdentity& id, SlotId slot, reactorl_type type,
                TriggerId trigger, PyObject* session, const PythonHost& host,
                const std::vector<std::uint32_t>& readers,
                const std::vector<std::uint32_t>& writers) -> PyObject* {
  auto* action = make<ActionView>(action_type, id);
  action->slot = slot;
  action->trigger = trigger;
  action->physical = session != nullptr;
  action->session = Py_XNewRef(session);
  const bool typed = session != nullptr && type != Plan::kUntyped;
  action->type = type;
  action->layout = typed ? Py_XNewRef(host.layout(type)) : nullptr;
  action->mismatch = typed ? Py_XNewRef(host.mismatch) : nullptr;
  fill(action->readers, readers);
  fill(action->writers, writers);
  return reinterpret_cast<PyObject*>(action);
}

auto new_mode(const ViewIdentity& id, const std::vector<std::uint32_t>& resetting,
              const std::vector<std::uint32_t>& resuming) -> PyObject* {
  auto* mode = make<ModeView>(mode_type, id);
  fill(mode->resetting, resetting);
  fill(mode->resuming, resuming);
  return reinterpret_cast<PyObject*>(mode);
}

auto port_values(PyObject* ports) -> PyObject* {
  if (!PyTuple_Check(ports)) {
    PyErr_SetString(PyExc_TypeError, "values() needs a multiport");
    return nullptr;
  }
  const Py_ssize_t width = PyTuple_GET_SIZE(ports);
  PyObject* list = PyList_New(0);
  for (Py_ssize_t i = 0; list != nullptr && i < width; ++i) {
    PyObject* port = PyTuple_GET_ITEM(ports, i);
    if (Py_TYPE(port) != port_type) {
      PyErr_SetString(PyExc_TypeError, "values() needs a multiport");
      Py_CLEAR(list);
      break;
    }
    PyObject* value = port_value(port, nullptr);  // checks that it may be read
    if (value != nullptr && is_present(as_port(port), *current_worker())) {
      if (PyList_Append(list, value) != 0) Py_CLEAR(list);
    }
    if (value == nullptr) Py_CLEAR(list);
    Py_XDECREF(value);
  }
  return list;
}

auto add_view_types(PyObject* module) -> bool {
  const auto add = [&](PyType_Spec& spec, PyTypeObject*& type) {
    type =
        reinterpret_cast<PyTypeObject*>(PyType_FromModuleAndSpec(module, &spec, nullptr));
    return type != nullptr && PyModule_AddType(module, type) == 0;
  };
  return add(port_spec, port_type) && add(action_spec, action_type) &&
         add(mode_spec, mode_type);
}

}  // namespace reactorl::bind
