# SPDX-License-Identifier: Apache-2.0
"""A line on stderr that shows what takes long."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from reactorl._util.status_line import StatusLine

if TYPE_CHECKING:
    import pytest


class Clock:
    """Seconds that are set by the test."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_lines_are_ten_seconds_apart(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    with StatusLine(clock=clock) as line:
        for seconds in range(25):
            clock.now = float(seconds)
            line.show(f"at {seconds}")
    assert capsys.readouterr().err == "at 10\nat 20\n"


def test_terminal_shows_one_line_and_removes_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    clock = Clock()
    with StatusLine(clock=clock) as line:
        for tenths in (1, 3, 4, 6):
            clock.now = tenths / 10
            line.show(f"at {tenths}")
    assert capsys.readouterr().err == "\r\x1b[2Kat 3\r\x1b[2Kat 6\r\x1b[2K"


def test_what_is_short_or_switched_off_shows_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    clock = Clock()
    with StatusLine(clock=clock) as line:
        line.show("short")
    with StatusLine(is_on=False, clock=clock) as line:
        clock.now = 90.0
        line.show("off")
    assert capsys.readouterr().err == ""
