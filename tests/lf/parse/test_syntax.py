# SPDX-License-Identifier: Apache-2.0
"""Nodes of the syntax tree behave as frozen dataclasses with slots do."""

from __future__ import annotations

import copy
import dataclasses
import pickle

import pytest

from reactorl.lf.parse import syntax
from reactorl.lf.source import Span

ENTRY = syntax.Entry("key", syntax.Number("1"), span=Span(1, 2), key_span=Span(3, 4))
CLASSES = [c for c in vars(syntax).values() if hasattr(c, "__node_fields__")]


def test_place_does_not_count() -> None:
    same = syntax.Entry("key", syntax.Number("1", span=Span(7, 8)))

    assert same == ENTRY
    assert hash(same) == hash(ENTRY)
    assert repr(same) == repr(ENTRY) == "Entry(key='key', value=Number(text='1'))"


def test_class_and_content_count() -> None:
    assert syntax.Name("x") != syntax.Host("x")
    assert syntax.Name("x") != syntax.Name("y")
    assert syntax.Name("x") != "x"


def test_nothing_can_be_changed_or_added() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError, match="assign to field 'key'"):
        ENTRY.key = "other"  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError, match="delete field 'key'"):
        del ENTRY.key
    assert not hasattr(ENTRY, "__dict__")


@pytest.mark.parametrize("args", [(), ("a",), ("a", None, "c")])
def test_arguments_are_counted(args: tuple[object, ...]) -> None:
    with pytest.raises(TypeError, match="argument"):
        syntax.Entry(*args)  # type: ignore[arg-type]


def test_span_is_given_by_name_only() -> None:
    with pytest.raises(TypeError, match="positional"):
        syntax.Name("x", Span(1, 2))  # type: ignore[call-arg]


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_dataclasses_knows_the_fields_of_every_class(cls: type[syntax.Node]) -> None:
    dataclasses.fields(syntax.Node)  # what a base has does not hide anything

    fields = dataclasses.fields(cls)

    assert [field.name for field in fields] == list(cls.__node_fields__)
    positional = tuple(field.name for field in fields if not field.kw_only)
    assert cls.__match_args__ == positional
    assert cls.__doc__


def test_replace_keeps_the_rest() -> None:
    changed = dataclasses.replace(ENTRY, key="other")

    assert changed == syntax.Entry("other", syntax.Number("1"))
    assert (changed.span, changed.key_span) == (ENTRY.span, ENTRY.key_span)


@pytest.mark.parametrize(
    "again", [copy.deepcopy, lambda n: pickle.loads(pickle.dumps(n))]
)
def test_copies_are_equal_and_keep_their_place(again: object) -> None:
    other = again(ENTRY)  # type: ignore[operator]

    assert other == ENTRY
    assert other.key_span == Span(3, 4)
