# SPDX-License-Identifier: Apache-2.0
"""Mutants of the bindings: extension modules are built with them for Python's tests."""

from __future__ import annotations

from typing import Final

from mutants.mutant import Mutant

_BIND: Final = "cpp/bind/"
_FAILURES: Final = "tests/runtime/test_failures.py"
_VALUES: Final = "tests/runtime/test_values.py"
_DRIVE: Final = "tests/runtime/test_drive.py"
_WRITER: Final = "tests/rl/envs/test_result_writer.py"
_STEPPER: Final = "tests/rl/envs/test_stepper.py"
_PRINTS: Final = (
    "tests/conformance/test_conformance.py::test_program_prints_the_expected_output"
)

BINDINGS: Final = (
    Mutant(
        "bind-port-of-another-reactor-can-be-used",
        _BIND + "access.hpp",
        "if (running.reactor != view.holder || !set.has(running.index))",
        "if (!set.has(running.index))",
        (_FAILURES,),
        "Reactors share state through ports that they hand to each other.",
    ),
    Mutant(
        "bind-port-of-an-earlier-run-can-be-used",
        _BIND + "access.hpp",
        "if (worker == nullptr || worker->serial != view.serial) return nullptr;",
        "if (worker == nullptr) return nullptr;",
        (_FAILURES,),
        "A port that was kept writes into another run.",
    ),
    Mutant(
        "bind-reactions-beyond-64-may-use-everything",
        _BIND + "access.hpp",
        "return rest_ && index < rest_->size() && (*rest_)[index];",
        "return rest_ != nullptr;",
        (_FAILURES,),
        "Undeclared accesses of large reactors make runs nondeterministic.",
    ),
    Mutant(
        "bind-reactions-share-a-copy-of-a-mutable-input",
        _BIND + "views.cpp",
        "if (port.copied_in != now || port.copied_for != worker.reaction) {",
        "if (port.copied_in != now) {",
        (_VALUES,),
        "A reaction sees what another one did to its copy.",
    ),
    Mutant(
        "bind-copy-of-a-replaced-value-is-old",
        _BIND + "views.cpp",
        "    port.copied_in = 0;  // a copy that this reaction has is of the "
        "value before\n",
        "",
        (f"{_PRINTS}[ports/mutable_input_set_after_it_was_read]",),
        "A reaction that sets a mutable input reads the old value.",
    ),
    Mutant(
        "bind-replaced-value-is-lost-at-once",
        _BIND + "views.cpp",
        "port.replaced_in >= worker.scheduler->set_in(port.slot)",
        "port.replaced_in > worker.scheduler->set_in(port.slot)",
        (f"{_PRINTS}[ports/an_input_can_be_set_by_its_readers]",),
        "A reaction that sets an input reads the value that arrived.",
    ),
    Mutant(
        "bind-scheduled-arrays-stay-writable",
        _BIND + "views.cpp",
        "if (freezes && !freeze(value)) return nullptr;",
        "if (freezes && value == nullptr) return nullptr;",
        (_VALUES,),
        "A payload changes after it was scheduled.",
    ),
    Mutant(
        "bind-dataclasses-are-not-frozen",
        _BIND + "freeze.hpp",
        "const bool ok = detail::freeze_fields(value, fields, depth - 1);",
        "const bool ok = depth > 0;",
        (_VALUES,),
        "An array in a dataclass changes after it was sent.",
    ),
    Mutant(
        "bind-dicts-are-not-frozen",
        _BIND + "freeze.hpp",
        "return detail::freeze_and_drop(PyDict_Values(value), depth);",
        "return depth > 0;",
        (_VALUES,),
        "An array in a dict changes after it was sent.",
    ),
    Mutant(
        "bind-least-id-fails-first",
        _BIND + "python_host.cpp",
        "const std::pair key(scheduler->level(reaction), reaction);",
        "const std::pair key(LevelId{0}, reaction);",
        (_FAILURES,),
        "One and two workers report different failures.",
    ),
    Mutant(
        "bind-interrupt-in-a-body-does-not-end-the-run",
        _BIND + "python_host.cpp",
        "    scheduler->break_off();\n",
        "",
        (_FAILURES,),
        "Ctrl-C in a body is lost.",
    ),
    Mutant(
        "bind-outputs-of-the-last-step-come-again",
        _BIND + "session.cpp",
        "if (core.set_in(outputs[i]) <= before) continue;",
        "if (core.set_in(outputs[i]) < before) continue;",
        (_DRIVE,),
        "A step returns an output that was absent.",
    ),
    Mutant(
        "bind-tag-of-a-step-is-absolute",
        _BIND + "session.cpp",
        "  stepped.tag.time -= core.clock().start_time();\n",
        "",
        (_DRIVE,),
        "The tag of a step counts from 1970.",
    ),
    Mutant(
        "bind-endless-delays-end",
        _BIND + "views.cpp",
        "if (overflow != 0) out = overflow > 0 ? kForever : -1;",
        "if (overflow != 0) out = overflow > 0 ? kForever - 1 : -1;",
        ("tests/runtime/test_horizon.py",),
        "An event that should never come comes in the year 2262.",
    ),
    Mutant(
        "bind-values-of-absent-channels-are-listed",
        _BIND + "views.cpp",
        "if (value != nullptr && is_present(as_port(port), *current_worker())) {",
        "if (value != nullptr) {",
        ("tests/program/test_rules.py",),
        "values() of a multiport has old values.",
    ),
    Mutant(
        "bind-history-entry-is-a-reset",
        _BIND + "views.cpp",
        "    reset = false;\n",
        "",
        (f"{_PRINTS}[modes/history_resumes]",),
        "A mode that is entered by history starts anew.",
    ),
    Mutant(
        "bind-ends-are-not-left-to-python",
        _BIND + "rl/result_writer.hpp",
        "    if (ended && !ends_) return kLeft;\n",
        "",
        (_WRITER,),
        "Infos and observations of the end of an episode are lost.",
    ),
    Mutant(
        "bind-truncation-is-written-as-termination",
        _BIND + "rl/result_writer.hpp",
        "*truncated_ = static_cast<npy_bool>(truncated == Py_True);",
        "*truncated_ = static_cast<npy_bool>(terminated == Py_True);",
        (_WRITER,),
        "Values are not bootstrapped through truncation.",
    ),
    Mutant(
        "bind-order-of-an-array-in-memory-is-ignored",
        _BIND + "rl/result_writer.hpp",
        "           (PyArray_FLAGS(other) & NPY_ARRAY_C_CONTIGUOUS) != 0 &&\n",
        "",
        (_WRITER,),
        "Observations in another order of memory are garbled.",
    ),
    Mutant(
        "bind-large-numbers-are-cut",
        _BIND + "rl/result_writer.hpp",
        "    return overflow == 0;",
        "    return overflow <= 1;",
        (_WRITER,),
        "A discrete observation beyond 64 bits becomes another one.",
    ),
    Mutant(
        "bind-steps-of-a-reset-are-counted",
        _BIND + "rl/stepper.hpp",
        """\
    if (ended) return resets_ ? reset() : Unfinished{};
    if (!plain_) return Unfinished{};
    ++steps;
""",
        """\
    ++steps;
    if (ended) return resets_ ? reset() : Unfinished{};
    if (!plain_) return Unfinished{};
""",
        (_STEPPER,),
        "Errors name the wrong step of an environment.",
    ),
    Mutant(
        "bind-step-after-a-reset-is-a-reset",
        _BIND + "rl/stepper.hpp",
        "    landing_->clear();\n    ended = false;\n",
        "    landing_->clear();\n",
        (_STEPPER,),
        "An environment is reset at every step.",
    ),
)
