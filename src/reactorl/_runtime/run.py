# SPDX-License-Identifier: Apache-2.0
"""Run a program from its first tag to its last, in this process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reactorl._runtime.live import Live
from reactorl._util.gc_pause import gc_paused

if TYPE_CHECKING:
    from collections.abc import Callable

    from reactorl._program.program import Program
    from reactorl._runtime.options import Options
    from reactorl._runtime.recording import Recording
    from reactorl._runtime.result import Result
    from reactorl._runtime.watch import Watch


def run_program(
    program: Program,
    options: Options,
    *,
    record: Recording | None = None,
    replay: Recording | None = None,
    at_start: Callable[[Watch], object] | None = None,
    at_end: Callable[[Result], object] | None = None,
) -> Result:
    """Run a program until it ends; see ``reactorl.run``.

    Args:
        program: The program, whose main reactor has no ports.
        options: Options of the run.
        record: Where physical inputs go to.
        replay: Where physical inputs come from.
        at_start: Called before the first tag.
        at_end: Called when the run has ended, also if it ended by an exception.
    """
    with gc_paused():
        live = Live(program, options, record=record, replay=replay, at_start=at_start)
    ended: Result | None = None
    cause: BaseException | None = None
    try:
        if live.start() == "running":
            live.after(live.session.run())
        live.finished()
        ended = result = live.result()
    except BaseException as error:
        cause = error
        raise
    finally:
        try:
            if at_end is not None and ended is None:
                ended = live.result()
            live.close(cause)
        finally:
            cause = None  # its traceback refers to this frame
            if at_end is not None and ended is not None:
                at_end(ended)
    return result
