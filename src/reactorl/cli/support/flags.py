# SPDX-License-Identifier: Apache-2.0
"""What tyro says of wrong flags, said as all commands say what is wrong.

tyro draws parts between rules (and around them a frame, if it can be printed): what is
wrong, which flags are near, where there is more. A message in our form is made of it.
"""

from __future__ import annotations

import io
import re
import sys
from contextlib import contextmanager, redirect_stderr
from typing import TYPE_CHECKING

from reactorl.cli.support.console import say

if TYPE_CHECKING:
    from collections.abc import Iterator

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_FLAG = re.compile(r"--[a-z][a-z0-9-]*")


@contextmanager
def our_words(prog: str) -> Iterator[None]:
    """Let mistakes in flags be said in our form; the way out is as before.

    Args:
        prog: The command whose flags they are.
    """
    held = io.StringIO()
    try:
        with redirect_stderr(held):
            yield
    except SystemExit as end:
        if end.code:
            say(reworded(held.getvalue(), prog))
        raise
    sys.stderr.write(held.getvalue())


def reworded(text: str, prog: str) -> str:
    """Return tyro's message in our form; as it is if there are no parts."""
    plain = _COLOURS.sub("", text)
    parts: list[list[str]] = [[]]
    for line in plain.splitlines():
        inside = line.strip().strip("│|").strip()
        if line.lstrip().startswith(("╭", "╰")) or not inside:
            continue
        if set(inside) <= {"─", "-"}:
            parts.append([])
        else:
            parts[-1].append(inside)
    if "╭" not in plain:
        del parts[0]  # the title, which is a part of its own without a frame
    if not parts or not parts[0]:
        return text
    what = " ".join(parts[0])
    near = [_FLAG.match(line) for part in parts[1:] for line in part]
    flags = [found[0] for found in near if found and found[0] not in what]
    named = _FLAG.findall(what)
    help = f"'{prog} --help' explains all flags."
    if flags and named:
        help = f"Did you mean '{flags[0]}'?"
    what = what.removeprefix("Error parsing ")
    return f"{prog}: error: {what[:1].lower()}{what[1:]}\n  help: {help}\n"
