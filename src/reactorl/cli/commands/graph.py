# SPDX-License-Identifier: Apache-2.0
"""``reactorl graph``: a picture of a program."""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path

from reactorl.cli.support.needs import fail

DESCRIPTION = """\
Draw a program: its reactors, what is in them, and what flows between them. One
that has causality loops is drawn, too, with the loops in red.

TARGET is module:Class, file.py:Class, a file.py with one main reactor, a
file.lf, or the directory of a training run. Python files are imported, so what
they do on import is done.

The suffix of FILE says what it is to be:
  .html  one page that works offline: open and close reactors, search, hover
  .svg   a still picture; drawn by Graphviz, which has to be installed
  .png   the same
  .mmd   a Mermaid flowchart
  .dot   text for Graphviz
  .json  everything in the picture, as data
Without -o the Mermaid text is printed; on a terminal NAME.html is written.
"""
EXAMPLES = """\
examples:
  reactorl graph hello.lf -o hello.html         look around in a program
  reactorl graph robot.py:Robot -o robot.svg    a picture for a document
  reactorl graph my.module:Main --depth 2       Mermaid text, two levels deep
  reactorl graph runs/RUN -o flow.png           the dataflow of a training

exit status: 0; 2 if there is no such program or kind of picture; 1 if the file
cannot be written.
"""


def add_to(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the parser of this command."""
    parser = subparsers.add_parser(
        "graph",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("target", metavar="TARGET", help="the program")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="where the picture goes"
    )
    parser.add_argument(
        "--expand-banks",
        action="store_true",
        help="draw all members of banks, not one for all",
    )
    parser.add_argument(
        "--depth",
        type=_depth,
        metavar="N",
        help="how many levels of reactors are open (default: all; in .html as many as "
        "are readable; of a run: 1)",
    )
    parser.set_defaults(command=command)


def command(args: argparse.Namespace) -> int:
    """Draw; return the exit status."""
    from reactorl.diagram.graphviz import DrawingError
    from reactorl.diagram.picture import SUFFIXES

    output: Path | None = args.output
    if output is not None and output.suffix.lower() not in SUFFIXES:
        kinds = f"{', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}"
        msg = f"'{output}' is no picture that can be drawn"
        return fail(msg, help=f"Choose {kinds}.")
    try:
        return _draw(args, output)
    except DrawingError as error:
        return fail(error)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        return fail(f"{error.filename or output}: {reason}", 1)


def _draw(args: argparse.Namespace, output: Path | None) -> int:
    from reactorl.cli.support.console import say
    from reactorl.cli.support.errors import explain
    from reactorl.cli.support.targets import find_target
    from reactorl.diagram.picture import graph
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
            )
    except ReactorlError as error:
        return fail(error)
    except (Exception, SystemExit) as error:  # the user's module, when imported
        say(explain(error))
        return fail(f"'{args.target}' cannot be imported")
    if output is None and not sys.stdout.isatty():
        print(picture, end="")
    else:
        output = output or Path(f"{target.name}.html")
        picture.save(output)
        print(output)
    if picture.scene.problems:
        count = len(picture.scene.problems)
        loops = "a loop" if count == 1 else f"{count} loops"
        note = f"reactorl: {target.name} has {loops} and cannot run; see what is red"
        print(note, file=sys.stderr)
    return 0


def _depth(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        msg = f"'{text}' is not a number from 1"
        raise argparse.ArgumentTypeError(msg)
    return int(text)
