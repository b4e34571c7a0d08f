# SPDX-License-Identifier: Apache-2.0
"""``reactorl run``: run a program, with LF's options and a few of our own."""

from __future__ import annotations

import sys
import time
import warnings
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from reactorl.cli.support.console import say
from reactorl.cli.support.errors import explained, show
from reactorl.cli.support.run_options import add_options
from reactorl.cli.support.streams import stdout_is_broken
from reactorl.cli.support.trace_writer import TraceWriter
from reactorl.lf import Report

if TYPE_CHECKING:
    import argparse
    from contextlib import AbstractContextManager

    from reactorl import Program
    from reactorl.lf import LoadedProgram

DESCRIPTION = """\
Run the main reactor of a .lf file. Options take precedence over the target
properties of the file.
"""
EPILOG = """\
examples:
  reactorl run hello.lf
  reactorl run hello.lf --fast --timeout 5 s       two words, or '5 s'
  reactorl run hello.lf --workers 2 --seed 1 --trace hello.trace
  reactorl run hello.lf --timing hello.times       then 'reactorl trace'
  reactorl run hello.lf --dashboard                watch the run in a browser

exit status: 0 if the run ended normally, 1 after an exception in a body, n
after exit(n) in a body, 2 if the program has errors and was not started.
"""
T = TypeVar("T")


def add_to(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the parser of this command."""
    parser = subparsers.add_parser(
        "run",
        description=DESCRIPTION,
        epilog=EPILOG,
    )
    add_options(parser)
    parser.set_defaults(command=command)


def command(args: argparse.Namespace) -> int:
    """Run a file; return the exit status."""
    report = Report()
    level = args.logging
    _flush_each_line()
    if args.seed is not None:
        _seed_globals(args.seed)  # before preambles, which may draw numbers as well
    try:
        started = _load(args.file, report)
        if started is None:
            show(report.in_order(), level or "warn")
            return 2
        loaded, program = started
        show(report.in_order(), level or loaded.linked.properties.logging or "warn")
        return _run(loaded, program, args)
    except SystemExit as error:  # exit(n) in a body
        return _status(error)
    except Exception as error:
        cause = error.__cause__ or error
        if isinstance(cause, BrokenPipeError) and stdout_is_broken():
            raise cause from None  # the reader of the output has ended
        say(*explained(error))
        return 1
    finally:
        sys.stdout.flush()


def _load(path: Path, report: Report) -> tuple[LoadedProgram, Program] | None:
    from reactorl.lf import LoadedProgram, resolve

    linked = resolve(path, report)
    if linked is None or report.failed:
        return None
    if linked.main is None:
        source = linked.root.source
        what = "the file has no main reactor to run"
        advice = "Write 'main reactor { ... }', or run a file that imports this one."
        report.error(source, linked.root.tree.span, what, advice)
        return None
    loaded = LoadedProgram.of(linked, [linked.main])
    program = loaded.program(report)
    return None if program is None else (loaded, program)


def _run(loaded: LoadedProgram, program: Program, args: argparse.Namespace) -> int:
    from reactorl import MAX_WORKERS, run

    properties, main = loaded.linked.properties, loaded.linked.main
    assert main is not None
    if (args.logging or properties.logging) == "error":
        warnings.simplefilter("ignore")
    if main.tree.kind == "federated":
        note = "its federates run in this process, not distributed"
        say(f"reactorl: {main.name} is federated: {note}\n")
        if args.id:
            loaded.lowering.lf._federation_id = args.id
    trace = args.trace
    if trace is None and properties.tracing is not None:
        trace = Path(f"{properties.tracing}.trace")
    tracepoints = loaded.lowering.tracepoints
    tracepoints.enabled = trace is not None
    workers = _either(args.workers, properties.workers)
    writer = TraceWriter(trace, args.timing)
    facts = [("file", str(args.file))]
    with (
        _served(program, title=main.name, facts=facts)
        if args.dashboard
        else nullcontext()
    ) as dashboard:
        result = run(
            program,
            workers=min(workers, MAX_WORKERS) if workers else None,
            fast=_either(args.fast, properties.fast) or False,
            timeout=_either(args.timeout, properties.timeout),
            keepalive=_either(args.keepalive, loaded.keepalive),
            seed=args.seed or 0,
            trace="values" if trace is not None else False,
            check=args.check,
            start_time=_start_time(args.start_time_multiple),
            freeze=False,
            timing=args.timing is not None,
            at_start=None if dashboard is None else dashboard.watch,
            at_end=lambda ended: writer.write(ended, tracepoints),
        )
    if writer.failed:
        return 1
    if (args.logging or properties.logging) in ("info", "log", "debug"):
        say(f"reactorl: {result.summary()}\n")
    return 0


def _start_time(multiple: int | None) -> int:
    now = time.time_ns()  # noqa: TID251 - LF's first tag is the wall clock
    return now if not multiple else -(-now // multiple) * multiple


def _either(option: T | None, otherwise: T) -> T:
    return otherwise if option is None else option


def _seed_globals(seed: int) -> None:
    """Seed the global generators that LF programs use; --check reports their use."""
    import random  # noqa: TID251

    random.seed(seed)
    try:
        import numpy as np
    except ImportError:
        return
    np.random.seed(seed % 2**32)  # noqa: TID251


def _flush_each_line() -> None:
    """Make output of bodies visible when it is printed, also through a pipe."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(line_buffering=True)


def _status(error: SystemExit) -> int:
    if error.code is None:
        return 0
    if isinstance(error.code, int):
        return error.code
    say(f"{error.code}\n")
    return 1


def _served(program: Program, **how: Any) -> AbstractContextManager[Any]:  # noqa: ANN401
    """Return a context manager that serves a dashboard; it is imported only then."""
    from reactorl.dashboard import served

    return served(program, **how)
