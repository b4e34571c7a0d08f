# SPDX-License-Identifier: Apache-2.0
# PYTHON_ARGCOMPLETE_OK
"""The frame of the command line: which command, with which arguments.

A command is a module of this package with ``add_to(subparsers)``, which adds its
parser and there sets the default ``command``: a function that takes the parsed
arguments and returns the exit status. Only the module of the command that is asked
for is imported, so that none pays for another's start-up.

Exit statuses: what the command says; 2 for a mistake in the arguments or, in ``run``,
``check`` and ``fmt``, in a ``.lf`` file; 130 after Ctrl-C; 1 for whatever else went
wrong. ``failures`` says it, for all commands in the same way.
"""

from __future__ import annotations

import argparse
import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, NoReturn

from reactorl._util.suggestions import did_you_mean
from reactorl.cli.support.console import set_debug
from reactorl.cli.support.parser import Parser

if TYPE_CHECKING:
    from collections.abc import Sequence

# Each group is shown under its title in 'reactorl --help'.
GROUPS: dict[str, dict[str, str]] = {
    "programs": {
        "run": "run a program",
        "check": "say everything that is wrong with programs, without running them",
        "fmt": "format programs in place; comments and meaning stay",
    },
    "training": {
        "train": "train an algorithm on an environment",
        "eval": "play episodes with what a run has learned",
        "runs": "list the runs there are",
        "plot": "draw the curves of runs into one picture",
    },
    "looking": {
        "graph": "draw a program, also a trained one's flow",
        "trace": "say where the time of a run went; for Perfetto, or on the diagram",
        "diff": "name the first place where two runs part",
    },
    "evidence": {
        "bench": "compare with Ray and other engines, side by side",
    },
    "help": {
        "doctor": "print what matters in a bug report, and for full speed",
        "completion": "print a script that completes commands in your shell",
    },
}
COMMANDS = {name: text for group in GROUPS.values() for name, text in group.items()}

_DESCRIPTION = """\
Deterministic parallel reinforcement learning on the reactor model; runs Lingua
Franca programs of the Python target, too.
"""
_EXAMPLES = """\
examples:
  reactorl run hello.lf --fast       run a program without waiting for the clock
  reactorl check src/*.lf            find the mistakes in all these files
  reactorl fmt --check src           for CI: is everything below src formatted?
  reactorl train dqn --seed 1        train DQN on CartPole-v1
  reactorl graph hello.lf -o a.html  look at a program
  reactorl doctor                    is everything here as it should be?

'reactorl COMMAND --help' tells more about a command.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return the exit status.

    Raises:
        SystemExit: The arguments are wrong (status 2), or ask for help or the
            version (status 0).
    """
    args = _without_debug(sys.argv[1:] if argv is None else argv)
    if args[:1] == ["run"]:
        from reactorl.cli.support.run_options import normalised

        args = normalised(args)
    parsed = _parsed(args)
    if parsed.command is None:
        make_parser()[0].print_help(sys.stderr)
        return 2
    try:
        status: int = parsed.command(parsed)
        sys.stdout.flush()
    except BrokenPipeError:
        _forget_stdout()
        return 1
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        from reactorl.cli.support.errors import fail_unexpectedly

        return fail_unexpectedly(error)
    return status


def entry() -> NoReturn:
    """Run a command as a process of its own, and end it.

    As in LF, threads that a program has started do not keep it alive.
    """
    if "_ARGCOMPLETE" in os.environ:
        from reactorl.cli.support.completion import complete

        complete()
    status = main()
    from threading import current_thread, enumerate

    if any(t is not current_thread() and not t.daemon for t in enumerate()):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    sys.exit(status)


def make_parser(wanted: str | None = None) -> tuple[Parser, dict[str, Parser]]:
    """Return the parser, and those of commands: the wanted one's has its arguments."""
    parser = Parser(
        prog="reactorl",
        usage="%(prog)s [-h] [--version] [--debug] COMMAND ...",
        description=f"{_DESCRIPTION}\n{_listed()}",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version, help="show the version and exit")
    _add_debug(parser)
    parser.set_defaults(command=None)
    subparsers = parser.add_subparsers(prog="reactorl", help=argparse.SUPPRESS)
    for name in COMMANDS:
        if name == wanted:
            import_module(f"reactorl.cli.commands.{name}").add_to(subparsers)
            _add_debug(subparsers.choices[name])
        else:
            subparsers.add_parser(name)
    return parser, subparsers.choices


def _parsed(args: Sequence[str]) -> argparse.Namespace:
    wanted = next((arg for arg in args if not arg.startswith("-")), None)
    parser, commands = make_parser(wanted)
    if wanted is not None and wanted not in commands:
        advice = (
            did_you_mean(wanted, commands) or "'reactorl --help' lists the commands."
        )
        parser.fail(f"there is no command '{wanted}'", advice)
    parsed, unknown = parser.parse_known_args(args)
    if unknown:
        commands.get(wanted or "", parser).refuse(unknown)
    return parsed


def _listed() -> str:
    """Return the commands and what each does, in groups."""
    width = max(map(len, COMMANDS))
    return "\n\n".join(
        "\n".join([f"{title}:", *(f"  {n:<{width}}  {t}" for n, t in group.items())])
        for title, group in GROUPS.items()
        if group
    )


def _add_debug(parser: argparse.ArgumentParser) -> None:
    what = "say everything about an error: all frames and fields"
    parser.add_argument("--debug", action="store_true", help=what)


def _without_debug(args: Sequence[str]) -> list[str]:
    """Return the arguments without ``--debug``, which counts wherever it stands."""
    end = args.index("--") if "--" in args else len(args)
    set_debug(on="--debug" in args[:end])
    return [*(arg for arg in args[:end] if arg != "--debug"), *args[end:]]


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
