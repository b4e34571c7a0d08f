# SPDX-License-Identifier: Apache-2.0
"""Drive a program from outside, in this process or in several."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from reactorl._program.cut import cut_program
from reactorl._program.elaborate import elaborate
from reactorl._program.placement import Federation, parts_of
from reactorl._runtime.drive import Session
from reactorl._runtime.live import Live
from reactorl._runtime.options import TraceDetail, make_options
from reactorl._util.gc_pause import gc_paused

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reactorl._decl.reactor import Reactor
    from reactorl._program.program import Program
    from reactorl._runtime.options import Options
    from reactorl._runtime.result import Result
    from reactorl._runtime.watch import Watch
    from reactorl.tag import Duration


def drive(
    main: type[Reactor] | Reactor | Program,
    *,
    workers: int | None = None,
    fast: bool = True,
    seed: int = 0,
    trace: TraceDetail = False,
    check: bool = False,
    start_time: int | None = None,
    freeze: bool | None = None,
    timeout: Duration | None = None,
    stay_home: bool = False,
    shuffle: int = 0,
    timing: bool | int = False,
    federation: Federation | int | None = None,
    restarts: int = 0,
    preload: Sequence[tuple[str, object, Duration]] = (),
    state: Callable[[Any], object] | None = None,
    at_start: Callable[[Watch], object] | None = None,
    at_end: Callable[[Result], object] | None = None,
) -> Session:
    """Return a context manager that runs ``main`` tag by tag, steered by the caller.

    Unlike in ``run``, the main reactor may have ports: ``step`` sets its inputs at the
    next tag and returns its outputs. The caller's thread is worker 0; other workers are
    called in only when the work is worth it. A driven program does not end when no
    event is left, but when the ``with`` statement does.

    Example:
        >>> with drive(Echo) as echo:
        ...     print(echo.step(x=3).y)

    Args:
        main: A reactor class, a configured reactor, or a Program.
        workers: As for ``run``, like all that follow down to ``timing``.
        fast: Do not wait until the wall clock reaches a tag.
        seed: The seed of all random streams.
        trace: Record reactions, ports set and events.
        check: Find causes of nondeterminism.
        start_time: Time of the first tag.
        freeze: Make NumPy arrays read-only when they are sent.
        timeout: Logical duration after which the run ends.
        stay_home: Run the reactions of a reactor on its home worker.
        shuffle: Another order of ready reactions for each value.
        timing: Measure how long each invocation of a reaction takes.
        federation: Run parts of the program in other processes of this machine, or, by
            ``RayFederation``, of a Ray cluster. The main reactor is here, and no
            process runs a tag later than that of the current step. The program must
            have one tag at a time: no delays of zero, modes, physical inputs or
            ``request_stop()``.
        restarts: As for ``run``. Federates begin again where the program was last kept;
            see ``Session.keep``. Not for a Ray cluster.
        preload: Values to put into flight, as by ``Session.preload``: port, value, and
            when it was set.
        state: Called with the main reactor by ``Session.states``; in a federation in
            every process, where the main reactor has the same parameters. Must be a
            function of a module then.
        at_start: Called with a ``Watch`` before the first tag.
        at_end: Called with the result when the run has ended; in a federation only if
            it ended without an error.

    Raises:
        ProgramError: The program is not legal, or cannot be cut or driven there.
    """
    if restarts < 0 or (restarts and federation is None):
        rule = "0 or more" if restarts < 0 else "0 without a federation"
        msg = f"restarts must be {rule}, got {restarts}"
        raise ValueError(msg)
    with gc_paused():
        program = elaborate(main)
        options = make_options(
            program,
            workers=workers,
            fast=fast,
            timeout=timeout,
            keepalive=True,
            seed=seed,
            start_time=start_time,
            trace=trace,
            check=check,
            freeze=freeze,
            stay_home=stay_home,
            shuffle=shuffle,
            timing=timing,
        )
        if federation is None:
            live = Live(program, options, at_start=at_start)
            session = Session(live, at_end, state)
            for port, value, sent in preload:
                session.preload(port, value, sent=sent)
            return session
        if isinstance(federation, int):
            federation = Federation(federation)
        federation = federation.sized(parts_of(program) + 1, here=1)
        cut = cut_program(program, federation)
        if workers is None and not check:
            from reactorl._federation.launch.launcher import workers_of_each

            options = replace(options, workers=workers_of_each(cut, federation))
        _check(options)
        from reactorl._federation.driver import DrivenFederation, DrivenSource

        main_node = program.reactors[0]
        return DrivenFederation(
            DrivenSource(main_node.cls, main_node.params, tuple(preload), state),
            program,
            federation,
            cut,
            options,
            restarts=restarts,
            at_start=at_start,
            at_end=at_end,
        )


def _check(options: Options) -> None:
    """Check options that a driven federation does not have.

    Raises:
        ValueError: One of these is given.
    """
    for name, given in (
        ("fast", not options.fast),
        ("timeout", options.timeout is not None),
    ):
        if given:
            value = "True" if name == "fast" else "None"
            msg = f"{name} must be {value} in a driven federation"
            raise ValueError(msg)
