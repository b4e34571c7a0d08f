# SPDX-License-Identifier: Apache-2.0
"""How every command prints an error: short, or with ``--debug`` all of it.

Errors are ``Diagnostic`` values until they are printed here. The short form is the
fact, its position and the remedy::

    reactorl: error: unknown algorithm 'dqm'
      help: Did you mean 'dqn'?

For an exception in a body it is the traceback in the user's own files, and the
reaction. With ``--debug`` the whole traceback and the fields of the error precede it.
"""

from __future__ import annotations

import sys
import traceback
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import reactorl
from reactorl.cli.support.console import debugging, say
from reactorl.cli.support.streams import stdout_is_broken
from reactorl.diagnostics import Diagnostic, Severity
from reactorl.errors import AccessError, ReactionError, ReactorlError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from reactorl.cli.support.console import Part

_STYLES = {
    "where": "bold",
    "error": "bold red",
    "warning": "bold yellow",
    "note": "cyan",
    "what": "bold",
    "source": "dim",
    "caret": "bold red",
    "help": "bold green",
}
"""Styles of the parts of a diagnostic, by their role."""
_LF_REMEDIES = {
    "shared-value": "Change a copy, or declare the input mutable: 'mutable input' "
    "gives each reaction a copy of its own.",
}
"""Remedies in terms of LF, by the code of a diagnostic."""
_HIDDEN = (str(Path(reactorl.__file__).parent), "<frozen importlib")
_DETAILED: list[BaseException] = []  # the last error that was printed in full
REPORT = (
    "This is a defect in reactorl or in a library it uses. 'reactorl --debug ...' "
    "shows the traceback; please report it with the output of 'reactorl doctor'."
)


def fail(
    what: ReactorlError | Diagnostic | str,
    status: int = 2,
    *,
    help: str = "",
    prog: str = "reactorl",
) -> int:
    """Print an error; return the exit status.

    Args:
        what: The error, or only the fact.
        status: The exit status.
        help: The remedy, if only the fact is given.
        prog: The command that failed.

    Raises:
        BrokenPipeError: It is the error that is being handled. The reader of stdout
            has ended, which is not an error of the command.
    """
    error = sys.exception()
    if isinstance(error, BrokenPipeError) and stdout_is_broken():
        raise error
    if isinstance(what, ReactorlError):
        found = what.diagnostic
    else:
        found = Diagnostic(what, remedy=help) if isinstance(what, str) else what
    show(getattr(what, "diagnostics", ()))  # of all files, if it is an LfError
    if found.where is not None:
        found = replace(found, what=f"{found.where}: {found.what}", where=None)
    head = (f"{prog}: ", _STYLES["where"])
    say(*_details(what), head, *rendered(found), "\n")
    return status


def fail_unexpectedly(error: BaseException) -> int:
    """Print an error that the command does not handle; return the exit status."""
    if isinstance(error, ReactorlError):
        say(*explained(error))
        return 1
    if isinstance(error, OSError) and error.strerror:
        return fail(reason(error), 1)
    if isinstance(error, MemoryError):
        # NumPy's message says what was too large; others have none.
        what = f"memory is exhausted: {error}".rstrip(": ")
        return fail(what, 1, help="Use smaller sizes, or a machine with more memory.")
    frame = traceback.extract_tb(error.__traceback__)[-1]
    text = f"{type(error).__name__}: {error}".rstrip(": ")
    return fail(f"{text} ({frame.filename}:{frame.lineno})", 1, help=REPORT)


def reason(error: OSError, name: object = None) -> str:
    """Return the file and the reason of an error of the operating system.

    Args:
        error: The error.
        name: The file, if the error does not name one.
    """
    file = error.filename or name
    text = (error.strerror or str(error)).lower()
    return text if file is None else f"{file}: {text}"


def missing(packages: Sequence[str], command: str) -> Diagnostic | None:
    """Return an error if packages that a command requires are not installed."""
    absent = [name for name in packages if find_spec(name) is None]
    if not absent:
        return None
    what = f"'reactorl {command}' requires packages that are not installed: "
    remedy = "Install them: pip install 'reactorl[train]'"
    return Diagnostic(what + ", ".join(absent), remedy=remedy)


def show(diagnostics: Iterable[Diagnostic], level: str = "warn") -> None:
    """Print diagnostics, each with an empty line after it.

    Args:
        diagnostics: The diagnostics, in order.
        level: With "error", warnings are not printed.
    """
    for diagnostic in diagnostics:
        if diagnostic.severity is Severity.ERROR or level != "error":
            say(*rendered(diagnostic), "\n\n")


def rendered(diagnostic: Diagnostic) -> Iterator[Part]:
    """Yield the text of a diagnostic, with styles."""
    for text, role in diagnostic.parts():
        yield text, _STYLES.get(role, "")


def explained(error: BaseException) -> Iterator[Part]:
    """Yield the description of an error in a program, without frames of this package.

    It is empty when the user has quit a debugger.
    """
    debugger = sys.modules.get("bdb")
    if debugger is not None and isinstance(error.__cause__ or error, debugger.BdbQuit):
        return
    yield from _details(error)
    if isinstance(error, ReactionError) and error.__cause__ is not None:
        yield from _traceback(error.__cause__)
        yield f"{error.where}: ", _STYLES["where"]
        yield f"reaction {error.reaction} failed at elapsed tag {error.tag}\n"
        yield from (f"{note}\n" for note in getattr(error, "__notes__", ()))
    elif isinstance(error, ReactorlError):
        yield from rendered(_in_lf(error))
        yield "\n"
        yield from (f"{note}\n" for note in getattr(error, "__notes__", ()))
    else:
        yield from _traceback(error)


def _in_lf(error: ReactorlError) -> Diagnostic:
    """Return an error of a run with a remedy in terms of LF."""
    found = error.diagnostic
    if isinstance(error, AccessError):
        return replace(found, remedy=f"{error.fix[:1].upper()}{error.fix[1:]}.")
    return replace(found, remedy=_LF_REMEDIES.get(found.code, found.remedy))


def _traceback(error: BaseException) -> Iterator[Part]:
    shown = traceback.TracebackException.from_exception(error)
    raised = set(_hide_frames(shown))
    for text in shown.format():
        yield (text, _STYLES["error"]) if text in raised else text


def _hide_frames(shown: traceback.TracebackException) -> Iterator[str]:
    """Remove frames of this package; yield the lines that name the exceptions."""
    shown.stack = traceback.StackSummary.from_list(
        [frame for frame in shown.stack if not frame.filename.startswith(_HIDDEN)]
    )
    yield from shown.format_exception_only()
    for other in (shown.__cause__, shown.__context__):
        if other is not None:
            yield from _hide_frames(other)


def _details(what: object) -> Iterator[str]:
    """Yield the traceback and the fields of an error, with ``--debug``."""
    error = what if isinstance(what, BaseException) else sys.exception()
    if not debugging() or error is None or error in _DETAILED:
        return
    _DETAILED[:] = [error]
    yield from traceback.format_exception(error)
    kind = type(error)
    fields = {k: v for k, v in vars(error).items() if not k.startswith("_")}
    if fields:
        yield f"fields of {kind.__module__}.{kind.__qualname__}:\n"
    for name, value in fields.items():
        yield f"  {name} = {value!r}\n"
    yield "\n"
