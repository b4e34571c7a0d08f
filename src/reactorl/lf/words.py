# SPDX-License-Identifier: Apache-2.0
"""The words of LF: those that cannot be names, and the units of time.

Units are ordinary names elsewhere. Whether a name is fit for Python is not asked here.
"""

from __future__ import annotations

from typing import Final

FILE_WORDS: Final = frozenset(
    "target import preamble private public main federated realtime reactor".split()
)
"""Words that begin a part of a file."""

CLASS_WORDS: Final = frozenset("target import main federated realtime reactor".split())
"""Words that begin a part of a file and nothing in a reactor."""

MEMBER_WORDS: Final = frozenset(
    "preamble private public state method const input output mutable timer action "
    "logical physical watchdog reaction mutation mode initial".split()
)
"""Words that begin a member and stand nowhere else; ``reset`` may do so too."""

KEYWORDS: Final = (
    FILE_WORDS
    | MEMBER_WORDS
    | frozenset(
        "as from at extends reset widthof new after serializer interleaved startup "
        "shutdown history tardy STAA STP deadline".split()
    )
)
"""Words that cannot be names."""

BOOLS: Final = frozenset("true True false False".split())

TIMES: Final = frozenset("forever never".split())
"""Words that are times without a number."""

UNITS: Final = frozenset(
    "ns nsec nsecs us usec usecs ms msec msecs s sec secs second seconds "
    "min mins minute minutes h hour hours d day days wk week weeks".split()
)
