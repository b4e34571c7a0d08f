# SPDX-License-Identifier: Apache-2.0
"""The vector environment: Gymnasium's interface on sharded sub-environments."""

from __future__ import annotations

import weakref
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import iterate

from reactorl.rl._public import public
from reactorl.rl.envs.async_backend import AsyncBackend
from reactorl.rl.envs.backend import lockstep_backend
from reactorl.rl.envs.buffer_pool import HOME, BufferPool
from reactorl.rl.envs.commands import Answer, Call, Only, Render, Reset, SetAttr, Step
from reactorl.rl.envs.errors import EnvError
from reactorl.rl.envs.factory import count_of, makers, whole
from reactorl.rl.envs.native.choice import are_native
from reactorl.rl.envs.observation_buffer import is_array_like
from reactorl.rl.envs.placement import choose_placement
from reactorl.rl.envs.rules import Rules
from reactorl.rl.envs.thread_safety.probe import thread_safety
from reactorl.rl.vector.arguments import check_options, mask_for, seeds_for
from reactorl.rl.vector.exclusive import ExclusiveUse, exclusive
from reactorl.rl.vector.infos import batch_infos
from reactorl.rl.vector.send_recv import SendRecv
from reactorl.rl.vector.shared_state import check_shared_state
from reactorl.rl.vector.spaces import VectorSpaces

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gymnasium.envs.registration import EnvSpec

    from reactorl import Tag
    from reactorl.rl.envs.async_backend import Batching
    from reactorl.rl.envs.backend import Backend
    from reactorl.rl.envs.commands import Actions, Command, Description, Reply
    from reactorl.rl.envs.factory import Maker
    from reactorl.rl.envs.observation_buffer import Array
    from reactorl.rl.envs.placement import Placement, PlacementOption
    from reactorl.rl.envs.rules import NativeOption, Restart
    from reactorl.rl.envs.sub_env import Infos
    from reactorl.rl.vector.batch_log import BatchLog
    from reactorl.rl.vector.spaces import ObservationMode

StepResult: TypeAlias = "tuple[Any, Array, Array, Array, dict[str, Any]]"


@public
class VectorEnv(SendRecv, gym.vector.VectorEnv[Any, Any, Any]):
    """Steps environments on all cores, with the results of ``SyncVectorEnv``.

    It follows Gymnasium's interface. Results are bit-identical for any number of
    workers, in threads and in processes. One thread at a time may use it.

    Args:
        env: An id such as ``"CartPole-v1"``, an ``EnvSpec``, or a list of functions
            that make one environment each.
        num_envs: Number of environments, if ``env`` is not a list.
        env_kwargs: Arguments for ``gymnasium.make``, if ``env`` is not a list.
        wrappers: Wrappers of each environment, if ``env`` is not a list.
        autoreset_mode: When an environment is reset after the end of an episode.
        observation_mode: How observation spaces are batched, as in ``SyncVectorEnv``.
        copy: Return new observation arrays; if False, the arrays are overwritten by
            the next step.
        workers: Number of threads or processes; None: chosen automatically.
        placement: ``"thread"``: in this process; ``"process"``: in worker processes,
            for environments that cannot run concurrently in one process, or that are
            written in Python if the interpreter has a GIL; ``"auto"``: whichever is
            faster, but several threads only for environments that are known or found
            to be safe in them.
        restart: What to do with an environment that fails: ``"never"`` raises,
            ``"reset"`` resets it, ``"recreate"`` makes a new one. A restart truncates
            the episode, with the last valid observation, and is reported in
            ``info["restart"]`` and ``info["failure"]``; with the autoreset mode
            ``SAME_STEP`` these are in ``info["final_info"]``.
        timeout: Limit for one step or reset, in seconds.
        check_nan: Whether NaN in an observation or reward counts as failure.
        pin: Step each environment on the thread that made it, even if another thread
            is idle. Environments with an OpenGL context need it.
        batch_size: Number of results that ``recv`` returns. The other environments
            continue to step meanwhile. None: all environments step together.
        batching: Which results form a batch. ``"declared"``: those with the fewest
            steps, the first by index; reproducible. ``"physical"``: those that are
            ready first; ``batches`` has a log, which can be replayed.
        replay: The log of an earlier run; its batches are formed again.
        check: First step each environment 50 times: twice alone, then interleaved with
            the others, with the same seed and actions. Environments that give other
            results than before are reported by ``SharedStateError``: they share state,
            or are not reproducible even alone. Then step some concurrently, in threads
            of another process; if results differ, ``"thread"`` raises
            ``ThreadSafetyError``, and ``"auto"`` uses processes.
        native: Whether Gymnasium's own environments are stepped in native code, with
            the same results. ``"auto"``: those that are given by an id, if this machine
            and this version of Gymnasium allow it. True: also those that functions
            make; fails if there is an environment without a native body. False: none.

    Raises:
        EnvError: An environment cannot be made.
        SharedStateError: ``check`` found environments with different results.
        ThreadSafetyError: ``check`` found that threads change the results, and
            ``placement`` is ``"thread"``.
        ValueError: An argument is out of its range.
        RuntimeError: ``placement`` is ``"process"`` on a system without POSIX
            processes.

    Example:
        >>> envs = VectorEnv("CartPole-v1", num_envs=16)
        >>> observations, infos = envs.reset(seed=1)
    """

    def __init__(
        self,
        env: str | EnvSpec | Sequence[Maker],
        num_envs: int | None = None,
        *,
        env_kwargs: Mapping[str, Any] | None = None,
        wrappers: Sequence[Callable[[Any], Any]] = (),
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        observation_mode: ObservationMode = "same",
        copy: bool = True,
        workers: int | None = None,
        placement: PlacementOption = "auto",
        restart: Restart = "never",
        timeout: float | None = None,
        check_nan: bool = False,
        pin: bool = False,
        batch_size: int | None = None,
        batching: Batching = "declared",
        replay: BatchLog | None = None,
        check: bool = False,
        native: NativeOption = "auto",
    ) -> None:
        super().__init__()
        self.closed = True  # until the backend exists
        self._use = ExclusiveUse()
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        rules = Rules(self.autoreset_mode, restart, check_nan, timeout, native=native)
        rules.check()
        self.observation_mode = observation_mode
        self.copy = copy
        self.env_fns = makers(env, num_envs, env_kwargs, wrappers)
        self.num_envs = len(self.env_fns)
        if workers is not None:
            workers = count_of("workers", workers)
        verdict = None
        if check:
            check_shared_state(self.env_fns)
            verdict = thread_safety(self.env_fns, anew=True)
        self.placement: Placement
        self.placement, workers = choose_placement(
            placement,
            self.env_fns,
            workers,
            verdict=verdict,
            native=are_native(self.env_fns, native) and not check_nan,
        )
        self.batch_size = self.num_envs if batch_size is None else batch_size
        if batch_size is None:
            self._async = None
            self._backend: Backend = lockstep_backend(
                self.placement, self.env_fns, rules, workers=workers, pin=pin
            )
        else:
            self._check_batching(batching, replay)
            self._backend = self._async = AsyncBackend(
                self.env_fns,
                rules,
                placement=self.placement,
                workers=workers,
                batch_size=batch_size,
                batching=batching,
                replay=replay,
            )
        self._sent: Command | None = None
        # Closes it when it is garbage, and at the end of the program.
        self._closing = weakref.finalize(self, self._backend.close)
        self.closed = False
        try:
            self._make_spaces(self._backend.describe(), restarts=restart != "never")
        except BaseException:
            self.close()
            raise

    def _check_batching(self, batching: str, replay: BatchLog | None) -> None:
        if not 1 <= whole("batch_size", self.batch_size) <= self.num_envs:
            msg = (
                f"batch_size must be from 1 to num_envs={self.num_envs}, got "
                f"{self.batch_size}"
            )
            raise ValueError(msg)
        if batching not in ("declared", "physical"):
            msg = f"batching must be 'declared' or 'physical', got {batching!r}"
            raise ValueError(msg)
        if replay is not None:
            replay.check(self.num_envs, self.batch_size)

    def _make_spaces(self, envs: list[Description], *, restarts: bool) -> None:
        first = envs[0]
        self.metadata = {**first.metadata, "autoreset_mode": self.autoreset_mode}
        self.render_mode = first.render_mode
        found = VectorSpaces.of(envs, self.observation_mode)
        self.single_action_space = found.single_action
        self.action_space = found.action
        self._acts_by_row = is_array_like(self.action_space)
        self.single_observation_space = found.single_observation
        self.observation_space = found.observation
        # A restart needs the last observation, so the caller must not own it.
        self._arrays = self._backend.make_arrays(
            replace(first, observation_space=found.single_observation),
            pooled=self.copy and not restarts,
        )
        self._buffers = BufferPool([spare.batch() for spare in self._arrays.spares])

    # -- Gymnasium's interface --------------------------------------------------------

    @exclusive
    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Reset all environments, or those of ``options["reset_mask"]``.

        Args:
            seed: For environment i it is ``seed + i``; or one for each.
            options: For each environment, without the mask.
        """
        mask: list[bool] | None = None
        check_options(options)
        if options is not None and "reset_mask" in options:
            options = dict(options)
            mask = mask_for(options.pop("reset_mask"), self.num_envs)
        buffer = self._buffers.free()
        seeds = seeds_for(seed, self.num_envs)
        replies = self._execute(Reset(seeds, options, mask, buffer=buffer))
        return self._observations(buffer), self._infos(replies)

    def step(self, actions: Any) -> StepResult:  # noqa: ANN401
        """Step all environments.

        Raises:
            EnvError: One failed, and restarts are off. The others have stepped; their
                results are lost.
            BusyError: Another thread uses the vector environment.
        """
        if self.closed:
            self._check_open()
        use = self._use  # not by decorator: this is the hot path
        if not use.acquire(False):  # noqa: FBT003
            raise use.busy()
        try:
            if self._acts_by_row and type(actions) is np.ndarray and actions.ndim:
                each: Actions = actions  # shards take their rows
            else:
                each = self._each_action(actions)
            observations, replies = self._step(each, actions)
            infos: dict[str, Any] = {}
            if replies:
                infos = batch_infos(replies, self.num_envs, self._add_info)
            return observations, *self._arrays.results(), infos
        finally:
            use.release()

    def _each_action(self, actions: Any) -> Actions:  # noqa: ANN401
        try:
            return list(iterate(self.action_space, actions))
        except TypeError as error:
            msg = (
                f"actions must have an item for each of the {self.num_envs} "
                f"environments, as action_space.sample() does, got {actions!r}"
            )
            raise TypeError(msg) from error

    @exclusive
    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:  # noqa: ANN401
        """Call a method of each environment; an attribute is returned as it is."""
        return self._answers(Call(name, args, tuple(kwargs.items())))

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """Return an attribute of each environment."""
        return self.call(name)

    @exclusive
    def set_attr(self, name: str, values: Any) -> None:  # noqa: ANN401
        """Set an attribute of each environment.

        Args:
            name: The attribute.
            values: A list or tuple with a value for each, or one value for all.
        """
        if not isinstance(values, list | tuple):
            values = [values] * self.num_envs
        if len(values) != self.num_envs:
            msg = (
                "Values must be a list or tuple with length equal to the number of "
                f"environments. Got `{len(values)}` values for {self.num_envs} "
                "environments."
            )
            raise ValueError(msg)
        self._answers(SetAttr(name, values))

    @exclusive
    def render(self) -> tuple[Any, ...]:
        """Render each environment."""
        return self._answers(Render())

    @exclusive
    def close(self, **kwargs: Any) -> None:  # noqa: ANN401
        """Close the environments; a second call does nothing.

        Raises:
            BusyError: Another thread uses the vector environment. It stays open.
        """
        super().close(**kwargs)

    def close_extras(self, **kwargs: Any) -> None:  # noqa: ANN401
        """Close the environments; called once by ``close``."""
        self.closed = True  # even if a close fails
        self._closing()

    @property
    def np_random(self) -> Any:  # noqa: ANN401
        """The random generators of all environments."""
        return self.get_attr("np_random")

    @np_random.setter
    def np_random(self, value: object) -> None:
        self.set_attr("np_random", value)

    @property
    def np_random_seed(self) -> tuple[int, ...]:  # type: ignore[override]
        """The seeds of all environments."""
        return self.get_attr("np_random_seed")

    # -- beyond Gymnasium -------------------------------------------------------------

    @property
    def tag(self) -> Tag:
        """The tag of the last step or reset, elapsed."""
        return self._backend.tag

    @property
    def is_native(self) -> bool:
        """Whether steps are done in native code, apart from unusual ones."""
        return bool(getattr(self._backend, "is_native", False))

    @property
    def envs(self) -> list[gym.Env[Any, Any]]:
        """The environments themselves, if they are in this process.

        From now on they are stepped in Python, because the caller may change them.
        """
        found: list[gym.Env[Any, Any]] | None = getattr(self._backend, "envs", None)
        if found is None:
            msg = "envs must be in this process; use call() and get_attr() instead"
            raise AttributeError(msg)
        return found

    @exclusive
    def reset_each(
        self,
        seeds: Sequence[int | None],
        options: Sequence[dict[str, Any] | None],
    ) -> tuple[Any, list[Infos]]:
        """Reset all environments, each with a seed and options of its own.

        Returns:
            The observations, and for each environment a tuple with its info; an empty
            one if the info is empty.
        """
        if len(options) != self.num_envs:
            msg = f"options must have {self.num_envs} items, got {len(options)}"
            raise ValueError(msg)
        buffer = self._buffers.free()
        seeds = seeds_for(seeds, self.num_envs)
        infos = _each(self._execute(Reset(seeds, None, each=options, buffer=buffer)))
        return self._observations(buffer), infos

    @exclusive
    def step_each(
        self, actions: Sequence[Any] | Array
    ) -> tuple[Any, Array, Array, Array, list[Infos]]:
        """Step all environments without batching their infos.

        Args:
            actions: One for each environment.

        Returns:
            The results of ``step``, with a tuple of infos for each environment. With
            ``SAME_STEP``, the first info of the last step of an episode has
            ``final_obs`` and ``final_info``.
        """
        self._check_open()
        observations, replies = self._step(list(actions), actions)
        infos: list[Infos] = [replies.get(k, ()) for k in range(self.num_envs)]
        return observations, *self._arrays.results(), infos

    @exclusive
    def ask(self, command: Command, indices: Sequence[int]) -> list[Any]:
        """Return the answers of some environments to a command, in that order.

        Raises:
            Exception: The first one that a call raised.
        """
        replies = self._execute(Only(command, tuple(indices)))
        return [_answer(replies[index]) for index in indices]

    # -- parts -------------------------------------------------------------------------

    def _check_open(self) -> None:
        if self.closed:
            msg = (
                f"Trying to operate on `{type(self).__name__}`, after a call to "
                "`close()`."
            )
            raise gym.error.ClosedEnvironmentError(msg)

    def _execute(self, command: Command) -> Sequence[Reply]:
        """Execute a command in all environments; raise the first failure."""
        self._check_open()
        try:
            replies = self._backend.execute(command)
        except KeyboardInterrupt:
            super().close()  # the environments are in an unknown state
            raise
        for reply in replies:
            if type(reply) is EnvError:
                raise reply
        return replies

    def _step(
        self,
        each: Actions,
        actions: Any,  # noqa: ANN401
    ) -> tuple[Any, dict[int, Any]]:
        """Step all environments; raise the first failure.

        Returns:
            The observations, and the replies of some environments.
        """
        if len(each) != self.num_envs:
            msg = (
                f"actions must have {self.num_envs} items, one per environment, got "
                f"{len(each)}"
            )
            raise ValueError(msg)
        try:
            buffer = self._buffers.free() if self._arrays.spares else HOME
            replies = self._backend.step(Step(each, actions, buffer=buffer))
        except KeyboardInterrupt:
            super().close()  # the environments are in an unknown state
            raise
        for reply in replies.values():
            if type(reply) is EnvError:
                raise reply
        return self._observations(buffer), replies

    def _answers(self, command: Command) -> tuple[Any, ...]:
        return tuple([_answer(reply) for reply in self._execute(command)])

    def _observations(self, buffer: int) -> Any:  # noqa: ANN401
        if buffer != HOME:
            return self._buffers.lend(buffer)
        slots = self._arrays.observations
        return slots.copy() if self.copy else slots.batch()

    def _infos(self, replies: Sequence[Any]) -> dict[str, Any]:
        present = {index: infos for index, infos in enumerate(replies) if infos}
        return batch_infos(present, self.num_envs, self._add_info)


def _each(replies: Sequence[Any]) -> list[Infos]:
    return [() if parts is None else parts for parts in replies]


def _answer(reply: Reply) -> Any:  # noqa: ANN401
    assert isinstance(reply, Answer)
    return reply.result()
