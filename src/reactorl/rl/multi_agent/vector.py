# SPDX-License-Identifier: Apache-2.0
"""A vector of multi-agent environments (``ParallelEnv``)."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode

from reactorl.rl._public import public
from reactorl.rl.envs.backend import lockstep_backend
from reactorl.rl.envs.commands import Answer, Call, Only
from reactorl.rl.envs.errors import EnvError
from reactorl.rl.envs.factory import count_of, num_envs_of
from reactorl.rl.envs.placement import choose_placement
from reactorl.rl.envs.rules import Rules
from reactorl.rl.multi_agent.sub_env import (
    ParallelSubEnv,
    ResetAgents,
    StepAgents,
    try_parallel_steps,
)
from reactorl.rl.vector.arguments import check_options, seeds_for
from reactorl.rl.vector.exclusive import ExclusiveUse, exclusive

if TYPE_CHECKING:
    from collections.abc import Callable

    from reactorl import Tag
    from reactorl.rl.envs.commands import Command
    from reactorl.rl.envs.observation_buffer import Space
    from reactorl.rl.envs.placement import PlacementOption
    from reactorl.rl.envs.rules import Restart
    from reactorl.rl.multi_agent.results import AgentsDescription, ByAgent

    Maker: TypeAlias = Callable[[], Any]
    """Makes a ``ParallelEnv``."""
    Turns: TypeAlias = tuple[
        list[ByAgent], list[ByAgent], list[ByAgent], list[ByAgent], list[ByAgent]
    ]


@public
class ParallelVectorEnv:
    """Steps multi-agent environments on all cores.

    Arguments and results are lists with an entry for each environment, in order. They
    are those of a loop over the environments, for any number of workers. Agents come
    and go; ``agents[i]`` has the present agents of environment i.

    Args:
        env: A list of functions that make a ``ParallelEnv`` each, or one function.
        num_envs: Number of environments, if ``env`` is one function.
        autoreset_mode: What happens to an environment that has no agents left.
            ``DISABLED``: its results are empty dicts until it is reset.
            ``NEXT_STEP``: it is reset instead of its next step, with rewards of 0.
            ``SAME_STEP``: it is reset in the same step; the infos of its agents
            then have ``final_obs`` and ``final_info``.
        workers: Number of threads or processes; None: chosen automatically.
        placement: ``"thread"``: in this process; ``"process"``: in worker
            processes, for environments in Python if the interpreter has a GIL;
            ``"auto"``: whichever is faster, but several threads only for environments
            that are known or found to be safe in them.
        restart: What to do with an environment that fails: ``"never"`` raises,
            ``"reset"`` resets it, ``"recreate"`` makes a new one. A restart
            truncates the episode for all present agents, with their last observations,
            and is reported in their infos as ``"restart"`` and ``"failure"``; with
            ``SAME_STEP`` these are in ``"final_info"``.
        timeout: Limit for one step or reset, in seconds.
        pin: Whether an environment is only stepped on the thread that made it.

    Raises:
        EnvError: An environment cannot be made.

    Example:
        >>> envs = ParallelVectorEnv([make_game] * 16)
        >>> observations, infos = envs.reset(seed=1)
        >>> results = envs.step([policy(each) for each in observations])
    """

    def __init__(
        self,
        env: Maker | Sequence[Maker],
        num_envs: int | None = None,
        *,
        autoreset_mode: str | AutoresetMode = AutoresetMode.DISABLED,
        workers: int | None = None,
        placement: PlacementOption = "auto",
        restart: Restart = "never",
        timeout: float | None = None,
        pin: bool = False,
    ) -> None:
        self._use = ExclusiveUse()
        makers = _makers(env, num_envs)
        self.num_envs = len(makers)
        if workers is not None:
            workers = count_of("workers", workers)
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        rules = Rules(
            self.autoreset_mode, restart, timeout=timeout, sub_env=ParallelSubEnv
        )
        rules.check()
        self.placement, workers = choose_placement(
            placement, makers, workers, try_parallel_steps
        )
        self._backend = lockstep_backend(
            self.placement, makers, rules, workers=workers, pin=pin
        )
        # Closes it when it is garbage, and at the end of the program.
        self._closing = weakref.finalize(self, self._backend.close)
        try:
            described: list[Any] = self._backend.describe()  # as ParallelSubEnv does it
            self.descriptions: list[AgentsDescription] = described
        except BaseException:
            self.close()
            raise
        self.metadata = self.descriptions[0].metadata
        self.agents = [description.agents for description in self.descriptions]
        self._episodes = [0] * self.num_envs
        self._spaces: list[dict[tuple[str, Any], Space]] = [{} for _ in self.agents]

    @exclusive
    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
        indices: Sequence[int] | None = None,
    ) -> tuple[list[ByAgent], list[ByAgent]]:
        """Reset all environments, or some of them.

        Args:
            seed: For environment i it is ``seed + i``; or one for each that is reset.
            options: For each environment.
            indices: The environments; None: all.

        Returns:
            Observations and infos of those that were reset, in that order.

        Raises:
            EnvError: One failed, also after a restart if restarts are on.
        """
        check_options(options)
        meant = self._meant(indices)
        seeds = dict(zip(meant, _seeds(seed, meant), strict=True))
        begun = self._execute(ResetAgents(seeds, options), meant)
        for index, each in zip(meant, begun, strict=True):
            self._note(index, each.agents, each.episode)
        return [each.observations for each in begun], [each.infos for each in begun]

    @exclusive
    def step(self, actions: Sequence[ByAgent | None]) -> Turns:
        """Step all environments.

        Args:
            actions: By agent, for each environment; ignored for one without agents.

        Returns:
            Observations, rewards, terminations, truncations and infos.

        Raises:
            EnvError: One failed, and restarts are off. The others have stepped; their
                results are lost.
        """
        each = list(actions)
        if len(each) != self.num_envs:
            msg = (
                f"actions must have {self.num_envs} items, one per environment, got "
                f"{len(each)}"
            )
            raise ValueError(msg)
        turns = self._execute(StepAgents(each), range(self.num_envs))
        for index, turn in enumerate(turns):
            self._note(index, turn.agents, turn.episode)
        return (
            [turn.observations for turn in turns],
            [turn.rewards for turn in turns],
            [turn.terminations for turn in turns],
            [turn.truncations for turn in turns],
            [turn.infos for turn in turns],
        )

    def observation_space(self, agent: Any, index: int = 0) -> Space:  # noqa: ANN401
        """Return the observation space of an agent of one environment."""
        return self._space("observation_space", agent, index)

    def action_space(self, agent: Any, index: int = 0) -> Space:  # noqa: ANN401
        """Return the action space of an agent of one environment.

        From another process it is a copy, the same one until the next reset.
        """
        return self._space("action_space", agent, index)

    @exclusive
    def call(
        self,
        name: str,
        *args: Any,  # noqa: ANN401
        indices: Sequence[int] | None = None,
        **kwargs: Any,  # noqa: ANN401
    ) -> list[Any]:
        """Call a method of environments; an attribute is returned as it is."""
        return self._answers(Call(name, args, tuple(kwargs.items())), indices)

    @exclusive
    def close(self) -> None:
        """Close the environments; may be called again."""
        self._closing()

    @property
    def tag(self) -> Tag:
        """The tag of the last step or reset, elapsed."""
        return self._backend.tag

    def _note(self, index: int, agents: list[Any], episode: int) -> None:
        self.agents[index] = agents
        if self._episodes[index] != episode:
            self._episodes[index] = episode
            self._spaces[index].clear()  # a reset may change them

    def _space(self, kind: str, agent: Any, index: int) -> Space:  # noqa: ANN401
        known = self._spaces[index]
        if (kind, agent) not in known:
            known[kind, agent] = self.call(kind, agent, indices=[index])[0]
        return known[kind, agent]

    def _meant(self, indices: Sequence[int] | None) -> Sequence[int]:
        every = range(self.num_envs)
        if indices is None:
            return every
        meant = [every[index] for index in indices]
        if len(set(meant)) < len(meant):
            msg = f"indices must be distinct, got {list(indices)}"
            raise ValueError(msg)
        return meant

    def _execute(self, command: Command, meant: Sequence[int]) -> list[Any]:
        if not self._closing.alive:
            msg = "the environments are closed"
            raise gym.error.ClosedEnvironmentError(msg)
        some = command if len(meant) == self.num_envs else Only(command, tuple(meant))
        replies = self._backend.execute(some)
        for reply in replies:
            if isinstance(reply, EnvError):
                raise reply
        return [replies[index] for index in meant]

    def _answers(
        self, command: Command, indices: Sequence[int] | None = None
    ) -> list[Any]:
        answers: list[Answer] = self._execute(command, self._meant(indices))
        for answer in answers:
            if answer.error is not None:
                raise answer.error
        return [answer.value for answer in answers]


def _makers(env: Any, num_envs: int | None) -> list[Maker]:  # noqa: ANN401
    if callable(env):
        return [env] * num_envs_of(1 if num_envs is None else num_envs)
    if hasattr(env, "step"):
        msg = (
            "env must be a function that makes a ParallelEnv, got a "
            f"{type(env).__name__}; use lambda: make_it()"
        )
        raise TypeError(msg)
    if not isinstance(env, Sequence) or not env or not all(map(callable, env)):
        msg = (
            "env must be a function that makes a ParallelEnv, or a list of such "
            f"functions, got {env!r}"
        )
        raise TypeError(msg)
    if num_envs not in (None, len(env)):
        msg = f"num_envs must be the number of functions, {len(env)}, got {num_envs}"
        raise ValueError(msg)
    return list(env)


def _seeds(
    seed: int | Sequence[int | None] | None, meant: Sequence[int]
) -> Sequence[int | None]:
    if isinstance(seed, int | np.integer):
        return [int(seed) + index for index in meant]
    return seeds_for(seed, len(meant))
