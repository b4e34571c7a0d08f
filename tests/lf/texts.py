# SPDX-License-Identifier: Apache-2.0
"""Hypothesis strategies for tokens of LF: names, literals, code blocks."""

from __future__ import annotations

import keyword

from hypothesis import strategies as st

from reactorl.lf.parse import time_units
from reactorl.lf.parse.keywords import BOOLS, KEYWORDS, TIMES

TIME_UNITS = st.sampled_from(sorted(time_units.TIME_UNITS))

_RESERVED = {*KEYWORDS, *BOOLS, *TIMES, *time_units.TIME_UNITS, *keyword.kwlist}
NAMES = st.one_of(
    st.sampled_from(
        ["a", "b", "out", "Server", "in_", "_x1", "mainly", "resets", "e5"]
    ),
    st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True),
).filter(lambda name: name not in _RESERVED and not name.startswith("__"))

NUMBERS = st.one_of(
    st.integers(-(2**70), 2**70).map(str),
    st.sampled_from(["0", "-0", "1.5", "-3.25", "-.01e0", ".5", "6.02e+23", "1e9"]),
)

# Texts that resemble the end of a literal or block, or a comment.
_TRAPS = st.sampled_from(
    ["=}", "{=", "//", "# ", "/*", "*/", "'''", "'", ")", "{", "}", r"\"", r"\\", r"\n"]
)
_PLAIN = st.text(
    st.characters(exclude_categories=("C", "Zl", "Zp"), exclude_characters="\"'\\"),
    max_size=6,
)
_INSIDE = st.lists(_TRAPS | _PLAIN, max_size=4).map("".join)
STRINGS = st.one_of(
    _INSIDE.map(lambda text: f'"{text}"'),
    st.lists(_INSIDE, max_size=3).map("\n ".join).map(lambda t: f'"""{t}"""'),
)
CHARS = st.sampled_from(["'x'", "' '", r"'\n'", r"'\''", "'\"'", "'#'", "'}'"])

TYPES = st.sampled_from(
    ["int", "float", "time", "a.B", "std::vector<int>", "dict<str, int>", "char*",
     "int[3]", "float[]"]
)  # fmt: skip
HOSTS = st.sampled_from(
    ["localhost", "127.0.0.1", "10.0.0.1:8080", "user@host.example.org:15045",
     "[::1]:80", "pi@rpi-4"]
)  # fmt: skip
PACKAGES = st.sampled_from(["pkg/File.lf", "my-pkg", "a1/b2/C_3.lf"])
PATHS = st.sampled_from(
    ["log", "NP", "GEDF_NP", "a/b.py", "./data", "../up/x.lf", "/abs/dir", "x-y.txt"]
)
PROPERTY_KEYS = st.sampled_from(
    ["timeout", "single-threaded", "keepalive", "files", '"quoted key"', "a1.b"]
)

_LINES = st.sampled_from(
    [
        "x = 1",
        'print(f"{x=}")',
        's = "=}"',
        "s = '=}'",
        's = "{= no block =}"',
        "# don't",
        "y = x // 2  # half",
        "d = {'a': {1: 2}}",
        "if x:\n    y = 2\nelse:\n    y = 3",
        "total = (x +\n         y)",
        "z = 1 + \\\n    2",
        'doc = """first\n  second =}\nthird"""',
        "doc = '''\n\n  deep\n'''",
        "def f(a):\n\treturn a",
        "t = 'don\\'t'",
        "",
        "   ",
        "pass;",
    ]
)


def _block(lines: list[str], indent: str, first: str, last: str) -> str:
    text = "\n".join(lines)
    return first + "\n".join(indent + line for line in text.split("\n")) + last


CODES = st.one_of(
    st.sampled_from(
        ["", " ", "\n", " x = 1 ", 'print("=}")', " [1, 2]  ", " x # why "]
    ),
    st.builds(
        _block,
        st.lists(_LINES, min_size=1, max_size=4),
        st.sampled_from(["", "  ", "    ", "\t"]),
        st.sampled_from(["\n", "  \n", "\n\n"]),
        st.sampled_from(["\n", "\n  ", " ", "\n\n"]),
    ),
)
