# SPDX-License-Identifier: Apache-2.0
"""The error that ended a federate, on its way to the process that started the run."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING

from reactorl._federation.codec import Payload, decode, encode
from reactorl._federation.frames import Failed
from reactorl._federation.link_errors import CodecError
from reactorl.errors import ReactorlError

if TYPE_CHECKING:
    from reactorl._federation.frames import Facts


def pack_error(error: BaseException) -> Failed:
    """Return an error, with its cause, as a frame."""
    facts: Facts = {
        "text": "".join(traceback.format_exception_only(error)).strip(),
        # Of a ReactionError, that of the body; the rest is the same in each process.
        "traceback": "".join(traceback.format_exception(error.__cause__ or error)),
    }
    for cause in (error.__cause__, None):
        try:
            payload = encode((error, cause))
            decode(*payload)  # exceptions of users often cannot be made again
        except CodecError:
            continue
        return Failed(facts, payload)
    return Failed(facts, Payload(b""))


def unpack_error(failed: Failed, name: str) -> BaseException:
    """Return the error of a federate, with a note that has its traceback.

    Args:
        failed: The frame.
        name: The federate.
    """
    facts, payload = failed
    error: BaseException = ReactorlError(f"federate {name} failed: {facts.get('text')}")
    cause: BaseException | None = None
    if payload.data:
        try:
            error, cause = decode(*payload)
        except CodecError as reason:
            error.add_note(str(reason))
    error.__cause__ = cause
    note = f"In federate {name}:\n{facts.get('traceback')}"
    (error if cause is None else cause).add_note(note.rstrip())
    return error
