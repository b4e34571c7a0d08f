# SPDX-License-Identifier: Apache-2.0
"""Tasks: environments with a threshold, and how often and how long to try."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final


@dataclass(frozen=True, slots=True)
class Task:
    """An environment that is learned until a threshold.

    Attributes:
        name: As on the command line and in file names.
        env_id: Id of the environment.
        threshold: Mean return of a greedy evaluation that ends a run.
        ours: Algorithms of ours; all with a preset or the defaults.
        seeds: Number of seeds in a full measurement.
        episodes: Episodes of an evaluation.
        every: Environment steps between two evaluations.
        limit: Environment steps after which a run has failed.
        seconds: Training time after which a run has failed.
        modules: Modules without which it cannot be made.
        curve: Whether it is a run of hours that is resumed until its end: only ours,
            for its curve.
        total: Environment steps of ours instead of those of the preset; 0: those.
    """

    name: str
    env_id: str
    threshold: float
    ours: tuple[str, ...]
    seeds: int = 5
    episodes: int = 20
    every: int = 5_000
    limit: int = 1_000_000
    seconds: float = 1_800.0
    modules: tuple[str, ...] = ()
    curve: bool = False
    total: int = 0


_ALL: Final = (
    Task("cartpole", "CartPole-v1", 475, ("ppo", "dqn"), limit=500_000),
    Task("acrobot", "Acrobot-v1", -85, ("ppo", "dqn"), limit=1_000_000),
    Task("pendulum", "Pendulum-v1", -200, ("ppo", "sac"), limit=200_000),
    Task("mountaincar", "MountainCarContinuous-v0", 90, ("sac",), limit=300_000),
    # An optimal policy succeeds in 3 of 4 episodes: 20 of them would be a lottery.
    Task("frozenlake", "FrozenLake-v1", 0.7, ("ppo",), episodes=100, limit=500_000),
    Task("taxi", "Taxi-v4", 7, ("ppo",), episodes=100, seeds=3),
    Task(
        "lunarlander",
        "LunarLander-v3",
        200,
        ("ppo",),
        every=10_000,
        limit=2_000_000,
        seconds=3_600,
        modules=("Box2D",),
    ),
    Task(
        "halfcheetah",
        "HalfCheetah-v5",
        3_000,
        ("sac",),
        seeds=3,
        every=10_000,
        seconds=2 * 3_600,
        modules=("mujoco",),
    ),
    Task(
        "breakout",
        "MinAtar/Breakout-v1",
        10,
        ("dqn", "ppo"),
        seeds=3,
        every=20_000,
        limit=10_000_000,
        seconds=2 * 3_600,
        modules=("minatar",),
    ),
    Task(
        "pong",
        "ALE/Pong-v5",
        18,
        ("ppo",),
        seeds=1,
        limit=10_000_000,
        seconds=1e9,
        modules=("ale_py",),
        curve=True,
    ),
)
TASKS: Final = {task.name: task for task in _ALL}


def smoke(task: Task) -> Task:
    """Return a task that takes seconds: it shows whether everything works."""
    short = 2_048
    return replace(
        task,
        threshold=-1e9,
        seeds=1,
        episodes=2,
        every=short,
        limit=2 * short,
        seconds=120.0,
        total=2 * short,
        curve=False,
    )
