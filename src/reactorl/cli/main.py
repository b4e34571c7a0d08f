# SPDX-License-Identifier: Apache-2.0
# PYTHON_ARGCOMPLETE_OK
"""Entry point of the command line: chooses the command and parses its arguments.

A command is a module in ``commands`` with ``add_to(subparsers)``, which adds its parser
and sets the default ``command``: a function that takes the parsed arguments and returns
the exit status. Only the module of the chosen command is imported, so a command does
not pay for the start-up of another.

Exit statuses: the one that the command returns; 2 for wrong arguments and, in ``run``,
``check`` and ``fmt``, for errors in a ``.lf`` file; 130 after Ctrl-C; 1 for all other
failures. ``support.errors`` prints them, for all commands in the same way.
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
from reactorl.cli.support.streams import (
    discard,
    discard_stdout,
    escape_unencodable,
    prepare_streams,
    repair_streams,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

# Each group is shown under its title in 'reactorl --help'.
GROUPS: dict[str, dict[str, str]] = {
    "programs": {
        "run": "run a program",
        "check": "report all errors in programs without running them",
        "fmt": "format programs in place",
        "federate": "take part in a program that runs on several machines",
    },
    "training": {
        "train": "train an algorithm on an environment",
        "eval": "evaluate the policy of a training run",
        "runs": "list training runs",
        "plot": "plot the learning curves of training runs",
    },
    "inspect": {
        "graph": "draw the diagram of a program or of a training run",
        "trace": "show where the time of a run went; export it to Perfetto",
        "diff": "show where two runs first diverge",
    },
    "benchmarks": {
        "bench": "compare with Ray and other engines",
    },
    "setup": {
        "doctor": "check the installation and print facts for a bug report",
        "completion": "print a script for shell completion",
    },
}
COMMANDS = {name: text for group in GROUPS.values() for name, text in group.items()}

_DESCRIPTION = """\
Deterministic parallel reinforcement learning on the reactor model. Also runs
Lingua Franca programs of the Python target.
"""
_EXAMPLES = """\
examples:
  reactorl run hello.lf --fast       run a program without waiting for the clock
  reactorl check src/*.lf            report all errors in these files
  reactorl fmt --check src           in CI: is everything below src formatted?
  reactorl train dqn --seed 1        train DQN on CartPole-v1
  reactorl graph hello.lf -o a.html  draw the diagram of a program
  reactorl doctor                    check the installation

'reactorl COMMAND --help' explains a command.
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
    try:
        parsed = _parsed(args)
        if parsed.command is None:
            make_parser()[0].print_help(sys.stderr)
            return 2
        status: int = parsed.command(parsed)
        repair_streams()
        sys.stdout.flush()
    except BrokenPipeError:
        discard_stdout()
        return 1
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        return _failed(error)
    return status


def entry() -> NoReturn:
    """Run a command as a process of its own, and end it.

    As in LF, threads that a program has started do not keep it alive.
    """
    prepare_streams()
    if "run" not in sys.argv[1:3]:  # a program decides itself about its output
        escape_unencodable()
    if "_ARGCOMPLETE" in os.environ:
        from reactorl.cli.support.completion import complete

        complete()
    try:
        status: object = main()
    except SystemExit as end:
        status = end.code
    repair_streams()
    try:
        sys.stdout.flush()
    except OSError as error:  # the output was short, and is flushed here only
        quiet = isinstance(error, BrokenPipeError)
        discard_stdout()
        status = status or (1 if quiet else _failed(error))
    try:
        sys.stderr.flush()
    except OSError:  # argparse has ignored that
        discard(sys.stderr)
    from threading import current_thread, enumerate

    if any(t is not current_thread() and not t.daemon for t in enumerate()):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status if isinstance(status, int) else 0)
    sys.exit(status)  # type: ignore[arg-type]


def make_parser(wanted: str | None = None) -> tuple[Parser, dict[str, Parser]]:
    """Return the parser and the parsers of commands.

    Args:
        wanted: The command whose parser gets its arguments; the others stay empty.
    """
    parser = Parser(
        prog="reactorl",
        usage="%(prog)s [-h] [--version] [--debug] COMMAND ...",
        description=f"{_DESCRIPTION}\n{_listed()}",
        epilog=_EXAMPLES,
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
        otherwise = "'reactorl --help' lists the commands."
        help = did_you_mean(wanted, commands) or otherwise
        parser.fail(f"unknown command '{wanted}'", help)
    parsed, unknown = parser.parse_known_args(args)
    if unknown:
        commands.get(wanted or "", parser).refuse(unknown)
    return parsed


def _failed(error: Exception) -> int:
    """Print an error that the command did not handle; return the exit status."""
    from reactorl.cli.support.errors import fail_unexpectedly

    repair_streams()
    try:
        sys.stdout.flush()
    except OSError:  # e.g. the device is full, which may be the error itself
        discard_stdout()
    return fail_unexpectedly(error)


def _listed() -> str:
    """Return the commands with their summaries, in groups."""
    width = max(map(len, COMMANDS))
    return "\n\n".join(
        "\n".join([f"{title}:", *(f"  {n:<{width}}  {t}" for n, t in group.items())])
        for title, group in GROUPS.items()
        if group
    )


def _add_debug(parser: argparse.ArgumentParser) -> None:
    help = "show errors with the whole traceback and all fields"
    parser.add_argument("--debug", action="store_true", help=help)


def _without_debug(args: Sequence[str]) -> list[str]:
    """Return the arguments without ``--debug``, which may be anywhere before ``--``."""
    end = args.index("--") if "--" in args else len(args)
    set_debug(on="--debug" in args[:end])
    return [*(arg for arg in args[:end] if arg != "--debug"), *args[end:]]


class _Version(argparse.Action):
    """Prints the version, which is looked up only then: that is slow."""

    def __init__(self, option_strings: list[str], dest: str, help: str) -> None:
        super().__init__(option_strings, dest, nargs=0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_others: object) -> None:
        import reactorl

        print(f"reactorl {reactorl.__version__}")
        parser.exit()
