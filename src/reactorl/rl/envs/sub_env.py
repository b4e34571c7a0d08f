# SPDX-License-Identifier: Apache-2.0
"""A sub-environment with one agent: step, reset, autoreset, restart, failure.

It works the same in a thread and in a worker process.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from gymnasium.vector import AutoresetMode

from reactorl.rl.envs.autoreset import reset_in_step, step_after_end
from reactorl.rl.envs.commands import Description
from reactorl.rl.envs.errors import FAILURES, EnvError
from reactorl.rl.envs.managed_env import ManagedEnv
from reactorl.rl.envs.result_row import ResultRow
from reactorl.rl.envs.timeout import unguarded
from reactorl.rl.envs.validation import check_info, check_nan

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import gymnasium as gym

    from reactorl.rl.envs._stepping import Unfinished
    from reactorl.rl.envs.arrays import Arrays
    from reactorl.rl.envs.rules import Rules
    from reactorl.rl.envs.timeout import Guard

Info: TypeAlias = "Mapping[str, Any]"
Infos: TypeAlias = "tuple[Info, ...]"
"""What a step or reset adds to the infos of the vector environment, in order."""


class SubEnv(ManagedEnv):
    """One environment, which writes its results into its row of the arrays.

    Args:
        index: The row.
        make: Makes the environment.
        rules: Settings of all sub-environments.
        guard: Interrupts calls that exceed the timeout.
    """

    REQUIRED = ("reset", "step", "action_space", "observation_space")

    def __init__(
        self,
        index: int,
        make: Callable[[], gym.Env[Any, Any]],
        rules: Rules,
        guard: Guard = unguarded,
    ) -> None:
        next_step = rules.autoreset is AutoresetMode.NEXT_STEP
        native = next_step and rules.restart == "never"
        super().__init__(index, make, rules, guard, native_reset=native)
        self._same_step = rules.autoreset is AutoresetMode.SAME_STEP
        self._row: ResultRow

    def _description(self) -> object:
        env = self.env
        return Description(
            env.observation_space,
            env.action_space,
            dict(env.metadata),
            env.render_mode,
            self.name,
        )

    def assign(self, arrays: Arrays) -> None:
        """Write results into these arrays from now on."""
        self._row = ResultRow(
            arrays,
            self.index,
            keep_valid=self.rules.restart != "never",
            # With SAME_STEP the last observation of an episode goes into the infos.
            ends=not self._same_step,
        )
        self.stepper.land(self._row.writer)

    def use_buffer(self, buffer: int) -> None:
        """Write observations into this buffer of the arrays from now on."""
        self._row.use_buffer(buffer)

    def rewrite_observation(self) -> None:
        """Write the last observation again, into the current buffer."""
        self._row.rewrite()

    # -- steps ------------------------------------------------------------------------

    @property
    def is_plain_episode(self) -> bool:
        """Whether steps need neither a record nor the report of a restart."""
        return self._recorder is None and self.restarts.is_quiet

    def step(self, action: Any) -> Infos:  # noqa: ANN401
        """Step the environment, or do what autoreset asks for instead.

        Raises:
            EnvError: It failed, and restarts are off.
        """
        unfinished = self.stepper.step(action)
        # Most steps end here; the rest is for episodes that end, infos and failures.
        return () if unfinished is None else self.finish_step(action, unfinished)

    def finish_step(self, action: Any, unfinished: Unfinished) -> Infos:  # noqa: ANN401
        """Finish a step that the native stepper could not.

        Raises:
            EnvError: It failed, and restarts are off.
        """
        if unfinished.is_reset:
            return self._finish_reset(unfinished)
        if unfinished.error is not None:
            return self._after_failure(unfinished.error)
        if not unfinished.begun and self._ended:
            failure = self.restarts.take_truncation()
            if failure is not None:
                return self._truncate(failure)
            if not self._same_step:
                return step_after_end(self)
        try:
            if unfinished.begun:
                result = unfinished.result
            else:
                self.steps += 1
                result = self._checked_step(action)
            obs, reward, terminated, truncated, info = result
            ended = terminated or truncated
            self._row.write(reward, terminated, truncated)
            if type(info) is not dict:
                check_info(info)
            # Last: if it fails, the last valid observation is still in the arrays.
            if not (ended and self._same_step):
                self._row.put(obs)
        except FAILURES as error:
            return self._after_failure(error)
        if ended:
            if self._same_step:
                return reset_in_step(self, obs, info)
            self._ended = True
        return (info,) if info else ()

    # -- resets -----------------------------------------------------------------------

    def reset(self, seed: int | None, options: dict[str, Any] | None) -> Infos:
        """Reset the environment.

        Raises:
            EnvError: It failed, also after a restart if restarts are on.
        """
        if seed is not None:
            self.restarts.seeded(seed)
        info = self.reset_or_restart(seed=seed, options=options)
        self._row.clear_flags()
        return (info,) if info else ()

    def _checked_step(self, action: Any) -> tuple[Any, ...]:  # noqa: ANN401
        result: tuple[Any, ...] = self._guard(partial(self.stepped.step, action))
        if self.rules.check_nan:
            check_nan(result[0], "observation")
            check_nan(result[1], "reward")
        return result

    def _checked_reset(self, **arguments: Any) -> tuple[Any, ...]:  # noqa: ANN401
        result: tuple[Any, ...] = self._guard(partial(self.stepped.reset, **arguments))
        if self.rules.check_nan:
            check_nan(result[0], "observation")
        return result

    def reset_or_restart(self, **arguments: Any) -> Info:  # noqa: ANN401
        """Reset the environment, after a restart if need be, and return its info."""
        info, failure = self._retry(partial(self._try_reset, arguments))
        return info if failure is None else {**info, **self._restart_info(failure)}

    def _try_reset(self, arguments: dict[str, Any]) -> Info:
        seed = self.restarts.take_seed()
        if seed is not None and arguments.get("seed") is None:
            arguments = {**arguments, "seed": seed}
        reset: Callable[..., tuple[Any, Info]] = self._checked_reset
        if self._plain:
            reset = self.stepped.reset
        return self._write_first(reset(**arguments))

    def _write_first(self, result: tuple[Any, Info]) -> Info:
        """Write the first observation of an episode and return the info."""
        if self._row.take_first(result):
            return {}
        obs, info = result
        check_info(info)
        self._row.put(obs)
        return info

    def _finish_reset(self, unfinished: Unfinished) -> Infos:
        """Finish an autoreset that the native stepper began; restarts are off."""
        try:
            if unfinished.error is not None:
                raise unfinished.error
            info = self._write_first(unfinished.result)
        except FAILURES as error:
            raise self.failure(error, "reset") from error
        self._ended = False
        return self.begin_episode(info)

    def begin_episode(self, info: Info) -> Infos:
        """Write the results of a step that was a reset: no reward, nothing ended."""
        self._row.write(0.0, terminated=False, truncated=False)
        return (info,) if info else ()

    # -- failures ---------------------------------------------------------------------

    def _after_failure(self, error: BaseException) -> Infos:
        """Restart and truncate the episode; raise if restarts are off."""
        failure = self.failure(error)
        if self.rules.restart == "never":
            raise failure from error
        self._restart()
        return self._truncate(failure)

    def _truncate(self, failure: EnvError) -> Infos:
        """End the episode as truncated, with the last valid observation."""
        self._row.write(0.0, terminated=False, truncated=True)
        info = self._restart_info(failure)
        if self._same_step:
            return reset_in_step(self, self._row.observation(), info)
        self._ended = True
        return (info,)

    def step_deferred(self) -> Infos:
        """Do the step that reports a deferred restart."""
        return self.step(None)

    def _restore_last(self, last: Any) -> None:  # noqa: ANN401
        self._row.put_objects(last)
