# SPDX-License-Identifier: Apache-2.0
"""A restored environment continues as the saved one, or a reason is given."""

from __future__ import annotations

import random
import time
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers import (
    FrameStackObservation,
    NormalizeObservation,
    RecordEpisodeStatistics,
    TimeLimit,
    TransformReward,
)

from reactorl.rl import DQN, Flow, read_checkpoint, write_checkpoint
from reactorl.rl.envs import episode_recorder
from reactorl.rl.envs.arrays import Arrays
from reactorl.rl.envs.episode_recorder import checksum
from reactorl.rl.envs.factory import makers
from reactorl.rl.envs.rules import Rules
from reactorl.rl.envs.snapshot import method_of
from reactorl.rl.envs.sub_env import SubEnv
from reactorl.rl.envs.timeout import HangWatch
from reactorl.rl.multi_agent.sub_env import ParallelSubEnv
from reactorl.rl.wrappers.atari import AtariPreprocessing
from reactorl.rl.wrappers.frame_stack import FrameStack

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

RULES = Rules(AutoresetMode.SAME_STEP, resumable=True)
FLOW = Flow("CartPole-v1", DQN())


class Played:
    """A sub-environment with its arrays, and random actions."""

    def __init__(self, make: Callable[[], Any], rules: Rules = RULES) -> None:
        self.sub_env = SubEnv(0, make, rules)
        env = self.sub_env.env
        self.arrays = Arrays.of(env.observation_space, 1)
        self.sub_env.assign(self.arrays)
        self.actions = env.action_space
        self.sub_env.reset(3, None)

    def steps(self, count: int, seed: int) -> list[int]:
        """Step with random actions; return all results."""
        self.actions.seed(seed)
        found = []
        for _ in range(count):
            self.sub_env.step(self.actions.sample())
            results = self.arrays.rewards, self.arrays.terminations
            found.append(checksum([self.arrays.observations.row(0), *results], 0))
        return found


def through_a_file(saved: Any, tmp_path: Path) -> Any:
    write_checkpoint(tmp_path / "c", saved, FLOW)
    return read_checkpoint(tmp_path / "c", FLOW).data


def check_continues(make: Callable[[], Any], steps: int, tmp_path: Path) -> str:
    """Check that a restored environment continues identically; return the method."""
    one, other = Played(make), Played(make)
    one.steps(steps, seed=0)
    other.steps(3, seed=9)
    saved = through_a_file(one.sub_env.save({}), tmp_path)
    assert one.sub_env.verify(saved) == ""
    expected = one.steps(40, seed=1)

    assert other.sub_env.load(saved) == ""

    again = through_a_file(other.sub_env.save({}), tmp_path)
    assert other.steps(40, seed=1) == expected
    third = Played(make)
    assert third.sub_env.load(again) == ""  # a resumed run is resumed
    assert third.steps(40, seed=1) == expected
    one.sub_env.close()
    other.sub_env.close()
    third.sub_env.close()
    return method_of(saved["env"])


def registered(env_id: str, *wrappers: Any, **kwargs: Any) -> Callable[[], Any]:
    """Return what makes an environment; skip the test if its package is missing."""
    try:
        make = makers(env_id, 1, kwargs, wrappers)[0]
        make().close()
    except Exception as error:  # each package has its own
        pytest.skip(f"cannot be made here: {error}")
    return make


@pytest.mark.parametrize(
    ("env_id", "steps", "method"),
    [
        ("CartPole-v1", 30, "state"),
        ("HalfCheetah-v5", 30, "state"),
        ("Ant-v5", 150, "state"),
        ("Humanoid-v5", 60, "state"),
        ("MiniGrid-DoorKey-5x5-v0", 300, "state"),
        ("MiniGrid-Dynamic-Obstacles-5x5-v0", 40, "state"),
        ("MinAtar/Breakout-v1", 100, "state"),
        ("MinAtar/Seaquest-v1", 100, "state"),
        ("LunarLander-v3", 30, "history"),
        ("LunarLander-v3", 350, "episode"),
        ("LunarLanderContinuous-v3", 350, "episode"),
        ("BipedalWalker-v3", 400, "history"),
        ("BipedalWalkerHardcore-v3", 400, "history"),
    ],
)
def test_restored_environments_continue_identically(
    env_id: str, steps: int, method: str, tmp_path: Path
) -> None:
    assert check_continues(registered(env_id), steps, tmp_path) == method


def test_restored_atari_game_continues_identically(tmp_path: Path) -> None:
    wrappers = (AtariPreprocessing, partial(FrameStack, stack_size=4))
    sticky = {"frameskip": 1, "repeat_action_probability": 0.25}
    make = registered("ALE/Breakout-v5", *wrappers, **sticky)

    assert check_continues(make, 60, tmp_path) == "state"


def test_restored_car_racing_continues_identically(tmp_path: Path) -> None:
    make = registered("CarRacing-v3", max_episode_steps=20)
    one, other = Played(make), Played(make)
    one.steps(65, seed=0)

    saved = through_a_file(one.sub_env.save({}), tmp_path)

    assert method_of(saved["env"]) == "episode"
    assert other.sub_env.load(saved) == ""
    assert other.steps(25, seed=1) == one.steps(25, seed=1)


@pytest.mark.parametrize("env_id", ["CartPole-v1", "LunarLander-v3"])
def test_state_of_wrappers_is_restored(env_id: str, tmp_path: Path) -> None:
    wrappers = (
        RecordEpisodeStatistics,  # has the time at which an episode began
        NormalizeObservation,
        partial(FrameStackObservation, stack_size=3),
        partial(TimeLimit, max_episode_steps=37),
        partial(TransformReward, func=lambda reward: reward / 2),
    )

    check_continues(registered(env_id, *wrappers), 200, tmp_path)


def test_restored_multi_agent_environment_continues_identically(tmp_path: Path) -> None:
    mpe2 = pytest.importorskip("mpe2.simple_spread_v3", reason="no mpe2")
    rules = Rules(AutoresetMode.SAME_STEP, resumable=True)

    def steps(sub_env: Any, count: int) -> list[int]:
        found = []
        for k in range(count):
            joint = {a: (k + i) % 5 for i, a in enumerate(sub_env.env.agents)}
            found.append(checksum(sub_env.step_agents(joint)[:4], 0))
        return found

    one, other = (ParallelSubEnv(0, mpe2.parallel_env, rules) for _ in range(2))
    one.reset_agents(1, None)
    other.reset_agents(2, None)
    steps(one, 30)
    saved = through_a_file(one.save({}), tmp_path)

    assert method_of(saved["env"]) == "state"
    assert one.verify(saved) == ""
    assert other.load(saved) == ""
    assert steps(other, 40) == steps(one, 40)


# -- environments of our own ----------------------------------------------------------


MODEL: Final = """
<mujoco>
  <worldbody>
    <site name="goal"/>
    <body><joint type="slide" name="x"/><geom size="0.1" mass="1"/></body>
  </worldbody>
  <actuator><motor joint="x"/></actuator>
</mujoco>
"""


class Goals(gym.Env[Any, Any]):
    """Moves a goal in the model of its simulator, as robotics environments do."""

    observation_space = spaces.Box(-np.inf, np.inf, (2,), np.float64)
    action_space = spaces.Box(-1, 1, (1,), np.float64)

    def __init__(self) -> None:
        import mujoco

        self.model = mujoco.MjModel.from_xml_string(MODEL)
        self.data = mujoco.MjData(self.model)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        import mujoco

        super().reset(seed=seed)
        mujoco.mj_resetData(self.model, self.data)
        self.model.site_pos[0, 0] = self.np_random.random()
        self.model.body_mass[1] = 1 + self.np_random.random()
        self.model.opt.timestep = 0.01 * (1 + self.np_random.random())
        self.model.opt.wind[0] = self.np_random.random()
        return self.observe(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        import mujoco

        self.data.ctrl[:] = action
        mujoco.mj_step(self.model, self.data)
        return self.observe(), 0.0, False, self.np_random.random() < 0.1, {}

    def observe(self) -> Any:
        return np.array([self.data.qpos[0], self.model.site_pos[0, 0]])


def test_changes_of_a_model_are_restored(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    assert check_continues(Goals, 30, tmp_path) == "state"


def test_another_model_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mujoco")
    one = Played(Goals)
    saved = one.sub_env.save({})
    other = MODEL.replace('<motor joint="x"/>', '<motor joint="x"/>' * 2)
    monkeypatch.setitem(globals(), "MODEL", other)

    assert "is another model" in Played(Goals).sub_env.load(saved)


class Counter:
    """As an object of an extension: its count cannot be read."""

    __slots__ = ("_next",)

    def __init__(self) -> None:
        self._next = iter(range(1_000_000))  # an iterator shows no state

    def __call__(self) -> int:
        return next(self._next)


class Hidden(gym.Env[Any, Any]):
    """Has a counter whose state cannot be read.

    Args:
        lasting: Whether the counter outlives a reset.
        clock: Whether results depend on the clock.
    """

    observation_space = spaces.Box(-np.inf, np.inf, (2,), np.float64)
    action_space = spaces.Discrete(2)

    def __init__(self, *, lasting: bool = False, clock: bool = False) -> None:
        self.lasting, self.clock = lasting, clock
        self.counter = Counter()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        if not self.lasting:
            self.counter = Counter()
        self.left = int(self.np_random.integers(5, 15))
        return self.observe(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.left -= 1
        return self.observe(), float(action), False, self.left == 0, {}

    def observe(self) -> Any:
        time_ns = time.perf_counter_ns() if self.clock else 0
        return np.array([self.counter(), time_ns], np.float64)


@pytest.mark.parametrize("lasting", [False, True])
def test_hidden_state_is_restored_by_repeating_actions(
    *, lasting: bool, tmp_path: Path
) -> None:
    method = check_continues(partial(Hidden, lasting=lasting), 60, tmp_path)

    assert method == ("history" if lasting else "episode")


def test_record_of_lasting_state_ends_at_its_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(episode_recorder, "MAX_STEPS", 40)
    one = Played(partial(Hidden, lasting=True))
    one.steps(80, seed=0)

    saved = one.sub_env.save({})

    assert method_of(saved["env"]) == "episode"
    assert "gave other observations" in one.sub_env.verify(saved)


def test_environment_that_depends_on_the_clock_is_not_restored() -> None:
    one = Played(partial(Hidden, clock=True))
    one.steps(20, seed=0)
    saved = one.sub_env.save({})

    reason = one.sub_env.verify(saved)

    assert "gave other observations or rewards" in reason
    again = one.sub_env.save({method_of(saved["env"]): reason})
    assert (again["env"]["method"], again["env"]["reason"]) == ("none", reason)
    assert one.sub_env.load(again) == reason


class Elsewhere(gym.Env[Any, Any]):
    """Its state is not in the environment, as that of a simulator in a server."""

    observation_space = spaces.Box(-np.inf, np.inf, (), np.float64)
    action_space = spaces.Discrete(2)
    worlds: ClassVar[dict[int, float]] = {}

    def __init__(self) -> None:
        self.kind = "elsewhere"

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.worlds[id(self)] = self.np_random.random()
        return np.float64(self.worlds[id(self)]), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.worlds[id(self)] += 1 + int(action)
        ended = self.np_random.random() < 0.1
        return np.float64(self.worlds[id(self)]), 0.0, False, ended, {}


def test_state_outside_of_the_environment_is_recorded_from_the_next_episode(
    tmp_path: Path,
) -> None:
    one, other = Played(Elsewhere), Played(Elsewhere)
    one.steps(20, seed=0)
    saved = one.sub_env.save({})
    reason = one.sub_env.verify(saved)
    assert "continued differently: in step 1" in reason

    distrusted = {"state": reason}
    assert one.sub_env.save(distrusted)["env"]["reason"] == reason
    one.steps(60, seed=1)
    again = through_a_file(one.sub_env.save(distrusted), tmp_path)

    assert method_of(again["env"]) == "episode"
    assert one.sub_env.verify(again) == ""
    assert other.sub_env.load(again) == ""
    assert other.steps(40, seed=2) == one.steps(40, seed=2)


class Server:
    """Simulators that are known by numbers, as those of PyBullet."""

    worlds: ClassVar[dict[int, float]] = {}
    count: ClassVar[int] = 0

    @classmethod
    def connect(cls) -> int:
        cls.count += 1
        cls.worlds[cls.count] = 0.0
        return cls.count


class Client(gym.Env[Any, Any]):
    """Has the number of its simulator, and disconnects it.

    Args:
        late: Whether each reset connects to another simulator.
        hidden: Whether it has a counter whose state cannot be read, as well.
        label: Whether the number is in a string.
    """

    observation_space = spaces.Box(-np.inf, np.inf, (), np.float64)
    action_space = spaces.Discrete(2)

    def __init__(self, *, late: bool, hidden: bool, label: bool = False) -> None:
        self.late = late
        self.kind: Any = str if label else int
        self.client = self.kind(0 if late else Server.connect())
        self.counter = Counter() if hidden else None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        if self.late:
            self.close()
            self.client = self.kind(Server.connect())
        Server.worlds[int(self.client)] = self.np_random.random()
        return np.float64(Server.worlds[int(self.client)]), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        Server.worlds[int(self.client)] += 1 + int(action)
        ended = self.np_random.random() < 0.1
        return np.float64(Server.worlds[int(self.client)]), 0.0, False, ended, {}

    def close(self) -> None:
        Server.worlds.pop(int(self.client), None)


@pytest.mark.parametrize("label", [False, True])
@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize("late", [False, True])
def test_verification_does_not_use_the_handle_of_the_saved_environment(
    *, late: bool, hidden: bool, label: bool
) -> None:
    one = Played(partial(Client, late=late, hidden=hidden, label=label))
    one.steps(20, seed=0)
    distrusted: dict[str, str] = {}
    for _ in range(3):
        saved = one.sub_env.save(distrusted)
        if method_of(saved["env"]) == "none":
            assert "env.client" in saved["env"]["reason"]
        else:
            reason = one.sub_env.verify(saved)
            assert reason.startswith("env.client identifies something")
            distrusted[method_of(saved["env"])] = reason
        one.steps(30, seed=1)  # the simulator is still there


class OwnGenerator(gym.Env[Any, Any]):
    """Draws whole numbers from a generator that no reset seeds."""

    observation_space = spaces.Discrete(1_000)
    action_space = spaces.Discrete(2)

    def __init__(self) -> None:
        self.generators = {"mine": [np.random.default_rng()], "other": random.Random()}
        self.generators["old"] = np.random.RandomState()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        self.place = int(self.generators["mine"][0].integers(300))
        self.place += self.generators["other"].randrange(300)
        self.place += int(self.generators["old"].randint(300))
        return self.place, {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.place = int(self.generators["mine"][0].integers(900))
        return self.place, 0.0, False, self.place < 90, {}


def test_numbers_from_unseeded_generators_are_not_handles(tmp_path: Path) -> None:
    assert check_continues(OwnGenerator, 30, tmp_path) == "state"


def test_a_client_of_pybullet_is_recorded() -> None:
    one = Played(Simulated)
    one.steps(20, seed=0)

    saved = one.sub_env.save({})

    assert method_of(saved["env"]) == "history"
    assert one.sub_env.verify(saved) == ""
    other = Played(Simulated)
    assert other.sub_env.load(saved) == ""
    assert other.steps(40, seed=2) == one.steps(40, seed=2)


class BulletClient:
    """A handle as an object, with the name of PyBullet's."""

    __module__ = "pybullet_utils.bullet_client"

    def __init__(self) -> None:
        self._client = Server.connect()

    def __del__(self) -> None:
        Server.worlds.pop(self._client, None)

    def move(self, distance: float) -> float:
        Server.worlds[self._client] += distance
        return Server.worlds[self._client]


class Simulated(gym.Env[Any, Any]):
    """Has a connection to its simulator, which outlives resets."""

    observation_space = spaces.Box(-np.inf, np.inf, (), np.float64)
    action_space = spaces.Discrete(2)

    def __init__(self) -> None:
        self.connection = BulletClient()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        return np.float64(self.connection.move(self.np_random.random())), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        ended = self.np_random.random() < 0.1
        return np.float64(self.connection.move(int(action))), 0.0, False, ended, {}


class Global(gym.Env[Any, Any]):
    """Draws from the global generators, as environments should not."""

    observation_space = spaces.Box(0, 1, (2,), np.float64)
    action_space = spaces.Discrete(2)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        return np.zeros(2), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        return np.array([random.random(), np.random.rand()]), 0.0, False, False, {}


def test_verification_leaves_global_generators_alone() -> None:
    one = Played(Global)
    random.seed(1)
    np.random.seed(1)
    expected = one.steps(6, seed=0)
    random.seed(1)
    np.random.seed(1)
    first = one.steps(3, seed=0)

    reason = one.sub_env.verify(one.sub_env.save({}))

    assert "continued differently" in reason
    assert first + one.steps(3, seed=0) == expected


def test_environment_whose_attributes_raise_is_reported() -> None:
    class Broken:
        __slots__ = ("a",)

        def __getattribute__(self, name: str) -> Any:
            msg = f"no {name}"
            raise RuntimeError(msg)

    one = Played(partial(gym.make, "CartPole-v1"))
    one.sub_env.env.unwrapped.broken = Broken()  # type: ignore[attr-defined]

    saved = one.sub_env.save({})

    assert saved["env"]["method"] == "none"
    assert "reading its state failed" in saved["env"]["reason"]
    assert len(one.steps(3, seed=0)) == 3


def test_guard_interrupts_a_hanging_verification() -> None:
    class Slow(gym.Env[Any, Any]):
        observation_space = spaces.Discrete(2)
        action_space = spaces.Discrete(2)
        calls: ClassVar[list[int]] = []

        def reset(self, **_: Any) -> tuple[Any, dict[str, Any]]:
            return 0, {}

        def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
            self.calls.append(1)
            while len(self.calls) > 3:
                time.sleep(0.01)
            return 0, 0.0, False, False, {}

    watch = HangWatch(2.0)
    try:
        sub_env = SubEnv(0, Slow, RULES, watch.guard())
        sub_env.assign(Arrays.of(Slow.observation_space, 1))
        sub_env.reset(1, None)

        assert "took longer than 2 s" in sub_env.verify(sub_env.save({}))
    finally:
        watch.close()
