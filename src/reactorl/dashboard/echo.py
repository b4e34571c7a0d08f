# SPDX-License-Identifier: Apache-2.0
"""Copies of the lines that a program prints."""

from __future__ import annotations

import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TextIO

_LONGEST = 10_000


class Echo:
    """A stream that writes to another one and passes complete lines to ``copy``."""

    def __init__(self, stream: TextIO, copy: Callable[[str], None]) -> None:
        self._stream = stream
        self._copy = copy
        self._begun: dict[int, str] = {}  # by thread: their lines do not mix

    def write(self, text: str) -> int:
        """Write text."""
        written = self._stream.write(text)
        me = threading.get_ident()
        *lines, rest = (self._begun.get(me, "") + text).split("\n")
        self._begun[me] = rest[:_LONGEST]
        for line in lines:
            self._copy(line)
        return written

    def writelines(self, lines: Any) -> None:  # noqa: ANN401
        """Write several texts."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(self._stream, name)


@contextmanager
def copy_lines(copy: Callable[[str], None], *names: str) -> Iterator[None]:
    """Pass the lines written to the named streams of ``sys`` to ``copy`` as well."""
    before = {name: getattr(sys, name) for name in names}
    echoes = {name: Echo(stream, copy) for name, stream in before.items() if stream}
    for name, echo in echoes.items():
        setattr(sys, name, echo)
    try:
        yield
    finally:
        for name, echo in echoes.items():
            if getattr(sys, name) is echo:  # unless it was replaced meanwhile
                setattr(sys, name, before[name])
