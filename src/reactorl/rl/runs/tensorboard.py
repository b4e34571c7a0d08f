# SPDX-License-Identifier: Apache-2.0
"""Scalars for TensorBoard, in an event file.

The file is a sequence of records, each a message of Protocol Buffers (``Event``) with
checksums. Scalars need few of its fields, so they are encoded here: the packages that
write event files import PyTorch where it is installed, which takes longer than a small
training.
"""

from __future__ import annotations

import os
import socket
import struct
import time
from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

FLUSH_SECONDS: Final = 10.0
"""Least number of seconds after which values are visible in TensorBoard."""

_VARINT, _DOUBLE, _BYTES, _FLOAT = 0, 1, 2, 5  # wire types
_START: Final = 1  # of SessionLog.SessionStatus


class EventFile:
    """Writes scalars to a new event file.

    Args:
        directory: Of the run.
        purge_step: TensorBoard ignores values of earlier files from this step on.

    Raises:
        OSError: The file cannot be written. This holds for all methods.
    """

    def __init__(self, directory: Path, purge_step: int | None = None) -> None:
        now = int(_wall_time())
        self.path = directory / f"events.out.tfevents.{now}.{socket.gethostname()}"
        self._file = self.path.open("wb")
        self._flushed = time.monotonic()
        self._write(_bytes(3, b"brain.Event:2"))  # file_version
        if purge_step is not None:
            start = _varint(1, _START)  # status
            self._write(_varint(2, purge_step) + _bytes(7, start))  # step, session_log

    def add_scalar(self, key: str, value: float, step: int) -> None:
        """Write one value."""
        tagged = _bytes(1, key.encode()) + _float(2, value)  # tag, simple_value
        summary = _bytes(1, tagged)  # value
        self._write(_varint(2, step) + _bytes(5, summary))  # step, summary
        if time.monotonic() - self._flushed >= FLUSH_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Write buffered values to the file."""
        self._flushed = time.monotonic()
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file, also if that raises."""
        self._file.close()

    def _write(self, fields: bytes) -> None:
        event = _double(1, _wall_time()) + fields  # wall_time
        length = struct.pack("<Q", len(event))
        self._file.write(length + _checksum(length) + event + _checksum(event))


# -- fields of messages ----------------------------------------------------------------


def _key(number: int, wire_type: int) -> bytes:
    return bytes([number << 3 | wire_type])


def _unsigned(value: int) -> bytes:
    groups = bytearray()
    while value > 0x7F:
        groups.append(value & 0x7F | 0x80)
        value >>= 7
    groups.append(value)
    return bytes(groups)


def _varint(number: int, value: int) -> bytes:
    return _key(number, _VARINT) + _unsigned(value)


def _bytes(number: int, value: bytes) -> bytes:
    return _key(number, _BYTES) + _unsigned(len(value)) + value


def _double(number: int, value: float) -> bytes:
    return _key(number, _DOUBLE) + struct.pack("<d", value)


def _float(number: int, value: float) -> bytes:
    try:
        packed = struct.pack("<f", value)
    except OverflowError:  # beyond the largest of 32 bits
        packed = struct.pack("<f", float("inf") if value > 0 else float("-inf"))
    return _key(number, _FLOAT) + packed


# -- checksums -------------------------------------------------------------------------


@cache
def _table() -> tuple[int, ...]:
    """Return the remainder of each byte, by Castagnoli's polynomial (CRC-32C)."""
    table = []
    for byte in range(256):
        remainder = byte
        for _ in range(8):
            remainder = remainder >> 1 ^ (0x82F63B78 if remainder & 1 else 0)
        table.append(remainder)
    return tuple(table)


def _checksum(data: bytes) -> bytes:
    """Return the CRC-32C of data, rotated and shifted as records have it."""
    table, remainder = _table(), 0xFFFFFFFF
    for byte in data:
        remainder = table[(remainder ^ byte) & 0xFF] ^ remainder >> 8
    remainder ^= 0xFFFFFFFF
    rotated = remainder >> 15 | remainder << 17
    return struct.pack("<I", (rotated + 0xA282EAD8) & 0xFFFFFFFF)


def _wall_time() -> float:
    return time.time()  # noqa: TID251 - TensorBoard shows it
