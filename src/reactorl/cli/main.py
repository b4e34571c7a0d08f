# SPDX-License-Identifier: Apache-2.0
"""The frame of the command line: which command, with which arguments.

A command is a module of this package with ``add_to(subparsers)``, which adds its
parser and there sets the default ``command``: a function that takes the parsed
arguments and returns the exit status. Only the module of the command that is asked
for is imported, so that none pays for another's start-up.

Exit statuses: what the command says; 2 for a mistake in the arguments or, in ``run``,
``check`` and ``fmt``, in a ``.lf`` file; 130 after Ctrl-C.
"""

from __future__ import annotations

import argparse
import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS = {
    "run": "run a program",
    "check": "say everything that is wrong with programs, without running them",
    "fmt": "format programs in place; comments and meaning stay",
    "train": "train an algorithm on an environment",
    "eval": "play episodes with what a run has learned",
    "runs": "list the runs there are",
    "plot": "draw the curves of runs into one picture",
}

_EXAMPLES = """\
examples:
  reactorl run hello.lf              run the main reactor of hello.lf
  reactorl run hello.lf --fast       the same, without waiting for physical time
  reactorl check src/*.lf            find mistakes in all these files
  reactorl fmt --check src           for CI: is everything below src formatted?
  reactorl train dqn --seed 1        train DQN on CartPole-v1

'reactorl COMMAND --help' tells more about a command.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return the exit status.

    Raises:
        SystemExit: The arguments are wrong (status 2), or ask for help or the
            version (status 0).
    """
    args = list(sys.argv[1:] if argv is None else argv)
    if args[:1] == ["run"]:
        from reactorl.cli.run_options import normalised

        args = normalised(args)
    parsed = _parser(args).parse_args(args)
    if parsed.command is None:
        _parser(args).print_help(sys.stderr)
        return 2
    try:
        status: int = parsed.command(parsed)
        sys.stdout.flush()
    except BrokenPipeError:
        _forget_stdout()
        return 1
    except KeyboardInterrupt:
        return 130
    return status


def entry() -> NoReturn:
    """Run a command as a process of its own, and end it.

    As in LF, threads that a program has started do not keep it alive.
    """
    status = main()
    from threading import current_thread, enumerate

    if any(t is not current_thread() and not t.daemon for t in enumerate()):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    sys.exit(status)


def _parser(args: Sequence[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="reactorl",
        description="Run, check and format Lingua Franca programs (Python target), "
        "and train by reinforcement learning.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version, help="show the version and exit")
    parser.set_defaults(command=None)
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND")
    wanted = next((arg for arg in args if not arg.startswith("-")), None)
    for name, summary in COMMANDS.items():
        if name == wanted:
            import_module(f"reactorl.cli.{name}").add_to(subparsers)
        else:
            subparsers.add_parser(name, help=summary)
    return parser


class _Version(argparse.Action):
    """Looks the version up only when asked: that is slow."""

    def __init__(self, option_strings: list[str], dest: str, help: str) -> None:
        super().__init__(option_strings, dest, nargs=0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_others: object) -> None:
        from importlib.metadata import PackageNotFoundError, version

        try:
            number = version("reactorl")
        except PackageNotFoundError:
            number = "(not installed)"
        print(f"reactorl {number}")
        parser.exit()


def _forget_stdout() -> None:
    """Keep the interpreter from complaining that nobody reads stdout any more."""
    try:
        descriptor = sys.stdout.fileno()
    except (OSError, ValueError):
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)
