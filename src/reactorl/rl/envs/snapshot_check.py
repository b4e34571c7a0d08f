# SPDX-License-Identifier: Apache-2.0
"""Verifies that a snapshot determines how an environment continues.

Two new environments are made, which begin differently (another seed, some steps), and
the snapshot is restored in both. Then

* what can be read of the first one must be what the snapshot says, and
* both must give the same observations, rewards and flags for the same actions, also
  after a reset.

Whatever is not part of the snapshot differs between the two, because it has another
past. If they continue identically nevertheless, the snapshot determines the
continuation; and it is the state of the environment that was saved, which therefore
continues in the same way. An environment that is not deterministic differs as well. A
difference that shows only after ``STEPS`` steps is not found.

Before that, two environments that did the same are compared. A number that differs is
a handle: of a simulator, a connection, a window. It is not restored at all: an
environment with the handle of another one would step and close what that one uses.

The environment that was saved is not used at all. The new ones get actions from a
generator of their own, and the global generators of Python and NumPy are restored
afterwards, so that training continues as if nothing had been verified.
"""

from __future__ import annotations

import random  # noqa: TID251 - the global generator is restored
import warnings
from contextlib import contextmanager, suppress
from copy import deepcopy
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from reactorl.rl.checkpoint.env_restore import copy_generators
from reactorl.rl.checkpoint.env_state import saved_env
from reactorl.rl.checkpoint.state_difference import first_difference, first_identifier
from reactorl.rl.envs.episode_recorder import checksum
from reactorl.rl.envs.errors import FAILURES
from reactorl.rl.envs.snapshot import NotRestoredError, restored
from reactorl.rl.envs.timeout import HangError, unguarded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from reactorl.rl.checkpoint.registry import Data
    from reactorl.rl.envs.snapshot import Env
    from reactorl.rl.envs.timeout import Guard

STEPS: Final = 24
"""Steps before a reset, and after it."""
_PAST: Final = 8
"""Steps of the second environment before the snapshot is restored."""


def check_snapshot(
    make: Callable[[], Env], snapshot: Data, guard: Guard = unguarded
) -> str:
    """Return why a snapshot does not determine the continuation, or an empty string.

    Args:
        make: Makes an environment.
        snapshot: From ``snapshot.take``.
        guard: Interrupts calls that exceed the timeout.
    """
    with _undisturbed():
        envs: list[Env] = []
        try:
            place = _handle(make, guard)
            if place:
                return (
                    f"{place} identifies something that only this environment can use"
                )
            for past in (0, _PAST):
                prepare = partial(begin, past=past, guard=guard)
                found, _ = restored(make, snapshot, prepare, guard)
                envs.append(found)
            nodes = snapshot["state"] if isinstance(snapshot, dict) else snapshot
            place = first_difference(nodes, saved_env(envs[0]))
            if place:
                return f"{place} is different after its state was restored"
            return _compare(envs[0], envs[1], guard)
        except NotRestoredError as error:
            return str(error)
        except FAILURES as error:
            return f"verifying its state failed: {type(error).__name__}: {error}"
        finally:
            for env in envs:
                with suppress(Exception):
                    env.close()


def _handle(make: Callable[[], Env], guard: Guard) -> str:
    """Return the place of a handle in environments, or an empty string.

    Two environments are made with the same random numbers, as far as these come from
    generators that can be read.
    """
    envs: list[Env] = []
    try:
        states = []
        python, numpy = random.getstate(), np.random.get_state()  # noqa: TID251
        for _ in range(2):
            random.setstate(python)
            np.random.set_state(numpy)  # noqa: TID251
            envs.append(make())
            if len(envs) > 1:
                copy_generators(envs[0], envs[1])
        for env in envs:
            random.setstate(python)
            np.random.set_state(numpy)  # noqa: TID251
            begin(env, guard=guard)
            states.append(saved_env(env))
        return first_identifier(*states)
    finally:
        for env in envs:
            with suppress(Exception):
                env.close()


def begin(env: Env, past: int = 0, guard: Guard = unguarded) -> None:
    """Reset an environment for the first time, and do some steps."""
    try:
        guard(partial(env.reset, seed=past))
    except TypeError:  # some environments take no arguments
        guard(env.reset)
    actions = _Actions(env, guard)
    for _ in range(past):
        if actions.step(env)[1]:
            break


def _compare(one: Env, other: Env, guard: Guard) -> str:
    """Step both environments with the same actions; return where they differ."""
    actions, same_actions = _Actions(one, guard), _Actions(one, guard)
    for half in ("", " after a reset"):
        for step in range(1, STEPS + 1):
            found, is_over = actions.step(one)
            if found != same_actions.step(other)[0]:
                return (
                    f"two environments with its state continued differently: in step "
                    f"{step}{half}"
                )
            if is_over:
                break
        first, second = (checksum(guard(env.reset)[0], 0) for env in (one, other))
        if first != second:
            return "two environments with its state continued differently: in a reset"
    return ""


class _Actions:
    """Random actions for an environment, or for all agents of one."""

    def __init__(self, env: Env, guard: Guard) -> None:
        self._guard = guard
        self._spaces: dict[Any, Any] = {}
        self._agents = hasattr(env, "possible_agents")
        if not self._agents:
            self._spaces[None] = _seeded(env.action_space, 0)

    def step(self, env: Env) -> tuple[Any, bool]:
        """Do a step; return its outcome and whether the episode is over."""
        try:
            if self._agents:
                joint = {agent: self._of(env, agent) for agent in env.agents}
                result = self._guard(partial(env.step, joint))
                return checksum(result[:4], 0), not env.agents
            result = self._guard(partial(env.step, self._spaces[None].sample()))
            return checksum(result[:4], 0), bool(result[2] or result[3])
        except HangError:
            raise
        except FAILURES as error:  # e.g. an action that is not allowed
            return type(error), True

    def _of(self, env: Env, agent: Any) -> Any:  # noqa: ANN401
        if agent not in self._spaces:
            place = list(env.possible_agents).index(agent)
            self._spaces[agent] = _seeded(env.action_space(agent), place)
        return self._spaces[agent].sample()


def _seeded(space: Any, seed: int) -> Any:  # noqa: ANN401
    """Return a copy of a space: sampling must not change the environment's own."""
    copied = deepcopy(space)
    copied.seed(seed)
    return copied


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Restore the global generators afterwards; show no warnings of environments."""
    python, numpy = random.getstate(), np.random.get_state()  # noqa: TID251
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy)  # noqa: TID251
