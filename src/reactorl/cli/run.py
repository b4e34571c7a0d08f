# SPDX-License-Identifier: Apache-2.0
"""``reactorl run``: a program with LF's own options and a few of ours."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from reactorl.lf.diagnostics import Report, Severity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reactorl._program.program import Program
    from reactorl.lf.loaded import Loaded

DESCRIPTION = """\
Run the main reactor of a .lf file. Options say more than the target line does.

exit status: 0 at a normal end, 1 after an exception in a body, n after exit(n) in a
body, 2 if the program is wrong and was not started.
"""
T = TypeVar("T")
LEVELS = ("error", "warn", "info", "log", "debug")
_TRUTH = {"true": True, "false": False, "1": True, "0": False}


def add_to(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the parser of this command."""
    parser = subparsers.add_parser(
        "run",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", type=Path, metavar="FILE.lf")
    lf = parser.add_argument_group("options of LF's runtime")
    switch: Any = {"nargs": "?", "const": True, "type": _truth, "metavar": "true|false"}
    lf.add_argument("-f", "--fast", help="do not wait for physical time", **switch)
    lf.add_argument(
        "-o",
        "--timeout",
        nargs="+",
        action=_Time,
        metavar=("N", "UNIT"),
        help="logical time at which to end, e.g. 5 s",
    )
    lf.add_argument("-k", "--keepalive", help="wait when no event is left", **switch)
    lf.add_argument(
        "-w", "--workers", type=_count, metavar="N", help="threads; 0: one per core"
    )
    lf.add_argument(
        "-m",
        "--start-time-multiple",
        nargs="+",
        action=_Time,
        metavar=("N", "UNIT"),
        help="round the start time up to a multiple",
    )
    lf.add_argument("-i", "--id", metavar="ID", help="the federation's identifier")
    lf.add_argument("-r", "--rti", metavar="HOST:PORT", help="has no effect here")
    lf.add_argument(
        "-l",
        "--logging",
        type=str.lower,
        choices=LEVELS,
        help="how much to say on stderr (default: warn)",
    )
    ours = parser.add_argument_group("further options")
    ours.add_argument(
        "--seed", type=int, metavar="N", help="where random numbers begin (default: 0)"
    )
    ours.add_argument(
        "--trace", type=Path, metavar="FILE", help="write what happened to a file"
    )
    ours.add_argument(
        "--check",
        action="store_true",
        help="find values that are changed after they were sent; slow",
    )
    parser.set_defaults(command=command)


def command(args: argparse.Namespace) -> int:
    """Run the file that was named; return the exit status."""
    report = Report()
    level = args.logging
    try:
        started = _load(args.file, report)
        if started is None:
            _show(report, level or "warn")
            return 2
        loaded, program = started
        _show(report, level or loaded.library.properties.logging or "warn")
        return _run(loaded, program, args)
    except SystemExit as error:  # exit(n) in a body
        return _status(error)
    except Exception as error:
        from reactorl.cli.failures import explain

        sys.stdout.flush()
        print(explain(error), file=sys.stderr, end="")
        return 1
    finally:
        sys.stdout.flush()


def _load(path: Path, report: Report) -> tuple[Loaded, Program] | None:
    from reactorl.lf.loaded import Loaded
    from reactorl.lf.resolve import resolve

    library = resolve(path, report)
    if library is None or report.failed:
        return None
    if library.main is None:
        source = library.root.source
        what = "there is no main reactor to run"
        advice = "Write 'main reactor { ... }', or import this file from one that has."
        report.error(source, library.root.tree.span, what, advice)
        return None
    loaded = Loaded.of(library, [library.main])
    program = loaded.program(report)
    return None if program is None else (loaded, program)


def _run(loaded: Loaded, program: Program, args: argparse.Namespace) -> int:
    from reactorl._runtime.run import run

    properties, main = loaded.library.properties, loaded.library.main
    assert main is not None
    if main.tree.kind == "federated":
        note = "the federates run in one process; real federation comes later"
        print(f"reactorl: {main.name} is federated: {note}", file=sys.stderr)
        if args.id:
            loaded.lowering.lf._federation_id = args.id
    if args.seed is not None:
        _seed_globals(args.seed)
    trace = args.trace
    if trace is None and properties.tracing is not None:
        trace = Path(f"{properties.tracing}.trace")
    tracepoints = loaded.lowering.tracepoints
    tracepoints.enabled = trace is not None
    _line_by_line()
    workers = properties.workers if args.workers is None else args.workers or None
    result = run(
        program,
        workers=workers,
        fast=_either(args.fast, properties.fast) or False,
        timeout=_either(args.timeout, properties.timeout),
        keepalive=_either(args.keepalive, loaded.keepalive),
        seed=args.seed or 0,
        trace="values" if trace is not None else False,
        check=args.check,
        start_time=_start_time(args.start_time_multiple),
        freeze=False,
    )
    if trace is not None:
        result.save_trace(trace)
        tracepoints.save(trace.with_name(f"{trace.name}.events.jsonl"))
    if (args.logging or properties.logging) in ("info", "log", "debug"):
        print(f"reactorl: {result.summary()}", file=sys.stderr)
    return 0


def _start_time(multiple: int | None) -> int:
    now = time.time_ns()  # noqa: TID251 - LF's first tag is the wall clock
    return now if not multiple else -(-now // multiple) * multiple


def _either(option: T | None, otherwise: T) -> T:
    return otherwise if option is None else option


def _seed_globals(seed: int) -> None:
    """Seed what LF programs draw from, which is global; with --check it is found."""
    import random  # noqa: TID251

    random.seed(seed)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(seed % 2**32)


def _line_by_line() -> None:
    """Let output of bodies be seen when it is printed, also through a pipe."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(line_buffering=True)


def _show(report: Report, level: str) -> None:
    for diagnostic in report.in_order():
        if diagnostic.severity is Severity.ERROR or level != "error":
            print(f"{diagnostic.render()}\n", file=sys.stderr)


def _status(error: SystemExit) -> int:
    if error.code is None:
        return 0
    if isinstance(error.code, int):
        return error.code
    print(error.code, file=sys.stderr)
    return 1


# -- kinds of values ------------------------------------------------------------------


def _truth(text: str) -> bool:
    try:
        return _TRUTH[text.lower()]
    except KeyError:
        msg = f"'{text}' is neither true nor false"
        raise argparse.ArgumentTypeError(msg) from None


def _count(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = -1
    if number < 0:
        msg = f"'{text}' is not a number of workers"
        raise argparse.ArgumentTypeError(msg)
    return number


class _Time(argparse.Action):
    """``--timeout 5 s`` as well as ``--timeout "5 s"``."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        from reactorl.lf.diagnostics import nearest
        from reactorl.lf.times import UNITS

        words = " ".join(values).split() if isinstance(values, list) else []
        text = "".join(words)
        digits = text[: len(text) - len(text.lstrip("0123456789"))]
        unit = text[len(digits) :]
        if not digits or (unit not in UNITS and not (unit == "" and int(digits) == 0)):
            advice = (
                nearest(unit, UNITS) if digits and unit else "Write for example: 5 s"
            )
            parser.error(
                f"argument {option_string}: {' '.join(words)!r} is not a time. {advice}"
            )
        setattr(namespace, self.dest, int(digits) * UNITS.get(unit, 1))


def normalised(args: Sequence[str]) -> list[str]:
    """Return arguments in which switches never swallow the file's name."""
    found: list[str] = []
    for n, arg in enumerate(args):
        found.append(arg)
        following = args[n + 1].lower() if n + 1 < len(args) else ""
        if arg in ("-f", "--fast", "-k", "--keepalive") and following not in _TRUTH:
            found[-1] = f"{arg}=true" if arg.startswith("--") else arg
            if not arg.startswith("--"):
                found.append("true")
    return found
