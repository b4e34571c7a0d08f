# SPDX-License-Identifier: Apache-2.0
"""``reactorl graph``: draw the diagram of a program."""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path

from reactorl.cli.support.errors import fail, reason

DESCRIPTION = """\
Draw the diagram of a program: its reactors, their reactions, and connections.
Programs with causality loops are drawn with the loops in red.

TARGET is module:Class, file.py:Class, a file.py with one main reactor, a
file.lf, or the directory of a training run. Python files are imported, which
runs their top-level code.

The suffix of FILE is the format:
  .html  interactive page that works offline: expand reactors, search, hover
  .svg   image, drawn by Graphviz, which must be installed
  .png   the same
  .mmd   Mermaid flowchart
  .dot   input for Graphviz
  .json  the content of the diagram as data
With --federates each federate has a colour, and lines between federates are
thick.
Without -o the Mermaid text is printed, or on a terminal NAME.html is written.
"""
EXAMPLES = """\
examples:
  reactorl graph hello.lf -o hello.html         an interactive diagram
  reactorl graph robot.py:Robot -o robot.svg    an image for a document
  reactorl graph my.module:Main --depth 2       Mermaid text, two levels deep
  reactorl graph robot.py --federates 3 -o robot.html
                                                cut into three federates
  reactorl graph runs/RUN -o flow.png           the dataflow of a training run

exit status: 0; 2 if the program does not exist or cannot be cut, or the format
is unknown; 1 if the file cannot be written.
"""


def add_to(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the parser of this command."""
    parser = subparsers.add_parser(
        "graph",
        description=DESCRIPTION,
        epilog=EXAMPLES,
    )
    parser.add_argument("target", metavar="TARGET", help="the program")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="the file to write"
    )
    parser.add_argument(
        "--expand-banks",
        action="store_true",
        help="draw every member of a bank instead of one for all",
    )
    parser.add_argument(
        "--depth",
        type=_positive,
        metavar="N",
        help="number of expanded levels of reactors (default: all; in .html as many as "
        "are readable; for a training run 1)",
    )
    parser.add_argument(
        "--federates",
        type=_positive,
        metavar="N",
        help="show where the program runs if it is cut into N federates",
    )
    parser.set_defaults(command=command)


def command(args: argparse.Namespace) -> int:
    """Draw; return the exit status."""
    from reactorl.diagram import SUFFIXES, DrawingError

    output: Path | None = args.output
    if output is not None and output.suffix.lower() not in SUFFIXES:
        kinds = f"{', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}"
        what = f"output must end in {kinds}, got '{output}'"
        return fail(what)
    try:
        return _draw(args, output)
    except DrawingError as error:
        return fail(error)
    except OSError as error:
        return fail(reason(error, output), 1)


def _draw(args: argparse.Namespace, output: Path | None) -> int:
    from reactorl.cli.support.console import say
    from reactorl.cli.support.errors import explained
    from reactorl.cli.support.targets import find_target
    from reactorl.diagram import graph
    from reactorl.errors import ReactorlError, ReactorlWarning

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ReactorlWarning)
            target = find_target(args.target)
            depth = args.depth if args.depth or not target.is_run else 1
            picture = graph(
                target.main,
                depth=depth,
                expand_banks=args.expand_banks,
                title=target.name,
                federation=args.federates,
            )
    except ReactorlError as error:
        return fail(error)
    except (Exception, SystemExit) as error:  # the user's module, when imported
        say(*explained(error))
        return fail(f"importing '{args.target}' failed")
    if output is None and not sys.stdout.isatty():
        print(picture, end="")
    else:
        output = output or Path(f"{target.name}.html")
        picture.save(output)
        print(output)
    if picture.scene.problems:
        count = len(picture.scene.problems)
        loops = "a causality loop" if count == 1 else f"{count} causality loops"
        note = f"reactorl: {target.name} has {loops} (drawn in red) and cannot run"
        say(f"{note}\n")
    return 0


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        msg = f"must be an integer of at least 1, got '{text}'"
        raise argparse.ArgumentTypeError(msg)
    return int(text)
