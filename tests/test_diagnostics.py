# SPDX-License-Identifier: Apache-2.0
"""Diagnostics become text as one paragraph, or as compilers print them."""

from reactorl import Diagnostic, Position, Severity

HERE = Position("train.py", 23)
NOTES = (
    Diagnostic("a comes first", Position("train.py", 3), severity=Severity.NOTE),
    Diagnostic("b comes second", Position("train.py", 4), severity=Severity.NOTE),
)


def test_paragraph_has_position_fact_and_remedy() -> None:
    assert str(Diagnostic("x is wrong", HERE, "Do this.")) == (
        "train.py:23: x is wrong. Do this."
    )
    assert str(Diagnostic("x is wrong")) == "x is wrong"


def test_paragraph_lists_related_positions() -> None:
    found = Diagnostic("a loop", HERE, "Cut it.", related=NOTES)

    assert str(found) == (
        "train.py:23: a loop:\n"
        "  train.py:3: a comes first\n"
        "  train.py:4: b comes second\n"
        "Cut it."
    )


def test_rendered_form_has_severity_related_positions_and_help() -> None:
    found = Diagnostic("a loop", HERE, "Cut it.", Severity.WARNING, related=NOTES)

    assert found.render() == (
        "train.py:23: warning: a loop:\n"
        "    train.py:3: a comes first\n"
        "    train.py:4: b comes second\n"
        "  help: Cut it."
    )
    assert Diagnostic("x is wrong").render() == "error: x is wrong"


def test_rendered_position_has_a_column_if_it_is_known() -> None:
    found = Diagnostic("x is wrong", Position("train.py", 23, 5))

    assert found.render() == "train.py:23:5: error: x is wrong"
    assert str(found) == "train.py:23: x is wrong"


def test_position_without_a_line_is_the_file() -> None:
    assert str(Diagnostic("it is cut", Position("run.trace"))) == "run.trace: it is cut"


def test_equal_diagnostics_may_have_different_fields() -> None:
    one = Diagnostic("x is wrong", HERE, fields={"x": 1})
    other = Diagnostic("x is wrong", HERE, fields={"x": 2})

    assert one == other
    assert len({one, other}) == 1
