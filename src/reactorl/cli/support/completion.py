# SPDX-License-Identifier: Apache-2.0
"""Shell completion by argcomplete: what each argument can be.

When the tab key is pressed, the shell runs ``reactorl`` with the line in environment
variables, and argcomplete answers from the parser of the command. Arguments without an
entry below are completed with their choices, or not at all.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator, Mapping

    Completer = Callable[..., Iterator[str]]

VARIABLE = "_ARGCOMPLETE"
"""Environment variable that argcomplete's shell functions set."""


def complete() -> None:
    """Print the completions of the line that is being typed, and end the process."""
    try:
        import argcomplete
        from argcomplete.lexers import split_line
    except ImportError:
        os._exit(1)
    line = split_line(os.environ["COMP_LINE"], int(os.environ["COMP_POINT"]))
    words = line[3][int(os.environ[VARIABLE]) :]
    argcomplete.autocomplete(
        make_completion_parser(words), always_complete_options=False
    )


def make_completion_parser(words: list[str]) -> argparse.ArgumentParser:
    """Return the parser with completers for the command in ``words``.

    Args:
        words: The complete words after ``reactorl``.
    """
    import argparse

    from reactorl.cli.main import COMMANDS, make_parser

    given = [word for word in words if not word.startswith("-")]
    command = given[0] if given else None
    if command is not None and command not in COMMANDS:
        return argparse.ArgumentParser(add_help=False)
    if command != "train":
        parser, commands = make_parser(command)
        if command is not None:
            _attach(commands[command], COMPLETERS.get(command, {}))
        return parser
    parser, commands = make_parser()
    algorithm = commands["train"].add_argument("algorithm")
    if len(given) > 1:
        _add_flags(commands["train"], given[1])
    _attach(commands["train"], COMPLETERS["train"])
    algorithm.completer = algorithms  # type: ignore[attr-defined]
    return parser


def _add_flags(parser: argparse.ArgumentParser, algorithm: str) -> None:
    try:
        from reactorl.cli.commands.train import flags_of
        from reactorl.rl import algorithm_names
    except ImportError:  # without the extra 'train' there are no flags to offer
        return
    if algorithm in algorithm_names():
        flags_of(algorithm).add_to(parser)


def _attach(
    parser: argparse.ArgumentParser, completers: Mapping[str, Completer]
) -> None:
    for action in parser._actions:
        if not action.choices and action.nargs != 0:
            completer: Any = completers.get(action.dest, nothing)
            action.completer = completer  # type: ignore[attr-defined]


# -- completers -----------------------------------------------------------------------


def nothing(**_: object) -> Iterator[str]:
    """Yield nothing: the value is a number or a free text."""
    return iter(())


def files(*suffixes: str) -> Completer:
    """Return a completer for directories and files with one of the suffixes."""

    def found(prefix: str, **_: object) -> Iterator[str]:
        head, begun = prefix[: prefix.rfind("/") + 1], prefix[prefix.rfind("/") + 1 :]
        for path in sorted(Path(head or ".").expanduser().glob("*")):
            hidden = path.name.startswith(".") and not begun.startswith(".")
            if hidden or not path.name.startswith(begun):
                continue
            if path.is_dir():
                yield f"{head}{path.name}/"
            elif not suffixes or path.suffix in suffixes:
                yield f"{head}{path.name}"

    return found


def directories(prefix: str, **_: object) -> Iterator[str]:
    """Yield directories."""
    return (path for path in files()(prefix) if path.endswith("/"))


def runs(prefix: str, **_: object) -> Iterator[str]:
    """Yield the directories in ``runs/``, or those that begin with the prefix."""
    return directories(prefix or "runs/")


def algorithms(**_: object) -> Iterator[str]:
    """Yield the names of all algorithms."""
    try:
        from reactorl.rl import algorithm_names
    except ImportError:
        return iter(())
    return iter(algorithm_names())


COMPLETERS: Mapping[str, Mapping[str, Completer]] = {
    "run": {"file": files(".lf"), "trace": files(), "timing": files()},
    "check": {"files": files(".lf")},
    "fmt": {"paths": files(".lf")},
    "graph": {"target": files(".lf", ".py"), "output": files()},
    "trace": {
        "trace": files(),
        "perfetto": files(".json"),
        "html": files(".html"),
        "program": files(".lf", ".py"),
    },
    "diff": {"a": files(), "b": files()},
    "bench": {"out": directories},
    "train": {"resume": runs, "runs_dir": directories},
    "eval": {"run": runs},
    "runs": {"runs_dir": directories},
    "plot": {"runs": runs, "output": files()},
}
"""By command and argument: what it can be."""
