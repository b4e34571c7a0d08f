# SPDX-License-Identifier: Apache-2.0
"""ParallelVectorEnv is bit-identical to a loop over the environments of mpe2."""

from __future__ import annotations

from copy import deepcopy
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

import pytest
from gymnasium.vector import AutoresetMode

from reactorl.rl import ParallelVectorEnv
from tests.rl.comparing import assert_same

if TYPE_CHECKING:
    from collections.abc import Callable

mpe2 = pytest.importorskip("mpe2", reason="mpe2 needs pygame: no wheel for 3.14t")

NAMES = [m.name for m in iter_modules(mpe2.__path__) if m.name[-3:-1] == "_v"]
MODES = list(AutoresetMode)
COUNT = 3


def maker(name: str) -> Callable[[], Any]:
    def make() -> Any:
        return import_module(f"mpe2.{name}").parallel_env(max_cycles=7)

    return make


def actions(env: Any, turn: int, place: int) -> dict[str, Any]:
    """Return an action for each agent; they differ by turn, place and agent."""
    return {
        agent: (5 * turn + 3 * place + j) % int(env.action_space(agent).n)
        for j, agent in enumerate(env.agents)
    }


def loop(name: str, mode: AutoresetMode, steps: int) -> tuple[list[Any], list[Any]]:
    """Return what a loop over the environments does, and its actions."""
    envs = [maker(name)() for _ in range(COUNT)]
    begun = [env.reset(seed=4 + k) for k, env in enumerate(envs)]
    found: list[Any] = [deepcopy(tuple(map(list, zip(*begun, strict=True))))]
    script = []
    for turn in range(steps):
        given = [actions(env, turn, k) for k, env in enumerate(envs)]
        results = [step(env, each, mode) for env, each in zip(envs, given, strict=True)]
        script.append(given)
        found.append(deepcopy(tuple(map(list, zip(*results, strict=True)))))
    return found, script


def step(env: Any, given: dict[str, Any], mode: AutoresetMode) -> tuple[Any, ...]:
    if not env.agents:
        if mode is AutoresetMode.DISABLED:
            return {}, {}, {}, {}, {}
        observations, infos = env.reset()
        no = dict.fromkeys(env.agents, False)
        return observations, dict.fromkeys(env.agents, 0.0), no, dict(no), infos
    results = env.step(given)
    if env.agents or mode is not AutoresetMode.SAME_STEP:
        return tuple(results)
    last, rewards, terminations, truncations, last_infos = results
    observations, infos = env.reset()
    infos = deepcopy(infos)  # those of mpe2 are its own, and are returned again
    for agent in last:
        ended = {"final_obs": last[agent], "final_info": last_infos[agent]}
        infos.setdefault(agent, {}).update(ended)
    return observations, rewards, terminations, truncations, infos


def check(name: str, mode: AutoresetMode, steps: int, **options: Any) -> None:
    expected, script = loop(name, mode, steps)
    envs = ParallelVectorEnv(maker(name), COUNT, autoreset_mode=mode, **options)
    try:
        found: list[Any] = [deepcopy(envs.reset(seed=4))]
        found += [deepcopy(envs.step(given)) for given in script]
    finally:
        envs.close()
    assert_same(found, expected)


@pytest.mark.parametrize("name", NAMES)
def test_threads_equal_a_loop(name: str) -> None:
    for mode in MODES:
        check(name, mode, 18, placement="thread", workers=2)


@pytest.mark.parametrize("name", NAMES[::3])
def test_processes_equal_a_loop(name: str) -> None:
    mode = MODES[NAMES.index(name) % len(MODES)]
    check(name, mode, 18, placement="process", workers=1)


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", NAMES)
def test_many_steps_equal_a_loop(name: str, mode: AutoresetMode) -> None:
    for placement in ("thread", "process"):
        check(name, mode, 100, placement=placement, workers=2)
