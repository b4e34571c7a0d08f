# SPDX-License-Identifier: Apache-2.0
"""Values as ``key=value`` texts."""

from __future__ import annotations

import pytest

from reactorl._util.key_values import format_key_values, parse_key_values


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a=1", 1),
        ("a=-1.5e3", -1500.0),
        ("a=True", True),
        ("a=None", None),
        ("a=(3, 4)", (3, 4)),
        ("a={'b': [1]}", {"b": [1]}),
        ("a='x=y'", "x=y"),
        ("a=8x8", "8x8"),
        ("a=rgb_array", "rgb_array"),
        ("a=models/hopper.xml", "models/hopper.xml"),
    ],
)
def test_values_are_literals_or_plain_words(text: str, value: object) -> None:
    found = parse_key_values([text])["a"]
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a", "must be key=value, got 'a'"),
        ("=3", "must be key=value, got '=3'"),
        ("a b=3", "must be key=value, got 'a b=3'"),
        ("a=", "must have a Python literal as its value, got 'a='"),
        ("a=[1", r"must have a Python literal as its value, got 'a=\[1'"),
        ("a=f(1)", r"must have a Python literal as its value, got 'a=f\(1\)'"),
        ("a=false", "must be a Python literal such as False, got 'a=false'"),
        ("a=null", "must be a Python literal such as None, got 'a=null'"),
    ],
)
def test_other_texts_are_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_key_values([text])


def test_of_a_key_that_is_given_twice_the_last_counts() -> None:
    assert parse_key_values(["a=1", "b=2", "a=3"]) == {"a": 3, "b": 2}


def test_format_gives_texts_with_the_same_values() -> None:
    values = {"a": (1, [2.5, None]), "b": "True", "c": {"d": b"x"}}
    texts = format_key_values(values)
    assert texts is not None
    assert parse_key_values(texts) == values


def test_values_that_are_not_literals_have_no_texts() -> None:
    assert format_key_values({"a": object()}) is None
    assert format_key_values({"a": float("nan")}) is None
    assert format_key_values({"not a name": 1}) is None
