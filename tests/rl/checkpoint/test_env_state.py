# SPDX-License-Identifier: Apache-2.0
"""A restored environment continues as the saved one would have."""

from __future__ import annotations

import logging
import random
import threading
from abc import ABC
from collections import OrderedDict, defaultdict, deque
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

import gymnasium as gym
import numpy as np
import pytest

from reactorl.rl import DQN, Flow, read_checkpoint, write_checkpoint
from reactorl.rl.checkpoint.env_restore import restore_env
from reactorl.rl.checkpoint.env_state import saved_env

if TYPE_CHECKING:
    from pathlib import Path

FLOW = Flow("CartPole-v1", DQN())


def through_a_file(state: Any, tmp_path: Path) -> Any:
    write_checkpoint(tmp_path / "c", state, FLOW)
    return read_checkpoint(tmp_path / "c", FLOW).data


class Phase(Enum):
    CALM = 1
    STORM = 2


class Place(NamedTuple):
    x: int
    y: int


class Body:
    __slots__ = ("__secret", "mass", "near")

    def __init__(self, mass: float) -> None:
        self.mass = mass
        self.near: list[Body] = []
        self.__secret = 2 * mass

    @property
    def secret(self) -> float:
        return self.__secret


class Core(ABC):  # noqa: B024 - environments have metaclasses like this
    def __init__(self) -> None:
        self.bodies = [Body(1.0), Body(2.0)]
        self.bodies[0].near.append(self.bodies[1])
        self.bodies[1].near.append(self.bodies[0])  # in a circle
        self.heaviest = self.bodies[1]
        self.phase = Phase.CALM
        self.place = Place(0, 0)
        self.seen = {Place(0, 0)}
        self.recent: deque[int] = deque(maxlen=3)
        self.counts: defaultdict[str, int] = defaultdict(int)
        self.by_name = OrderedDict({b"a": self.bodies[0], b"b": self.bodies[1]})
        self.np_random = np.random.default_rng(1)
        self.old = np.random.RandomState(1)
        self.random = random.Random(1)
        self.late: Any = None
        self.agents = ["one", "two"]
        self.order = self.agents  # one list, under two names
        self.grid = np.zeros((2, 2))
        # What is not plain.
        self.space = gym.spaces.Discrete(3)
        self.lock = threading.Lock()
        self.logger = logging.getLogger("core")
        self.act = self.bodies[0].near.append
        self.holders = [lambda: self.heaviest]

    def step(self) -> Any:
        drawn = int(self.np_random.integers(100))
        self.bodies[drawn % 2].mass += self.random.random()
        self.bodies.append(Body(float(self.old.rand())))
        self.heaviest = max(self.bodies, key=lambda body: body.mass)
        self.phase = Phase.STORM if drawn % 2 else Phase.CALM
        self.place = Place(drawn, drawn % 7)
        self.seen.add(self.place)
        self.recent.append(drawn)
        self.counts[f"{drawn % 3}"] += 1
        self.by_name[b"a"], self.by_name[b"b"] = self.by_name[b"b"], self.by_name[b"a"]
        self.by_name.move_to_end(b"a")
        self.late = np.random.Generator(np.random.Philox(drawn))
        self.order.append(f"{drawn}")
        self.grid[drawn % 2] += 1
        return self.told()

    def told(self) -> Any:
        return (
            [(b.mass, b.secret, [n.mass for n in b.near]) for b in self.bodies],
            self.bodies.index(self.heaviest),
            self.holders[0]() is self.heaviest,
            (self.phase is Phase.STORM, self.place, sorted(self.seen)),
            (list(self.recent), self.recent.maxlen, dict(self.counts)),
            [(key, self.bodies.index(body)) for key, body in self.by_name.items()],
            (self.agents, self.agents is self.order, self.grid.tolist()),
            self.late.integers(1_000) if self.late is not None else None,
        )


class Wrapper:
    def __init__(self, env: Core) -> None:
        self.env = env
        self.steps = 0

    def step(self) -> Any:
        self.steps += 1
        return self.steps, self.env.step()


def test_a_restored_object_graph_continues_identically(tmp_path: Path) -> None:
    one, other = Wrapper(Core()), Wrapper(Core())
    for _ in range(5):
        one.step()
    state = through_a_file(saved_env(one), tmp_path)
    expected = [one.step() for _ in range(20)]
    other.step()  # it has been somewhere, too

    restore_env(other, state)

    assert [other.step() for _ in range(20)] == expected
    assert type(other.env.counts) is defaultdict
    assert other.env.counts["new"] == 0


def test_values_that_are_not_plain_are_left_alone(tmp_path: Path) -> None:
    one, other = Core(), Core()
    own = (other.space, other.lock, other.logger, other.bodies[0])
    assert not any("logging" in str(node) for node in saved_env(one))

    restore_env(other, through_a_file(saved_env(one), tmp_path))

    assert (other.space, other.lock, other.logger, other.bodies[0]) == own
    other.act(other.bodies[0])  # a function that is bound to something of it
    assert other.heaviest.near == [other.bodies[0]]
    assert len(other.bodies[0].near) == 1


class Handle:
    """Of something in an extension."""

    def __init__(self) -> None:
        self.this = threading.Lock()


class Physics:
    def __init__(self, bodies: int) -> None:
        self.world = Handle()
        self.bodies = [Handle() for _ in range(bodies)]
        self.time = bodies


def test_state_in_an_extension_is_left_alone() -> None:
    one, other = Physics(3), Physics(1)
    own = (other.world, other.bodies)

    restore_env(other, saved_env(one))

    assert (other.world, other.bodies) == own
    assert other.time == 3
    restore_env(own[0], saved_env(one.world))  # of which nothing is plain


CONSTANT = np.zeros(3)
SHARED = [1, 2]


class Careless:
    """Begins with what belongs to everybody."""

    def __init__(self) -> None:
        self.place = CONSTANT
        self.agents = SHARED


def test_shared_constants_are_not_modified() -> None:
    one, other = Careless(), Careless()
    one.place, one.agents = np.ones(3), [3]

    restore_env(other, saved_env(one))

    assert other.place.tolist() == [1, 1, 1]
    assert other.agents == [3]
    assert CONSTANT.tolist() == [0, 0, 0]
    assert SHARED == [1, 2]


def test_environments_of_another_kind_raise() -> None:
    with pytest.raises(ValueError, match=r"was a .*\.Wrapper and is a .*\.Core"):
        restore_env(Core(), saved_env(Wrapper(Core())))
    other = Wrapper(Careless())  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"Wrapper.env cannot be made anew: space"):
        restore_env(other, saved_env(Wrapper(Core())))


def test_only_classes_of_the_packages_of_the_environment_are_used() -> None:
    one, other = Careless(), Careless()
    one.place = Body(1.0)  # type: ignore[assignment]  # the other has none

    restore_env(other, saved_env(one))
    assert type(other.place) is Body

    nodes = saved_env(one)
    known = next(node for node in nodes if node[1].endswith(".Body"))
    for name in ("subprocess.Popen", "tests.rl.checkpoint.test_env_state.pytest"):
        nodes[nodes.index(known)] = known = ("object", name, {}, [])
        with pytest.raises(ValueError, match=f"was a {name}, and the new environment"):
            restore_env(other, nodes)


class Loud:
    """Its constructor must not be called by a checkpoint."""

    def __init__(self, *arguments: object) -> None:
        raise AssertionError(arguments)


@pytest.mark.parametrize(
    ("kind", "content"), [("named", ["words"]), ("enum", "words"), ("dict", [[], []])]
)
def test_no_constructor_is_called_with_content_of_a_checkpoint(
    kind: str, content: Any
) -> None:
    one, other = Careless(), Careless()
    one.place = Body(1.0)  # type: ignore[assignment]
    nodes = saved_env(one)
    name = f"{__name__}.Loud"
    at = next(k for k, node in enumerate(nodes) if node[1].endswith(".Body"))
    if kind == "dict":
        nodes[at] = ("dict", name, *content)
    else:
        nodes[at] = ("list", [(kind, name, content)])

    with pytest.raises(ValueError, match=r"Loud must be a (named tuple|Enum|dict)"):
        restore_env(other, nodes)


def test_objects_that_cannot_be_created_are_named() -> None:
    one, other = Core(), Core()
    one.late = Core()

    with pytest.raises(ValueError, match=r"Core.late cannot be made anew: space, lock"):
        restore_env(other, saved_env(one))


@pytest.mark.parametrize(
    "name", ["CartPole-v1", "Acrobot-v1", "FrozenLake-v1", "Blackjack-v1"]
)
def test_restored_gymnasium_environments_continue_identically(
    name: str, tmp_path: Path
) -> None:
    def steps(env: Any) -> list[Any]:
        found = []
        for k in range(60):
            observation, reward, terminated, truncated, _ = env.step(k % 2)
            found.append((np.asarray(observation).tolist(), float(reward), terminated))
            if terminated or truncated:
                found.append(np.asarray(env.reset()[0]).tolist())
        return found

    one, other = gym.make(name), gym.make(name)
    one.reset(seed=1)
    other.reset(seed=2)
    one.step(1)
    state = through_a_file(saved_env(one), tmp_path)
    expected = steps(one)

    restore_env(other, state)

    assert steps(other) == expected


@pytest.mark.parametrize(
    "name", ["simple_spread_v3", "simple_tag_v3", "simple_speaker_listener_v4"]
)
def test_restored_particle_environments_continue_identically(
    name: str, tmp_path: Path
) -> None:
    mpe2 = pytest.importorskip("mpe2", reason="mpe2 needs pygame: no wheel for 3.14t")
    module = __import__(f"{mpe2.__name__}.{name}", fromlist=["parallel_env"])

    def steps(env: Any) -> list[Any]:
        found: list[Any] = []
        for k in range(40):
            if not env.agents:
                found.append(_told(env.reset()[0]))
            actions = {a: (k + i) % 3 for i, a in enumerate(env.agents)}
            observations, rewards, *_ = env.step(actions)
            found += [_told(observations), _told(rewards)]
        return found

    one, other = module.parallel_env(), module.parallel_env()
    one.reset(seed=1)
    other.reset(seed=2)
    for k in range(7):
        one.step(dict.fromkeys(one.agents, k % 3))
    state = through_a_file(saved_env(one), tmp_path)
    expected = steps(one)

    restore_env(other, state)

    assert steps(other) == expected


def _told(by_agent: Any) -> Any:
    return {agent: np.asarray(value).tolist() for agent, value in by_agent.items()}
