# SPDX-License-Identifier: Apache-2.0
"""``reactorl trace``: show where the time of a run went."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from reactorl._util.files import atomic_writer
from reactorl._util.formatting import format_nanoseconds
from reactorl.cli.support.errors import fail, reason
from reactorl.cli.support.trace_files import trace_of
from reactorl.errors import ReactorlError, TraceError

if TYPE_CHECKING:
    from reactorl.diagram import Scene
    from reactorl.trace import SavedTrace, Timing

DESCRIPTION = """\
Summarize a run and show where its time went: the busiest reactions, time per
level, utilization of workers, the critical path (the chains of reactions that
depend on each other), lag and missed deadlines; for a federation, which
federate waited for which.

Times are in the file if the run recorded them:
  reactorl run hello.lf --timing hello.trace     add '--trace hello.trace' for
                                                 events in the same file
  reactorl train dqn --timing                    a file in the run's directory
  run(Main, timing=True).save_trace("my.trace")  in Python
"""
EPILOG = """\
examples:
  reactorl trace hello.trace
  reactorl trace hello.trace --perfetto hello.json    open at ui.perfetto.dev
  reactorl trace hello.trace --html hello.html        times on the diagram
  reactorl trace runs/CartPole-v1__dqn__1__1700000000

exit status: 0; 2 if the trace does not exist or cannot be read; 1 if a file
cannot be written.
"""
AGAIN = "Run again with '--timing FILE', or run(..., timing=True)."


def add_to(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the parser of this command."""
    parser = subparsers.add_parser(
        "trace",
        description=DESCRIPTION,
        epilog=EPILOG,
    )
    parser.add_argument(
        "trace",
        type=Path,
        metavar="RUN|FILE",
        help="a trace file, or the directory of a run",
    )
    parser.add_argument(
        "--perfetto",
        type=Path,
        metavar="OUT.json",
        help="write a file for Perfetto and Chrome (chrome://tracing)",
    )
    parser.add_argument(
        "--html",
        type=Path,
        metavar="OUT.html",
        help="write a page with the diagram of the program, annotated with times",
    )
    parser.add_argument(
        "--program",
        metavar="TARGET",
        help="for --html: the program, as in 'reactorl graph TARGET', if the file does "
        "not contain its diagram",
    )
    parser.add_argument(
        "--most",
        type=_positive,
        default=10,
        metavar="N",
        help="maximum number of rows in a table (default: 10)",
    )
    parser.add_argument(
        "--members",
        action="store_true",
        help="show each member of a bank in a row of its own",
    )
    parser.set_defaults(command=command)


def command(args: argparse.Namespace) -> int:
    """Summarize a trace, or convert it; return the exit status."""
    from reactorl.trace import load

    try:
        path = trace_of(args.trace)
        saved = load(path)
    except TraceError as error:
        return fail(error)
    except OSError as error:
        return fail(reason(error, args.trace))
    wrote = [path for path in (args.perfetto, args.html) if path is not None]
    if wrote and saved.timing is None:
        return fail(f"{path}: the file contains no times", help=AGAIN)
    if saved.timing is not None and args.perfetto is not None:
        from reactorl.trace import write_perfetto

        with atomic_writer(args.perfetto, "w") as file:
            write_perfetto(file, saved.timing, path.name)
    if saved.timing is not None and args.html is not None:
        try:
            page = _page(_scene(saved, args.program), saved.timing, path.name)
        except ReactorlError as error:
            return fail(error)
        with atomic_writer(args.html, "w") as file:
            file.write(page)
    for written in wrote:
        print(f"wrote {written}")
    if not wrote:
        from reactorl.cli.support.console import show_tables
        from reactorl.cli.support.trace_summary import summary

        name = str(path)
        show_tables(summary(saved, name, most=args.most, members=args.members))
    return 0


def _scene(saved: SavedTrace, target: str | None) -> Scene:
    """Return the diagram of the program, from the trace or from a given program.

    Raises:
        ReactorlError: There is no diagram, or the program is not the one that ran.
    """
    from reactorl.diagram import Scene

    if target is not None:
        return _scene_of(target, saved)
    if saved.scene is None:
        what = "the file does not contain the diagram of the program"
        raise TraceError(what, None, "Give the program: --program TARGET.")
    try:
        return Scene.from_json(saved.scene)
    except ValueError as error:
        what = f"the diagram in the file is damaged ({error})"
        raise TraceError(what, None, "Give the program: --program TARGET.") from error


def _scene_of(target: str, saved: SavedTrace) -> Scene:
    from reactorl import diagram, elaborate
    from reactorl.cli.support.targets import find_target

    program = elaborate(find_target(target).main)
    if program.digest != saved.program:
        what = f"{target} is not the program that ran"
        raise TraceError(
            what, None, "Give the program that ran, with the same parameters."
        )
    return diagram.scene(program)


def _page(scene: Scene, timing: Timing, name: str) -> str:
    from reactorl.diagram import Mark, html_page

    totals = [sums.total for sums in timing.reactions]
    most = max(totals, default=0) or 1
    overlay = {
        reaction: Mark(
            sums.total / most,
            f"{format_nanoseconds(sums.total)}, {sums.runs:,}\N{MULTIPLICATION SIGN}",
        )
        for reaction, sums in zip(
            timing.structure.reactions, timing.reactions, strict=True
        )
        if sums.runs
    }
    title = f"{scene.title}: {format_nanoseconds(timing.busy)} in reactions ({name})"
    return html_page(scene, title=title, overlay=overlay)


def _positive(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and 0 < int(text) < 10**9):
        msg = f"must be an integer of at least 1, got '{text}'"
        raise argparse.ArgumentTypeError(msg)
    return int(text)
