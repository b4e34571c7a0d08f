# SPDX-License-Identifier: Apache-2.0
"""Exceptions of bodies as text: the traceback of the ``.lf`` file, and where it was."""

from __future__ import annotations

import sys
import traceback
from pathlib import Path

import reactorl
from reactorl.errors import (
    AccessError,
    ReactionError,
    ReactorlError,
    SharedValueError,
)

_PACKAGE = str(Path(reactorl.__file__).parent)


def explain(error: BaseException) -> str:
    """Return what happened, without the frames of this package.

    Who leaves a debugger knows what happened.
    """
    debugger = sys.modules.get("bdb")
    if debugger is not None and isinstance(error.__cause__ or error, debugger.BdbQuit):
        return ""
    if isinstance(error, ReactionError) and error.__cause__ is not None:
        head = f"{error.where}: reaction {error.reaction} failed at {_tag(error)}\n"
        return _trace(error.__cause__) + head
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
        [frame for frame in shown.stack if not frame.filename.startswith(_PACKAGE)]
    )
    for other in (shown.__cause__, shown.__context__):
        if other is not None:
            _without_ours(other)
