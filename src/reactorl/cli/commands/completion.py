# SPDX-License-Identifier: Apache-2.0
"""``reactorl completion``: a script that teaches a shell to complete our commands.

What can be completed is read off the parsers, so a command that is added is completed,
too. The flags of ``train`` belong to algorithms, whose packages are slow to load: the
scripts ask for them when the first one is wanted, with ``--flags``.
"""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from reactorl.cli.support.errors import fail

if TYPE_CHECKING:
    from collections.abc import Iterator

DESCRIPTION = """\
Print a script that lets a shell complete commands, options, .lf files, runs and
algorithms when the tab key is pressed.
"""
EPILOG = """\
examples:
  reactorl completion fish | source        in ~/.config/fish/config.fish
  eval "$(reactorl completion bash)"       in ~/.bashrc
  eval "$(reactorl completion zsh)"        in ~/.zshrc, after compinit

exit status: 0, or 2 if there is no such shell.
"""
SHELLS = ("bash", "zsh", "fish")

# What a value is, by the words of its name in the help. The first that fits counts.
_KINDS = (
    ("algorithm", {"ALGORITHM"}),
    ("program", {"lf"}),
    ("target", {"TARGET", "PROGRAM"}),
    ("directory", {"DIR", "DIRECTORY"}),
    ("file", {"FILE", "PATH", "OUT", "OUTPUT", "A", "B"}),
    ("run", {"RUN", "RUNS"}),
)


@dataclass(frozen=True)
class Option:
    """An option of a command.

    Attributes:
        names: As they are written.
        help: What it does.
        kind: What its value is: a kind of above, "words", "value" for what cannot be
            completed, "" if it takes none.
        words: What the value can be.
    """

    names: tuple[str, ...]
    help: str
    kind: str = ""
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class Command:
    """A command: what it does, its options, and what its arguments are.

    Attributes:
        name: As it is written.
        help: What it does.
        options: Its options.
        kind: What its arguments are; "words" if it is one of ``words``.
        words: What the argument can be.
    """

    name: str
    help: str
    options: tuple[Option, ...]
    kind: str = ""
    words: tuple[str, ...] = ()


def add_to(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the parser of this command."""
    parser = subparsers.add_parser(
        "completion",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("shell", nargs="?", choices=SHELLS, help="which shell")
    which.add_argument(
        "--flags",
        metavar="ALGORITHM",
        help="print the flags of 'train' with an algorithm; the scripts ask for them",
    )
    parser.set_defaults(command=command)


def command(args: argparse.Namespace) -> int:
    """Print a script; return the exit status."""
    from reactorl.cli.support import shells

    if args.flags is not None:
        return _print_flags(args.flags)
    script = getattr(shells, args.shell)
    print(script(commands(), general()), end="")
    return 0


def commands() -> list[Command]:
    """Return all commands there are."""
    from reactorl.cli.main import COMMANDS, make_parser

    found = []
    for name, summary in COMMANDS.items():
        actions = make_parser(name)[1][name]._actions
        places = [_option(a) for a in actions if not a.option_strings]
        first = places[0] if places else Option((), "")
        options = tuple(_option(a) for a in actions if a.option_strings)
        found.append(Command(name, summary, options, first.kind, first.words))
    return found


def general() -> tuple[Option, ...]:
    """Return the options that are given without a command."""
    from reactorl.cli.main import make_parser

    return tuple(_option(a) for a in make_parser()[0]._actions if a.option_strings)


def _option(action: argparse.Action) -> Option:
    names, help = tuple(action.option_strings), _short(action.help or "")
    if action.nargs == 0 or (names and action.nargs == "?"):
        return Option(names, help)  # what may follow is more often something else
    if action.choices is not None:
        return Option(names, help, "words", tuple(map(str, action.choices)))
    metavar = action.metavar if isinstance(action.metavar, str) else action.dest
    kind = kind_of(metavar)
    if kind == "algorithm":
        return Option(names, help, "words", tuple(_algorithms()))
    if not names and kind == "value":
        kind = "file"
    return Option(names, help, kind)


def kind_of(metavar: str) -> str:
    """Return what a value is, going by its name in the help."""
    words = {*re.findall(r"[A-Z]+|\blf\b", metavar)}
    return next((kind for kind, names in _KINDS if names & words), "value")


def _short(help: str) -> str:
    """Return what an option does in a few words, without what follows a semicolon."""
    return re.split(r"[;:(]| e\.g\.", help)[0].strip()


def _algorithms() -> list[str]:
    """Return the algorithms that the help of ``train`` names."""
    from reactorl.cli.commands.train import DESCRIPTION as TRAIN

    part = TRAIN.split("algorithms:\n")[1].split("\n\n")[0]
    return [line.split()[0] for line in part.splitlines()]


# -- the flags of train --


def _print_flags(algorithm: str) -> int:
    try:
        from reactorl.rl.algorithms.registry import settings_of
        from reactorl.rl.flow.algorithm import FlowError
    except ImportError:
        return 0  # what training needs is not installed: there is nothing to offer
    try:
        settings = settings_of(algorithm)
    except FlowError as error:
        return fail(error)
    for name, kind in flags(settings):
        print(name, kind or "switch")
    return 0


def flags(settings: type) -> Iterator[tuple[str, str]]:
    """Yield the flags of an algorithm, and what the value of each is."""
    from reactorl.cli.commands.train import Options

    kinds = {"resume": "run", "runs_dir": "directory"}
    for field in (*fields(settings), *fields(Options)):
        name = field.name.replace("_", "-")
        if isinstance(field.default, bool):
            yield f"--{name}", ""
            yield f"--no-{name}", ""
        else:
            yield f"--{name}", kinds.get(field.name, "value")
