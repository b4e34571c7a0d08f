# SPDX-License-Identifier: Apache-2.0
"""Errors have fields, survive pickling, name the position and end with the remedy."""

import pickle

import pytest

import reactorl
from reactorl import Hop, Position, Severity, Tag, errors

HERE = Position("train.py", 23)
THERE = Position("train.py", 41)
LOOP = (
    Hop("main.actor.act", "main.actor.batch", "main.learner.batches", HERE),
    Hop("main.learner.update", "main.learner.weights", "main.actor.weights", THERE),
)
ALL = [
    errors.ReactorlError("x"),
    errors.DeclarationError("what", HERE, "Do this."),
    errors.ProgramError("what", HERE, "Do this."),
    errors.CausalityError(LOOP),
    errors.WiringError("what", None, ""),
    errors.WidthError("what", HERE),
    errors.UnknownNameError("wieghts", "reactor main.a", ("weights", "batch"), HERE),
    errors.DelayError("what", HERE),
    errors.ContainmentError(("A", "B", "A"), HERE),
    errors.BusyError("the session is in use by another thread", None, "Wait."),
    errors.AccessError("main.a.r", "main.a.x", HERE, "reads", "add `x`", "f(x)"),
    errors.DTypeError("main.a.x", "int64", "int64, a Python int", "None", HERE),
    errors.ReactionError("main.a.r", Tag(5, 1), HERE, "ValueError: no"),
    errors.SharedValueError("what", HERE, "Copy it."),
    errors.GlobalRandomError("what", HERE, "Use self.random."),
    errors.TraceError("what", HERE),
    errors.ReplayError("what", HERE),
]
ACCESS = next(error for error in ALL if isinstance(error, errors.AccessError))


@pytest.mark.parametrize("error", ALL, ids=lambda error: type(error).__name__)
def test_every_error_survives_pickling(error: errors.ReactorlError) -> None:
    copy = pickle.loads(pickle.dumps(error))

    assert type(copy) is type(error)
    assert str(copy) == str(error)
    assert vars(copy) == vars(error)


def test_every_error_class_is_in_this_list() -> None:
    public = {
        value
        for name in errors.__all__
        if isinstance(value := getattr(errors, name), type)
        and issubclass(value, Exception)
        and not issubclass(value, Warning)
    }

    assert public == {type(error) for error in ALL}


def test_all_errors_show_the_public_path() -> None:
    for name in errors.__all__:
        assert getattr(errors, name).__module__ == "reactorl"
        assert getattr(reactorl, name) is getattr(errors, name)


@pytest.mark.parametrize("error", ALL, ids=lambda error: type(error).__name__)
def test_every_error_is_a_diagnostic(error: errors.ReactorlError) -> None:
    found = error.diagnostic

    assert (found.what, found.where, found.remedy) == (
        error.what,
        error.where,
        error.remedy,
    )
    assert found.severity is Severity.ERROR


def test_fields_of_an_error_are_fields_of_its_diagnostic() -> None:
    assert ACCESS.diagnostic.fields == {
        "reaction": "main.a.r",
        "element": "main.a.x",
        "access": "reads",
        "fix": "add `x`",
        "example": "f(x)",
    }
    assert ALL[1].diagnostic.fields == {}


def test_codes_are_the_names_of_classes() -> None:
    codes = {type(error): error.diagnostic.code for error in ALL}

    assert codes[errors.UnknownNameError] == "unknown-name"
    assert codes[errors.CausalityError] == "causality"
    assert codes[errors.SharedValueError] == "shared-value"


def test_hops_of_a_loop_are_related_notes() -> None:
    related = errors.CausalityError(LOOP).diagnostic.related

    assert [(note.where, note.severity) for note in related] == [
        (HERE, Severity.NOTE),
        (THERE, Severity.NOTE),
    ]
    assert related[0].what == (
        "main.actor.act sets main.actor.batch -> main.learner.batches"
    )


def test_text_is_position_fact_and_remedy() -> None:
    assert str(ALL[1]) == "train.py:23: what. Do this."
    assert str(ALL[4]) == "what"


def test_unknown_name_suggests_the_closest() -> None:
    assert str(ALL[6]) == (
        "train.py:23: reactor main.a has no 'wieghts'. Did you mean 'weights'?"
    )
    far = errors.UnknownNameError("zzz", "reactor main.a", ("weights", "batch"))
    assert str(far) == "reactor main.a has no 'zzz'. It has: weights, batch."


def test_causality_error_shows_all_hops_and_a_delay() -> None:
    assert str(errors.CausalityError(LOOP)) == (
        "2 reactions wait for each other at one tag:\n"
        "  train.py:23: main.actor.act sets main.actor.batch -> main.learner.batches\n"
        "  train.py:41: main.learner.update sets main.learner.weights"
        " -> main.actor.weights\n"
        "Delay one of these connections; connect(main.learner.weights, "
        "main.actor.weights, after=0) delivers one microstep later."
    )


def test_loop_through_reaction_order_advises_to_swap() -> None:
    loop = (*LOOP[:1], Hop("main.learner.update", "", "main.learner.train", THERE))

    text = str(errors.CausalityError(loop))

    assert "main.learner.update comes before main.learner.train" in text
    assert "Or swap two reactions" in text


def test_access_error_ends_with_the_change_in_python() -> None:
    assert str(ACCESS) == (
        "train.py:23: reaction main.a.r reads main.a.x, which it does not declare. "
        "Add `x`: f(x)"
    )


def test_position_is_relative_to_the_current_directory(
    monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.chdir(str(tmp_path))

    assert str(Position(f"{tmp_path}/train.py", 3)) == "train.py:3"
    assert str(Position("/elsewhere/train.py", 3)) == "/elsewhere/train.py:3"
