# SPDX-License-Identifier: Apache-2.0
"""Trainings that are killed and resumed end with the bits of one that was not."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

import pytest

from reactorl.rl import RunDirectory, read_checkpoint
from tests.rl.matrix.environments import PACKAGES, families, installed, params
from tests.rl.matrix.trainings import (
    algorithms_for,
    directory_of,
    kill_in_the_middle,
    resume,
    train,
)
from tests.rl.trained import same

if TYPE_CHECKING:
    from pathlib import Path

    from _pytest.mark import ParameterSet

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*out of date:DeprecationWarning"),
    # The first test starts all trainings in one process, one after the other.
    pytest.mark.timeout(1200),
]

FAMILIES: Final = {
    "classic_control": "dqn Acrobot-v1",
    "toy_text": "ppo Taxi-v4",
    "box2d": "ppo LunarLander-v3",
    "mujoco": "sac HalfCheetah-v5",
    "atari": "ppo ALE/Pong-v5",
    "minatar": "dqn MinAtar/Breakout-v1",
    "minigrid": "dqn MiniGrid-DoorKey-6x6-v0",
}
"""One training for each family of environments."""
MULTI_AGENT: Final = "ippo mpe2.simple_spread_v3"

UNFINISHED: Final[dict[str, str]] = {}
"""Trainings that fail today, and why."""


def trainings() -> list[ParameterSet]:
    found = []
    for family, name in FAMILIES.items():
        marks: list[Any] = []
        if not installed(family):
            reason = f"{PACKAGES[family]} is not installed"
            marks.append(pytest.mark.skip(reason=reason))
        elif name in UNFINISHED:
            marks.append(pytest.mark.xfail(strict=True, reason=UNFINISHED[name]))
        found.append(pytest.param(name, marks=marks, id=name))
    absent = pytest.mark.skipif(find_spec("mpe2") is None, reason="no mpe2")
    found.append(pytest.param(MULTI_AGENT, marks=absent, id=MULTI_AGENT))
    return found


@pytest.fixture(scope="module")
def killed(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Run directories of trainings whose process was killed, all at once."""
    parent = tmp_path_factory.mktemp("killed")
    names = [name for family, name in FAMILIES.items() if installed(family)]
    if find_spec("mpe2") is not None:
        names.append(MULTI_AGENT)
    kill_in_the_middle(parent, names)
    return parent


def check(name: str, killed: Path, uninterrupted: Path) -> None:
    directory = directory_of(killed, name)
    error = directory / "error"
    assert not error.exists(), error.read_text()

    expected = train(name, uninterrupted)
    found = resume(name, directory)

    assert found.digest == expected.digest
    assert (found.steps, found.last_returns) == (expected.steps, expected.last_returns)
    # Weights may be equal by chance, if there was nothing to learn. The state has the
    # last observations, the environments and all random generators, too.
    assert same(state(directory), state(uninterrupted))


def state(directory: Path) -> Any:
    return read_checkpoint(RunDirectory.open(directory).checkpoint).data


@pytest.mark.parametrize("name", trainings())
def test_killed_training_resumes_to_the_same_bits(
    name: str, killed: Path, tmp_path: Path
) -> None:
    check(name, killed, tmp_path / "uninterrupted")


def test_every_family_has_a_training() -> None:
    names = {name.partition(" ")[2] for name in FAMILIES.values()}
    covered = {family for family, ids in families().items() if names & set(ids)}

    assert covered == set(families()) - {"phys2d", "tabular"}


@pytest.mark.slow
@pytest.mark.parametrize("env_id", params())
def test_every_environment_resumes_to_the_same_bits(
    env_id: str, tmp_path: Path
) -> None:
    names = [f"{algorithm} {env_id}" for algorithm in algorithms_for(env_id)]
    kill_in_the_middle(tmp_path / "killed", names)
    for name in names:
        check(name, tmp_path / "killed", tmp_path / name.partition(" ")[0])
