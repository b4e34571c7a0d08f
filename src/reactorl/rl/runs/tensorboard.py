# SPDX-License-Identifier: Apache-2.0
"""Scalars for TensorBoard, in an event file."""

from __future__ import annotations

import socket
import time
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pathlib import Path

FLUSH_SECONDS: Final = 10.0
"""Least number of seconds after which values are visible in TensorBoard."""


class EventFile:
    """Writes scalars to a new event file.

    The writer of tensorboardX has a thread. If the disk is full, that thread ends with
    a traceback of its own, and the next values wait for it for ever. Here an error is
    raised by the call that finds it.

    Args:
        directory: Of the run.
        purge_step: TensorBoard ignores values of earlier files from this step on.

    Raises:
        OSError: The file cannot be written. This holds for all methods.
    """

    def __init__(self, directory: Path, purge_step: int | None = None) -> None:
        from tensorboardX.proto.event_pb2 import Event, SessionLog
        from tensorboardX.record_writer import RecordWriter

        now = int(_wall_time())
        self.path = directory / f"events.out.tfevents.{now}.{socket.gethostname()}"
        self._records = RecordWriter(str(self.path))
        self._flushed = time.monotonic()
        self._write(Event(file_version="brain.Event:2"))
        if purge_step is not None:
            start = SessionLog(status=SessionLog.START)
            self._write(Event(step=purge_step, session_log=start))

    def add_scalar(self, key: str, value: float, step: int) -> None:
        """Write one value."""
        from tensorboardX.proto.event_pb2 import Event
        from tensorboardX.summary import scalar

        self._write(Event(step=step, summary=scalar(key, value)))
        if time.monotonic() - self._flushed >= FLUSH_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Write buffered values to the file."""
        self._flushed = time.monotonic()
        self._records.flush()

    def close(self) -> None:
        """Close the file, also if that raises."""
        self._records.close()

    def _write(self, event: Any) -> None:  # noqa: ANN401
        event.wall_time = _wall_time()
        self._records.write(event.SerializeToString())


def _wall_time() -> float:
    return time.time()  # noqa: TID251 - TensorBoard shows it
