# SPDX-License-Identifier: Apache-2.0
"""The secret of a run: 256 random bits that its federates have in common.

A launcher hands it over by a pipe that the child inherits, or in a file that only its
owner can read. It is never on a command line or in the environment, because other
users can see these. The object shows its key to no ``repr``, pickle or copy, and no
local variable holds the key where an exception is raised, because tracebacks can show
local variables.
"""

from __future__ import annotations

import hmac
import os
import secrets
import stat
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NoReturn

from reactorl._federation.link_errors import SecretError

if TYPE_CHECKING:
    from os import PathLike

SECRET_BYTES: Final = 32
MAC_BYTES: Final = 32
_FILE_BYTES: Final = 2 * SECRET_BYTES + 1  # hexadecimal, and the end of the line


class RunSecret:
    """A key that can be handed over and used, but not looked at."""

    __slots__ = ("_key",)

    def __init__(self, key: bytes) -> None:
        if len(key) != SECRET_BYTES:
            size = len(key)
            del key
            msg = f"the run's secret must have {SECRET_BYTES} bytes, got {size}"
            raise SecretError(msg)
        self._key = key

    @classmethod
    def generate(cls) -> RunSecret:
        """Return a new secret, from the operating system's random numbers."""
        return cls(secrets.token_bytes(SECRET_BYTES))

    def mac(self, label: bytes, *parts: bytes) -> bytes:
        """Return the HMAC-SHA256 of a label and parts; each counts with its length."""
        code = hmac.new(self._key, digestmod="sha256")
        for part in (label, *parts):
            code.update(len(part).to_bytes(8, "little"))
            code.update(part)
        return code.digest()

    def verify(self, mac: bytes, label: bytes, *parts: bytes) -> bool:
        """Return whether ``mac`` is that of label and parts, in constant time."""
        return hmac.compare_digest(mac, self.mac(label, *parts))

    def send(self, fd: int) -> None:
        """Write the secret to a pipe, and close that end.

        Raises:
            SecretError: The reader has gone.
        """
        try:
            # Fewer bytes than PIPE_BUF are written at once or not at all.
            os.write(fd, self._key)
        except OSError as error:
            msg = f"handing over the run's secret failed: {error.strerror}"
            raise SecretError(msg) from None
        finally:
            os.close(fd)

    @classmethod
    def receive(cls, fd: int) -> RunSecret:
        """Read the secret from an inherited pipe up to its end, and close it.

        Raises:
            SecretError: There are too few bytes, or too many.
        """
        try:
            found = _key_from(fd, SECRET_BYTES, hexadecimal=False)
        except OSError as error:
            msg = f"reading the run's secret failed: {error.strerror}"
            raise SecretError(msg) from None
        finally:
            with suppress(OSError):
                os.close(fd)
        if found is None:
            msg = f"the run's secret must be {SECRET_BYTES} bytes in a pipe"
            raise SecretError(msg, "The process that starts federates writes them.")
        return found

    def save(self, path: str | PathLike[str]) -> None:
        """Write a new file that only its owner can read.

        Raises:
            SecretError: The file exists, or cannot be written.
        """
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            fd = os.open(path, flags, 0o600)
            try:
                os.write(fd, self._key.hex().encode() + b"\n")
            finally:
                os.close(fd)
        except OSError as error:
            msg = f"writing the run's secret to {os.fspath(path)} failed: "
            raise SecretError(msg + str(error.strerror)) from None

    @classmethod
    def load(cls, path: str | PathLike[str]) -> RunSecret:
        """Read a file that ``save`` has written.

        Raises:
            SecretError: It is not such a file, or others may read or replace it.
        """
        name = os.fspath(path)
        # Not blocking: a path to a pipe without a writer must not hang.
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
        try:
            fd = os.open(path, flags)
        except OSError as error:
            msg = f"reading the run's secret from {name} failed: {error.strerror}"
            raise SecretError(msg) from None
        try:
            _check_private(fd, name)
            found = _key_from(fd, _FILE_BYTES, hexadecimal=True)
        finally:
            os.close(fd)
        if found is None:
            msg = f"{name} must contain {2 * SECRET_BYTES} hexadecimal digits"
            raise SecretError(msg, "It is the file that --token-file of the run names.")
        return found

    def __repr__(self) -> str:
        return "RunSecret(...)"

    def __reduce__(self) -> NoReturn:
        msg = "a RunSecret cannot be copied or pickled; use send() or save()"
        raise TypeError(msg)


def _check_private(fd: int, name: str) -> None:
    found = os.fstat(fd)
    if not stat.S_ISREG(found.st_mode):
        msg = f"{name} must be a regular file"
        raise SecretError(msg)
    if found.st_mode & 0o077:
        mode = stat.S_IMODE(found.st_mode)
        msg = f"{name} must have mode 600, got {mode:o}: others can read the secret"
        remedy = "Start a new run, which makes a new secret."
        raise SecretError(msg, remedy)
    if found.st_uid not in (os.geteuid(), 0):
        msg = f"{name} must belong to you, got user id {found.st_uid}"
        raise SecretError(msg)


def _key_from(fd: int, size: int, *, hexadecimal: bool) -> RunSecret | None:
    """Read up to the end; None if it is not a key of this size."""
    data = b""
    while len(data) <= size and (more := os.read(fd, size + 1 - len(data))):
        data += more
    if len(data) != size:
        return None
    if not hexadecimal:
        return RunSecret(data)
    try:
        return RunSecret(bytes.fromhex(data.decode()))
    except (ValueError, SecretError):
        return None
