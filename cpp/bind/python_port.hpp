// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>
#include <vector>

#include "python_host.hpp"
#include "reactorl/gate.hpp"

namespace reactorl::bind {

/// Hands a federate's messages to Python: `say(list of tuples)` and `wait(tuple)`. What
/// these raise ends the run.
class PythonPort final : public GatePort {
 public:
  /// Borrows `host`; shares the functions.
  PythonPort(PythonHost& host, PyObject* say, PyObject* wait)
      : host_(host), say_(Py_NewRef(say)), wait_(Py_NewRef(wait)) {}
  ~PythonPort() override { clear(); }

  void say(std::vector<Message>& messages) noexcept override;
  void wait(const Report& report) noexcept override;
  /// Gives up all references to Python objects.
  void clear();

 private:
  /// Calls `function(argument)`, and takes over both the argument and a failure to make
  /// it.
  void call(PyObject* function, PyObject* argument) noexcept;

  PythonHost& host_;
  PyObject* say_;   // owned
  PyObject* wait_;  // owned
};

}  // namespace reactorl::bind
