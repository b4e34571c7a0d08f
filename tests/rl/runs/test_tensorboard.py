# SPDX-License-Identifier: Apache-2.0
"""Event files are what the readers of TensorBoard expect, to the last byte."""

from __future__ import annotations

import math
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytest.importorskip("tensorboardX")
from tensorboardX.proto.event_pb2 import Event, SessionLog
from tensorboardX.proto.summary_pb2 import Summary
from tensorboardX.record_writer import RecordWriter

from reactorl.rl.runs import tensorboard
from reactorl.rl.runs.tensorboard import EventFile

if TYPE_CHECKING:
    from pathlib import Path

NOW = 1_700_000_000.25


@pytest.fixture(autouse=True)
def _wall_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tensorboard, "_wall_time", lambda: NOW)


def expected(path: Path, events: list[Event]) -> bytes:
    writer = RecordWriter(str(path))
    for event in [Event(file_version="brain.Event:2"), *events]:
        event.wall_time = NOW
        writer.write(event.SerializeToString())
    writer.close()
    return path.read_bytes()


def scalar(key: str, value: float, step: int) -> Event:
    summary = Summary(value=[Summary.Value(tag=key, simple_value=value)])
    return Event(step=step, summary=summary)


@settings(
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    st.lists(
        st.tuples(
            st.text(min_size=1, max_size=200),
            st.floats(width=32, allow_nan=False),
            st.integers(1, 2**62),
        ),
        max_size=5,
    )
)
def test_bytes_are_those_of_the_library(
    tmp_path: Path, values: list[tuple[str, float, int]]
) -> None:
    file = EventFile(tmp_path)
    for key, value, step in values:
        file.add_scalar(key, value, step)
    file.close()

    events = [scalar(*entry) for entry in values]
    assert file.path.read_bytes() == expected(tmp_path / "library", events)


def test_a_resumed_run_purges_later_values(tmp_path: Path) -> None:
    file = EventFile(tmp_path, purge_step=300)
    file.close()

    start = Event(step=300, session_log=SessionLog(status=SessionLog.START))
    assert file.path.read_bytes() == expected(tmp_path / "library", [start])


@pytest.mark.parametrize("value", [1e300, -1e300, math.nan])
def test_values_beyond_32_bits_are_infinite(tmp_path: Path, value: float) -> None:
    file = EventFile(tmp_path)
    file.add_scalar("loss", value, 1)
    file.close()

    content = file.path.read_bytes()
    first = int.from_bytes(content[:8], "little") + 16
    size = int.from_bytes(content[first : first + 8], "little")
    event = Event.FromString(content[first + 12 : first + 12 + size])
    (found,) = event.summary.value
    if math.isnan(value):
        assert math.isnan(found.simple_value)
    else:
        assert found.simple_value == math.copysign(math.inf, value)


def test_writing_imports_no_other_library(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from reactorl.rl.runs.tensorboard import EventFile\n"
        "file = EventFile(Path(sys.argv[1]))\n"
        "file.add_scalar('loss', 0.5, 1)\n"
        "file.close()\n"
        "print({'torch', 'tensorboardX', 'google.protobuf'} & set(sys.modules))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout == "set()\n"
