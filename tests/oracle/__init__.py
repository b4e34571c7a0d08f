# SPDX-License-Identifier: Apache-2.0
"""The oracle: a simple interpreter of programs, to which the runtime is compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reactorl._program.elaborate import elaborate
from reactorl._program.program import Program
from tests.oracle.interpreter import Options, Run

if TYPE_CHECKING:
    from reactorl import Reactor
    from reactorl.trace import Trace

__all__ = ["Options", "interpret"]


def interpret(program: Program | type[Reactor], **options: object) -> Trace:
    """Return the trace of a run in virtual time.

    Args:
        program: A program, or the class of a main reactor.
        options: See ``Options``.
    """
    if not isinstance(program, Program):
        program = elaborate(program)
    return Run(program, Options(**options)).interpret()  # type: ignore[arg-type]
