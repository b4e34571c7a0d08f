# SPDX-License-Identifier: Apache-2.0
"""The text of a value depends on the value alone."""

from __future__ import annotations

import enum
import math
import os
import subprocess
import sys
from collections import namedtuple
from dataclasses import dataclass
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reactorl.trace import value_text

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=64)
    | st.binary(max_size=64)
)
literals = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(max_size=4), inner, max_size=4)
        | st.sets(st.integers(), max_size=4)
    ),
    max_leaves=8,
)


@dataclass
class Point:
    x: int
    y: object = None


Pair = namedtuple("Pair", "left right")


class Colour(enum.IntEnum):
    RED = 1


class Plain:
    def __init__(self, inside: object) -> None:
        self.inside = inside


class Restless:
    counter = count()

    def __reduce__(self) -> tuple[object, ...]:
        return int, (next(self.counter),)


@given(scalars)
def test_short_scalars_are_spelled_out(value: object) -> None:
    assert value_text(value, deep=False) == repr(value)


@given(literals)
def test_small_literals_read_back_from_their_deep_text(value: object) -> None:
    text = value_text(value, deep=True)

    assert eval(text, {"__builtins__": {}, "inf": math.inf, "set": set}) == value


@pytest.mark.parametrize("value", ["a" * 65, b"a" * 65])
def test_long_strings_are_cut_and_distinguished(value: str | bytes) -> None:
    text = value_text(value, deep=False)

    assert text.startswith(repr(value[:64]) + "...<65 long, ")
    assert text != value_text(value[:-1] + value[:0].join([value[:1]]) * 2, deep=False)
    assert len(text) < 120


def test_huge_integers_do_not_hit_the_conversion_limit() -> None:
    text = value_text(10**5000, deep=False)

    assert text.startswith("<int of 16610 bits, ")
    assert text != value_text(10**5000 + 1, deep=False)


@pytest.mark.parametrize(
    "value", [[1], (1,), {1: 2}, {1}, Point(1), Colour.RED, object()]
)
def test_without_deep_everything_else_is_its_type(value: object) -> None:
    assert value_text(value, deep=False) == f"<{type(value).__name__}>"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ((), "()"),
        ((1,), "(1,)"),
        ({3, 1, 2}, "{1, 2, 3}"),
        (set(), "set()"),
        (frozenset({2, 1}), "frozenset({1, 2})"),
        (frozenset(), "frozenset()"),
        (Point(1, [2]), "Point(x=1, y=[2])"),
        (Pair(1, "b"), "Pair(1, 'b')"),
        (Colour.RED, "Colour.RED"),
        ({"b": 1, "a": 2}, "{'b': 1, 'a': 2}"),
        (object, "<type "),
        (lambda: 0, "<function>"),
        (Restless(), "<Restless>"),
    ],
)
def test_deep_texts(value: object, text: str) -> None:
    assert value_text(value, deep=True).startswith(text)


def test_long_containers_are_cut_and_distinguished_by_a_digest() -> None:
    mine, other = list(range(100)), [*range(99), 0]

    assert value_text(mine, deep=True) != value_text(other, deep=True)
    assert "...<100 parts, " in value_text(mine, deep=True)


def test_container_that_contains_itself_has_a_text() -> None:
    loop: list[object] = [1]
    loop.append(loop)

    assert value_text(loop, deep=True) == "[1, <list that contains itself>]"


def test_deep_nesting_is_bounded_and_distinguished() -> None:
    def nested(inner: object) -> object:
        for _ in range(50):
            inner = [inner]
        return inner

    assert value_text(nested(1), deep=True) == value_text(nested(1), deep=True)
    assert value_text(nested(1), deep=True) != value_text(nested(2), deep=True)


def test_objects_are_distinguished_by_content_not_identity() -> None:
    word = "".join(["ab", "cd"])

    same = Plain([word, word]), Plain(["".join(["ab", "cd"]), "abcd"])
    texts = [value_text(value, deep=True) for value in same]

    assert texts[0] == texts[1] != value_text(Plain(["abcd"]), deep=True)


def test_arrays_show_dtype_shape_and_digest() -> None:
    np = pytest.importorskip("numpy")
    array = np.arange(6, dtype=np.float32).reshape(2, 3)

    text = value_text(array, deep=True)

    assert text.startswith("ndarray(<f4, (2, 3), ")
    assert text == value_text(np.asfortranarray(array), deep=True)
    assert text != value_text(array + 1, deep=True)
    assert value_text(array, deep=False) == "<ndarray>"
    assert value_text(np.float32(0.5), deep=True) == "float32(0.5)"
    assert value_text(np.array([{2, 1}, None]), deep=True) == (
        "ndarray(|O, (2,), [{1, 2}, None])"
    )
    assert value_text(Plain(array), deep=True) == value_text(
        Plain(np.asfortranarray(array)), deep=True
    )


def test_hash_seed_leaves_no_mark() -> None:
    program = (
        "from reactorl.trace import value_text\n"
        "class A: pass\n"
        "a = A(); a.s = {'x', 'y', 'z'}; a.t = frozenset('pqr')\n"
        "print(value_text(({'a', 'b', 'c'}, {frozenset('ab'), 'q'}, a), deep=True))\n"
    )
    texts = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": _path()},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("0", "1", "2")
    }

    assert len(texts) == 1


def _path() -> str:
    return os.pathsep.join(entry for entry in sys.path if entry)
