# SPDX-License-Identifier: Apache-2.0
"""Keywords of LF.

Units of time are ordinary names elsewhere. Python's own keywords are checked by
``link/rules/names.py``.
"""

from __future__ import annotations

from typing import Final

END: Final = "$END"
"""The kind of the token at the end of the text."""

FILE_WORDS: Final = frozenset(
    [
        "target",
        "import",
        "preamble",
        "private",
        "public",
        "main",
        "federated",
        "realtime",
        "reactor",
    ]
)
"""Keywords that begin a part of a file."""

CLASS_WORDS: Final = frozenset(
    ["target", "import", "main", "federated", "realtime", "reactor"]
)
"""Keywords that begin a part of a file, but no member of a reactor."""

CLASS_STARTS: Final = frozenset(["main", "federated", "realtime", "reactor"])
"""Keywords that begin a reactor."""

MEMBER_WORDS: Final = frozenset(
    [
        "preamble",
        "private",
        "public",
        "state",
        "method",
        "const",
        "input",
        "output",
        "mutable",
        "timer",
        "action",
        "logical",
        "physical",
        "watchdog",
        "reaction",
        "mutation",
        "mode",
        "initial",
    ]
)
"""Keywords that only occur at the start of a member. ``reset`` may begin one, too."""

KEYWORDS: Final = (
    FILE_WORDS
    | MEMBER_WORDS
    | frozenset(
        [
            "as",
            "from",
            "at",
            "extends",
            "reset",
            "widthof",
            "new",
            "after",
            "serializer",
            "interleaved",
            "startup",
            "shutdown",
            "history",
            "tardy",
            "STAA",
            "STP",
            "deadline",
        ]
    )
)
"""All keywords; none of them can be a name."""

BOOLS: Final = frozenset(["true", "True", "false", "False"])

TIMES: Final = frozenset(["forever", "never"])
"""Times without a number."""
