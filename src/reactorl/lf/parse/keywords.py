# SPDX-License-Identifier: Apache-2.0
"""The words of LF: those that cannot be names.

Units of time are ordinary names elsewhere. Whether a name is fit for Python is not
asked here.
"""

from __future__ import annotations

from typing import Final

END: Final = "$END"
"""The kind of the token behind the last one."""

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
"""Words that begin a part of a file."""

CLASS_WORDS: Final = frozenset(
    ["target", "import", "main", "federated", "realtime", "reactor"]
)
"""Words that begin a part of a file and nothing in a reactor."""

CLASS_STARTS: Final = frozenset(["main", "federated", "realtime", "reactor"])
"""Words that begin a reactor."""

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
"""Words that begin a member and stand nowhere else; ``reset`` may do so too."""

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
"""Words that cannot be names."""

BOOLS: Final = frozenset(["true", "True", "false", "False"])

TIMES: Final = frozenset(["forever", "never"])
"""Words that are times without a number."""
