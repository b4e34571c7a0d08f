# SPDX-License-Identifier: Apache-2.0
"""How every command says what went wrong: short, or with ``--debug`` everything.

Short is what, where, and the way out::

    reactorl: error: there is no algorithm 'dqm'
      help: Did you mean 'dqn'?

and for exceptions of bodies the traceback of the user's own files, and where it was.
With ``--debug`` the whole traceback and the error's fields come before that.
"""

from __future__ import annotations

import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

import reactorl
from reactorl.cli.support.console import debugging, say
from reactorl.errors import (
    AccessError,
    ReactionError,
    ReactorlError,
    SharedValueError,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reactorl.lf.diagnostics import Report

_OTHERS = (str(Path(reactorl.__file__).parent), "<frozen importlib")
_SHOWN: list[BaseException] = []  # in full; the last one
REPORT = (
    "This is a mistake in reactorl or in what it uses. 'reactorl --debug ...' shows "
    "where; please report that together with what 'reactorl doctor' says."
)


def fail(
    what: object, status: int = 2, *, help: str = "", prog: str = "reactorl"
) -> int:
    """Say what is wrong, in one message; return the exit status.

    Args:
        what: An error, which knows the way out, or the fact.
        status: The exit status.
        help: The way out, if the fact alone is given.
        prog: The command that failed.
    """
    say(_in_full(what) + message(what, help, prog))
    return status


def fail_unexpectedly(error: BaseException) -> int:
    """Say that something happened that no command expects; return the exit status."""
    if isinstance(error, ReactorlError):
        say(explain(error))
        return 1
    if isinstance(error, OSError) and error.strerror:
        name = "" if error.filename is None else f"{error.filename}: "
        return fail(f"{name}{error.strerror.lower()}", 1)
    frame = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{frame.filename}:{frame.lineno}"
    said = f"{type(error).__name__}: {error}".rstrip(": ")
    return fail(f"{said} ({place})", 1, help=REPORT)


def message(what: object, help: str = "", prog: str = "reactorl") -> str:
    """Return the short form: the fact, and below it the way out."""
    text = str(what).rstrip("\n")
    remedy = getattr(what, "remedy", "") if isinstance(what, ReactorlError) else ""
    if remedy and text.endswith(remedy):
        text, help = text.removesuffix(remedy).rstrip(), remedy
    fact, *more = text.split("\n")
    if help:
        fact = fact if more else fact.removesuffix(".")
        more.append(f"  help: {help}")
    return "\n".join([f"{prog}: error: {fact}", *more, ""])


def show(report: Report, level: str = "warn") -> None:
    """Say everything that was found in ``.lf`` files, each with an empty line after it.

    Args:
        report: What was found.
        level: With "error", warnings are not said.
    """
    for diagnostic in report.in_order():
        if diagnostic.severity == "error" or level != "error":
            say(f"{diagnostic.render()}\n\n")


def explain(error: BaseException) -> str:
    """Return what happened in a program, without the frames of this package.

    Who leaves a debugger knows what happened.
    """
    debugger = sys.modules.get("bdb")
    if debugger is not None and isinstance(error.__cause__ or error, debugger.BdbQuit):
        return ""
    return _in_full(error) + _explained(error)


def _explained(error: BaseException) -> str:
    if isinstance(error, ReactionError) and error.__cause__ is not None:
        what = f"reaction {error.reaction} failed at {_tag(error)}"
        return _trace(error.__cause__) + f"{error.where}: {what}\n"
    if isinstance(error, AccessError):
        return _access(error)
    if isinstance(error, ReactorlError):
        notes = "".join(f"{note}\n" for note in getattr(error, "__notes__", ()))
        return _fault(error) + notes
    return _trace(error)


def _tag(error: ReactionError) -> str:
    return f"elapsed tag {error.tag}"


def _access(error: AccessError) -> str:
    fix = error.fix.split(": @reaction")[0]
    return (
        f"{error.where}: reaction {error.reaction} {error.access} {error.element}, "
        f"which its signature does not allow\n  help: {fix}\n"
    )


def _fault(error: ReactorlError) -> str:
    if not isinstance(error, SharedValueError):
        return f"{error}\n"
    return (
        f"{error.where}: {error.what}\n  help: Change a copy, or declare the input "
        "mutable: 'mutable input' gives each reaction a copy of its own.\n"
    )


def _trace(error: BaseException) -> str:
    shown = traceback.TracebackException.from_exception(error)
    _without_ours(shown)
    return "".join(shown.format())


def _without_ours(shown: traceback.TracebackException) -> None:
    shown.stack = traceback.StackSummary.from_list(
        [frame for frame in shown.stack if not frame.filename.startswith(_OTHERS)]
    )
    for other in (shown.__cause__, shown.__context__):
        if other is not None:
            _without_ours(other)


# -- with --debug --


def _in_full(what: object) -> str:
    """Return the traceback and the fields of an error, if that is wanted."""
    error = what if isinstance(what, BaseException) else sys.exception()
    if not debugging() or error is None or error in _SHOWN:
        return ""
    _SHOWN[:] = [error]
    return "".join([*traceback.format_exception(error), *_fields(error), "\n"])


def _fields(error: BaseException) -> Iterator[str]:
    kind = type(error)
    fields = {k: v for k, v in vars(error).items() if not k.startswith("_")}
    if fields:
        yield f"fields of {kind.__module__}.{kind.__qualname__}:\n"
    for name, value in fields.items():
        yield f"  {name} = {value!r}\n"
