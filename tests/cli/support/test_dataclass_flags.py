# SPDX-License-Identifier: Apache-2.0
"""Flags made from dataclasses."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence  # noqa: TC003 - of flags
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Literal

import pytest

pytest.importorskip("cyclopts")

from reactorl._util.dataclass_fields import field_docs
from reactorl.cli.commands.train import GROUPS, flags_of
from reactorl.cli.support.dataclass_flags import FlagError, Flags
from reactorl.rl import TrainerOptions
from reactorl.rl.algorithms.registry import ALGORITHMS


@dataclass(frozen=True, kw_only=True)
class Base:
    """What all configurations have."""

    seed: int = 1
    """Seed of all random
    numbers."""


@dataclass(frozen=True, kw_only=True)
class Config(Base):
    """A configuration with one field of each type."""

    learning_rate: float = 1e-3
    """Adam learning rate."""
    hidden: tuple[int, ...] = (64, 64)
    """Hidden layer sizes."""
    double: bool = True
    """Use double DQN."""
    placement: Literal["thread", "process"] = "thread"
    """Where environments run."""
    workers: int | None = None
    """Number of threads."""
    kwargs: Mapping[str, object] = field(default_factory=dict)
    """Arguments of a function."""
    wrappers: Sequence[str] = field(default=(), metadata={"flag": "wrapper"})
    """Names of functions."""
    clip: bool | None = None
    """Clip rewards."""


@dataclass(frozen=True)
class Output:
    """A second dataclass."""

    runs_dir: Path = Path("runs")
    """Directory of all runs."""


FLAGS = Flags(
    "p",
    "Do it.",
    (Config(), Output()),
    {"network": ["hidden"], "run": ["runs_dir", "workers"]},
    "algorithm",
)


def parse(*args: str) -> tuple[Config, Output]:
    config, output = FLAGS.parse(args)
    return config, output


def test_defaults_are_the_given_instances() -> None:
    assert parse() == (Config(), Output())
    kept = Flags("p", "", [Config(seed=7, hidden=(3,), double=False)])
    assert kept.parse(["--learning-rate=2"]) == [
        Config(seed=7, hidden=(3,), double=False, learning_rate=2.0)
    ]


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["--seed", "5"], Config(seed=5)),
        (["--seed=-5"], Config(seed=-5)),
        (["--seed", "1", "--seed", "2"], Config(seed=2)),
        (["--learning-rate", "1e-4"], Config(learning_rate=1e-4)),
        (["--learning_rate", "1"], Config(learning_rate=1.0)),
        (["--hidden", "32"], Config(hidden=(32,))),
        (["--hidden", "32", "16", "--seed", "3"], Config(hidden=(32, 16), seed=3)),
        (["--hidden"], Config(hidden=())),
        (["--no-double"], Config(double=False)),
        (["--double"], Config(double=True)),
        (["--placement", "process"], Config(placement="process")),
        (["--workers", "2"], Config(workers=2)),
        (["--workers", "None"], Config(workers=None)),
        (["--kwargs", "a=1", "b=8x8"], Config(kwargs={"a": 1, "b": "8x8"})),
        (["--kwargs", "a=1", "--kwargs=a=-2"], Config(kwargs={"a": -2})),
        (["--wrapper", "m:f"], Config(wrappers=("m:f",))),
        (
            ["--wrapper=m:f(1, 2)", "--wrapper", "m:g", "--seed=2"],
            Config(wrappers=("m:f(1, 2)", "m:g"), seed=2),
        ),
        (["--clip"], Config(clip=True)),
        (["--no-clip"], Config(clip=False)),
    ],
)
def test_values_are_converted_to_the_types_of_fields(
    args: list[str], expected: Config
) -> None:
    assert parse(*args) == (expected, Output())


def test_flags_of_several_dataclasses_go_to_their_own() -> None:
    found = parse("--runs-dir", "x", "--seed", "2")

    assert found == (Config(seed=2), Output(Path("x")))


@pytest.mark.parametrize(
    ("args", "what", "help"),
    [
        (["--sede=1"], "unknown option '--sede'", "Did you mean '--seed'?"),
        (["--qqqqq"], "unknown option '--qqqqq'", "'p --help' explains all flags."),
        (["more"], "unexpected argument 'more'", "'p --help' explains all flags."),
        (["--seed", "x"], "--seed must be an integer, got 'x'", "'p --help'"),
        (["--seed", "1.5"], "--seed must be an integer, got '1.5'", "'p --help'"),
        (["--workers", "x"], "--workers must be an integer, got 'x'", "'p --help'"),
        (["--hidden", "a"], "--hidden must be an integer, got 'a'", "'p --help'"),
        (["--learning-rate=x"], "--learning-rate must be a number, got 'x'", "'p"),
        (["--double=x"], "--double must be true or false, got 'x'", "'p --help'"),
        (["--placement=x"], "--placement must be one of thread, process, got 'x'", ""),
        (["--seed"], "--seed must have a value", "'p --help' explains all flags."),
        (["--kwargs", "a"], "--kwargs must be key=value, got 'a'", "For example: "),
        (
            ["--kwargs", "b=2", "a=[1"],
            "--kwargs must have a Python literal as its value, got 'a=[1'",
            "For example: gravity=9.8",
        ),
    ],
)
def test_wrong_arguments_are_explained(args: list[str], what: str, help: str) -> None:
    with pytest.raises(FlagError) as raised:
        parse(*args)

    assert raised.value.what == what
    assert raised.value.remedy.startswith(help)


def test_docstrings_of_fields_are_the_help() -> None:
    assert field_docs(Config) == {
        "seed": "Seed of all random numbers.",
        "learning_rate": "Adam learning rate.",
        "hidden": "Hidden layer sizes.",
        "double": "Use double DQN.",
        "placement": "Where environments run.",
        "workers": "Number of threads.",
        "kwargs": "Arguments of a function.",
        "wrappers": "Names of functions.",
        "clip": "Clip rewards.",
    }


def _help(flags: Flags, capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as end:
        flags.parse(["--help"])
    assert end.value.code == 0
    return capsys.readouterr().out


def test_help_shows_groups_defaults_and_choices(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "100")

    shown = _help(FLAGS, capsys)

    groups = re.findall(r"╭─ (.*?) ─", shown)
    assert groups == ["algorithm", "network", "run", "help"]
    assert "Hidden layer sizes. [default: 64 64]" in shown
    assert "--double --no-double" in shown
    assert "Use double DQN. [default: on]" in shown
    assert "[choices: thread, process]" in shown
    assert "None" not in shown


@pytest.mark.parametrize("columns", ["1", "5", "80"])
def test_help_of_flags_in_any_width(
    columns: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", columns)

    shown = _help(FLAGS, capsys)

    assert "--learning-rate FLOAT" in shown
    assert max(map(len, shown.splitlines())) <= max(60, int(columns))


def test_flags_can_be_added_to_a_parser() -> None:
    parser = argparse.ArgumentParser()

    FLAGS.add_to(parser)

    found = {tuple(a.option_strings): a for a in parser._actions}
    assert found["--double", "--no-double"].nargs == 0
    assert found["--hidden",].help == "Hidden layer sizes."
    assert [*(found["--placement",].choices or ())] == ["thread", "process"]
    assert found["--runs-dir",].dest == "runs_dir"


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_flag_of_an_algorithm_is_documented(name: str) -> None:
    for one in flags_of(name).defaults:
        explained = field_docs(type(one))
        names = [field.name for field in fields(one)]
        assert [name for name in names if not explained.get(name)] == []


def test_flags_do_not_depend_on_an_import_of_pydantic() -> None:
    pytest.importorskip("pydantic")  # Ray imports it, and environments may
    flags = flags_of("dqn")

    assert flags.parse([]) == list(flags.defaults)
    found = flags.given(["--env-kwargs", "a=1", "--wrapper", "module:function"])
    assert found["env_kwargs"] == {"a": 1}
    assert found["wrappers"] == ("module:function",)


def test_every_field_in_the_groups_of_train_is_in_one_group_only() -> None:
    listed = [name for names in GROUPS.values() for name in names]

    assert len(listed) == len(set(listed))
    assert {f.name for f in fields(TrainerOptions)} <= {*listed}
