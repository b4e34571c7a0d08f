// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include "reactorl.h"
#include "reactorl/value.hpp"

namespace reactorl::bind {

/// How Python shows the values of a layout that are not single numbers: a tuple of a
/// function from bytes to an object, one from an object to bytes, and the class of the
/// objects. Null for single numbers.
using Layout = PyObject*;

/// A new reference to an object with the content of `native`; null with an exception set
/// if there is no memory, or the layout's function fails.
auto to_python(const NativeValue& native, Layout layout) -> PyObject*;

/// Stores `object` as a native value of `type`. False, possibly with an exception set, if
/// the object is not of exactly this type, or out of its range.
auto to_native(PyObject* object, reactorl_type type, Layout layout, Value& out) -> bool;

}  // namespace reactorl::bind
