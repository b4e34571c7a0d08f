# SPDX-License-Identifier: Apache-2.0
"""Run a program from its first tag to its last, in this process or in several."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from reactorl._program.cut import cut_program
from reactorl._program.elaborate import elaborate
from reactorl._program.placement import Federation, parts_of
from reactorl._program.rules import check_main_has_no_ports
from reactorl._runtime.options import TraceDetail, make_options
from reactorl._runtime.recording import Recording
from reactorl._runtime.run import run_program
from reactorl._util.gc_pause import gc_paused

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from reactorl._decl.reactor import Reactor
    from reactorl._program.program import Program
    from reactorl._runtime.result import Result
    from reactorl._runtime.watch import Watch
    from reactorl.tag import Duration


def run(
    main: type[Reactor] | Reactor | Program,
    *,
    workers: int | None = None,
    fast: bool = False,
    timeout: Duration | None = None,
    keepalive: bool | None = None,
    seed: int = 0,
    trace: TraceDetail = False,
    check: bool = False,
    start_time: int | None = None,
    freeze: bool | None = None,
    record: bool | str | os.PathLike[str] = False,
    replay: Recording | str | os.PathLike[str] | None = None,
    stay_home: bool = False,
    shuffle: int = 0,
    timing: bool | int = False,
    federation: Federation | int | None = None,
    restarts: int = 0,
    at_start: Callable[[Watch], object] | None = None,
    at_end: Callable[[Result], object] | None = None,
) -> Result:
    """Run ``main`` until it ends, and return the result.

    It ends at one final tag, at which ``shutdown`` reactions run: at the timeout, one
    microstep after ``request_stop()``, or one microstep after the last event if none is
    left before the timeout (``keepalive=True`` waits for the timeout instead). The
    result is the same for any number of workers.

    Args:
        main: A reactor class, a configured reactor (``Main(width=4)``), or a Program.
        workers: Threads that run reactions, the caller's included. None: one per core.
        fast: Do not wait until the wall clock reaches a tag.
        timeout: Logical duration after which the run ends; events at exactly that time
            still happen.
        keepalive: Wait for physical actions when no event is left. None: if there are
            any physical actions.
        seed: The seed from which all random streams of the run are derived.
        trace: Record reactions, ports set and events. ``"values"`` also records the
            content of arrays and objects.
        check: Find causes of nondeterminism: values changed after they were sent,
            global random state. Slow, one worker.
        start_time: Time of the first tag, in nanoseconds since 1970. None: now, and 0
            if ``fast``.
        freeze: Make NumPy arrays read-only when they are sent. None: unless a reactor
            of the program was written in LF, whose values are shared as they are.
        record: Record physical inputs for ``replay``; a path also saves them there.
        replay: Take all physical inputs from a recording instead.
        stay_home: Run the reactions of a reactor on its home worker and on no other,
            for resources that are bound to a thread. By default an idle worker takes
            over work of others.
        shuffle: For tests: another order of ready reactions for each value. The trace
            must not change.
        timing: Measure how long each invocation of a reaction takes, how late tags
            begin, and which federate waits for which: ``result.timing``. Sums are of
            all; single invocations are kept for the last 65,536 of each worker, or for
            as many as the number given here.
        federation: Run the program as several processes, its federates: which reactors
            go where, or how many federates. They run on this machine, or, by
            ``RayFederation``, on the nodes of a Ray cluster. The result is that of one
            process. ``workers`` is then the number of each; None: the cores are shared
            among them. The processes get the classes by import, or by value if they
            cannot be imported; their output appears line by line, with their names.
        restarts: How often a federate whose process is gone begins again, in a new
            process. It does again what it did, while the others wait, so the result is
            the same; one that has used physical inputs cannot.
        at_start: Called when the reactors are made, before the first tag, with a
            ``Watch``, with which any thread can follow the progress of the run. In a
            federation called before its processes are started.
        at_end: Called with the result when the run has ended, even if it ended by an
            exception, which is raised afterwards; so a trace up to there can be kept.
            In a federation it is called only if the run has ended normally.

    Raises:
        FederationError: A federate could not be started or is gone; the text names it,
            with the last tag that it reported.
        ProgramError: The program is not legal.
        ReactionError: A body raised; the original exception is its ``__cause__``.
        AccessError: A body touched what its reaction does not declare.
        KeyboardInterrupt: Ctrl-C; reactors were torn down, threads ended.
    """
    if restarts < 0 or (restarts and federation is None):
        rule = "0 or more" if restarts < 0 else "0 without a federation"
        msg = f"restarts must be {rule}, got {restarts}"
        raise ValueError(msg)
    noted = None if record is False else Recording()
    with gc_paused():
        program = elaborate(main)
        check_main_has_no_ports(program)
        options = make_options(
            program,
            workers=workers,
            fast=fast,
            timeout=timeout,
            keepalive=keepalive,
            seed=seed,
            start_time=start_time,
            trace=trace,
            check=check,
            freeze=freeze,
            stay_home=stay_home,
            shuffle=shuffle,
            timing=timing,
        )
        if replay is not None and not isinstance(replay, Recording):
            replay = Recording.load(replay)
    if federation is not None:
        from reactorl._federation.launch.job import source_of
        from reactorl._federation.launch.launcher import workers_of_each
        from reactorl._federation.launch.local import run_locally
        from reactorl._federation.launch.on_ray.federation import RayFederation

        if isinstance(federation, int):
            federation = Federation(federation)
        federation = federation.sized(parts_of(program) + 1)
        cut = cut_program(program, federation)
        if workers is None and not check:
            options = replace(options, workers=workers_of_each(cut, federation))
        if restarts and isinstance(federation, RayFederation):
            msg = f"restarts must be 0 in a RayFederation, got {restarts}"
            raise ValueError(msg)
        result, _ = run_locally(
            source_of(main),
            program,
            federation,
            cut,
            options,
            replay=replay,
            record=noted is not None,
            restarts=restarts,
            at_start=at_start,
        )
        if result.recording is not None and not isinstance(record, bool):
            result.recording.save(record)
        if at_end is not None:
            at_end(result)
        return result
    try:
        return run_program(
            program,
            options,
            record=noted,
            replay=replay,
            at_start=at_start,
            at_end=at_end,
        )
    finally:
        if noted is not None and not isinstance(record, bool):
            noted.save(record)
