# SPDX-License-Identifier: Apache-2.0
"""Syntax nodes are frozen, have slots, and compare without their positions."""

from __future__ import annotations

import dataclasses
import inspect

import pytest

from reactorl.lf.parse import syntax
from reactorl.lf.source import Span

ENTRY = syntax.Entry("key", syntax.Number("1"), span=Span(1, 2), key_span=Span(3, 4))
CLASSES = [
    value
    for value in vars(syntax).values()
    if inspect.isclass(value) and issubclass(value, syntax.Node)
]


def test_equality_hash_and_repr_ignore_positions() -> None:
    same = syntax.Entry("key", syntax.Number("1", span=Span(7, 8)))

    assert same == ENTRY
    assert hash(same) == hash(ENTRY)
    assert repr(same) == repr(ENTRY) == "Entry(key='key', value=Number(text='1'))"


def test_equality_ignores_comments_of_a_file() -> None:
    assert syntax.File(comments=(syntax.Comment("# a"),)) == syntax.File()


def test_nodes_of_different_classes_are_not_equal() -> None:
    assert syntax.Name("x") != syntax.Host("x")


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_every_node_class_is_a_frozen_dataclass_with_slots(
    cls: type[syntax.Node],
) -> None:
    assert "__dataclass_fields__" in vars(cls)  # its own, not inherited
    assert cls.__dataclass_params__.frozen  # type: ignore[attr-defined]
    assert "__dict__" not in vars(cls)
    assert cls.__doc__


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_span_of_every_node_is_a_keyword_argument_with_a_default(
    cls: type[syntax.Node],
) -> None:
    (span,) = (field for field in dataclasses.fields(cls) if field.name == "span")

    assert span.kw_only
    assert not span.compare
    assert span.default is not dataclasses.MISSING
