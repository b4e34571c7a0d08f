# SPDX-License-Identifier: Apache-2.0
"""One environment of a vector or rollout: step, reset, autoreset, restart, failure.

A sub-environment works the same in a thread and in a worker process.
"""

from __future__ import annotations

import traceback
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from gymnasium.vector import AutoresetMode

from reactorl.rl.checkpoint.env_state import restore_env, saved_env
from reactorl.rl.envs._stepping import ResultWriter, Stepper
from reactorl.rl.envs.autoreset import reset_in_step, step_after_end
from reactorl.rl.envs.buffer_pool import HOME
from reactorl.rl.envs.commands import Description
from reactorl.rl.envs.errors import EnvError
from reactorl.rl.envs.restart import RestartState
from reactorl.rl.envs.timeout import HangGuard, unguarded
from reactorl.rl.envs.validation import check_env, check_info, check_nan

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import gymnasium as gym

    from reactorl.rl.checkpoint.registry import Data
    from reactorl.rl.envs._stepping import Unfinished
    from reactorl.rl.envs.arrays import Arrays
    from reactorl.rl.envs.observation_buffer import Put
    from reactorl.rl.envs.rules import Rules
    from reactorl.rl.envs.timeout import Guard

Info: TypeAlias = "Mapping[str, Any]"
Infos: TypeAlias = "tuple[Info, ...]"
"""What a step or reset adds to the infos of the vector, in order; mostly empty."""

T = TypeVar("T")


class SubEnv:
    """One environment, which writes its results into its row of the arrays.

    Args:
        index: The row.
        make: Makes the environment.
        rules: Settings of all sub-environments.
        guard: Interrupts calls that exceed the timeout.
    """

    REQUIRED: tuple[str, ...] = ("reset", "step", "action_space", "observation_space")
    """Attributes that an environment must have."""

    def __init__(
        self,
        index: int,
        make: Callable[[], gym.Env[Any, Any]],
        rules: Rules,
        guard: Guard = unguarded,
    ) -> None:
        self.index = index
        self.rules = rules
        self.restarts = RestartState()
        self._make = make
        self._guard = guard
        if isinstance(guard, HangGuard):
            guard.subject = self._position
        self._same_step = rules.autoreset is AutoresetMode.SAME_STEP
        next_step = rules.autoreset is AutoresetMode.NEXT_STEP
        self._plain = not rules.check_nan and rules.timeout is None
        simple = self._plain and next_step and rules.restart == "never"
        self.stepper = Stepper(index, plain=self._plain, resets=simple)
        self._puts: list[Put] = []
        self._last_observation: Any = None
        self._take_first: Callable[[object], bool] = _not_taken
        self.env = self._make_env()

    # -- state that the native stepper holds ------------------------------------------

    @property
    def env(self) -> gym.Env[Any, Any]:
        """The environment; a restart may replace it."""
        env: gym.Env[Any, Any] = self.stepper.env
        return env

    @env.setter
    def env(self, env: gym.Env[Any, Any]) -> None:
        self.stepper.env = env

    @property
    def steps(self) -> int:
        """Number of steps begun."""
        return self.stepper.steps

    @steps.setter
    def steps(self, steps: int) -> None:
        self.stepper.steps = steps

    @property
    def _ended(self) -> bool:
        return self.stepper.ended

    @_ended.setter
    def _ended(self, ended: bool) -> None:
        self.stepper.ended = ended

    # -- construction -----------------------------------------------------------------

    def _make_env(self) -> gym.Env[Any, Any]:
        try:
            made = self._make()
            check_env(made, self.REQUIRED)
        except (Exception, SystemExit) as error:
            raise self.failure(error) from error
        return made

    def describe(self) -> Any:  # noqa: ANN401
        """Return the spaces, metadata, render mode and name of the environment.

        Raises:
            EnvError: One of them cannot be read.
        """
        try:
            return self._description()
        except Exception as error:
            raise self.failure(error) from error

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
        self._arrays = arrays
        slots = arrays.observations
        put = self._put = slots.writer(self.index)
        if self.rules.restart != "never" and not slots.is_whole:
            self._put = partial(
                _put_all_or_nothing, put, partial(slots.row, self.index)
            )
        if arrays.spares:
            writers = [spare.writer(self.index) for spare in arrays.spares]
            self._puts = [partial(self._put_and_keep, each) for each in (put, *writers)]
            self._put = self._puts[HOME]
        # Each sub-environment has views of its own: threads that count references to
        # one array object would wait for each other.
        row = slice(self.index, self.index + 1)
        self._reward = arrays.rewards[row]
        self._terminated = arrays.terminations[row]
        self._truncated = arrays.truncations[row]
        rows = None if arrays.spares else slots.rows(self.index)
        if rows is None:
            self.stepper.land(None)
            self._take_first = _not_taken
        else:
            results = self._reward, self._terminated, self._truncated
            # With SAME_STEP the last observation of an episode goes into the infos.
            writer = ResultWriter(rows, *results, ends=not self._same_step)
            self.stepper.land(writer)
            self._take_first = writer.take_first

    def use_buffer(self, buffer: int) -> None:
        """Write observations into this buffer of the arrays from now on."""
        if self._puts:
            self._put = self._puts[buffer]

    def rewrite_observation(self) -> None:
        """Write the last observation again, into the current buffer."""
        if self._last_observation is not None:
            self._put(self._last_observation)

    def _put_and_keep(self, put: Put, obs: Any) -> None:  # noqa: ANN401
        # The caller owns the buffer and may change it, so the original is kept.
        put(obs)
        self._last_observation = obs

    # -- commands ---------------------------------------------------------------------

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
            self._reward[0] = reward
            self._terminated[0] = terminated
            self._truncated[0] = truncated
            if type(info) is not dict:
                check_info(info)
            # Last: if it fails, the last valid observation is still in the arrays.
            if not (ended and self._same_step):
                self._put(obs)
        except (Exception, SystemExit) as error:
            return self._after_failure(error)
        if ended:
            if self._same_step:
                return reset_in_step(self, obs, info)
            self._ended = True
        return (info,) if info else ()

    def reset(self, seed: int | None, options: dict[str, Any] | None) -> Infos:
        """Reset the environment.

        Raises:
            EnvError: It failed, also after a restart if restarts are on.
        """
        if seed is not None:
            self.restarts.seeded(seed)
        info = self.reset_or_restart(seed=seed, options=options)
        self._terminated[0] = False
        self._truncated[0] = False
        return (info,) if info else ()

    def call(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> object:
        """Call a method of the environment, or return an attribute."""
        found = self.env.get_wrapper_attr(name)
        return found(*args, **kwargs) if callable(found) else found

    def set_attr(self, name: str, value: object) -> None:
        """Set an attribute of the environment."""
        self.env.set_wrapper_attr(name, value)

    def render(self) -> object:
        """Render the environment."""
        return self.env.render()

    def save(self) -> Data:
        """Return the state of the environment and of its restarts as plain data."""
        return {"env": saved_env(self.env), "restarts": self.restarts.save()}

    def load(self, saved: Data) -> None:
        """Restore a saved state; the environment must have been reset before."""
        restore_env(self.env, saved["env"])
        self.restarts.load(saved["restarts"])

    def close(self) -> None:
        """Close the environment.

        Raises:
            EnvError: It raised.
        """
        try:
            self.env.close()
        except Exception as error:
            raise self.failure(error, "close") from error

    # -- guarded steps and resets -----------------------------------------------------

    def _checked_step(self, action: Any) -> tuple[Any, ...]:  # noqa: ANN401
        result = self._guard(partial(self.env.step, action))
        if self.rules.check_nan:
            check_nan(result[0], "observation")
            check_nan(result[1], "reward")
        return result

    def _checked_reset(self, **arguments: Any) -> tuple[Any, ...]:  # noqa: ANN401
        result = self._guard(partial(self.env.reset, **arguments))
        if self.rules.check_nan:
            check_nan(result[0], "observation")
        return result

    def reset_or_restart(self, **arguments: Any) -> Info:  # noqa: ANN401
        """Reset the environment, after a restart if need be, and return its info."""
        info, failure = self._retry(partial(self._try_reset, arguments))
        return info if failure is None else {**info, **self._restart_info(failure)}

    def _retry(self, reset: Callable[[], T]) -> tuple[T, EnvError | None]:
        """Reset the environment; restart it and try once more if that fails.

        Returns:
            The result, and the cause of a restart that has not been reported yet.
        """
        failure: EnvError | None = None
        try:
            found = reset()
        except (Exception, SystemExit) as error:
            failure = self.failure(error, "reset")
            if self.rules.restart == "never":
                raise failure from error
            self._restart()
            try:
                found = reset()
            except (Exception, SystemExit) as again:
                raise self.failure(again, "reset") from again
        self._ended = False
        deferred = self.restarts.take_pending()
        return found, failure or deferred

    def _try_reset(self, arguments: dict[str, Any]) -> Info:
        seed = self.restarts.take_seed()
        if seed is not None and arguments.get("seed") is None:
            arguments = {**arguments, "seed": seed}
        reset: Callable[..., tuple[Any, Info]] = self._checked_reset
        if self._plain:
            reset = self.env.reset
        return self._write_first(reset(**arguments))

    def _write_first(self, result: tuple[Any, Info]) -> Info:
        """Write the first observation of an episode and return the info."""
        if self._take_first(result):
            return {}
        obs, info = result
        check_info(info)
        self._put(obs)
        return info

    def _finish_reset(self, unfinished: Unfinished) -> Infos:
        """Finish an autoreset that the native stepper began; restarts are off."""
        try:
            if unfinished.error is not None:
                raise unfinished.error
            info = self._write_first(unfinished.result)
        except (Exception, SystemExit) as error:
            raise self.failure(error, "reset") from error
        self._ended = False
        return self.begin_episode(info)

    def begin_episode(self, info: Info) -> Infos:
        """Write the results of a step that was a reset: no reward, nothing ended."""
        self._reward[0] = 0.0
        self._terminated[0] = False
        self._truncated[0] = False
        return (info,) if info else ()

    # -- failures and restarts --------------------------------------------------------

    def _after_failure(self, error: BaseException) -> Infos:
        """Restart and truncate the episode; raise if restarts are off."""
        failure = self.failure(error)
        if self.rules.restart == "never":
            raise failure from error
        self._restart()
        return self._truncate(failure)

    def _truncate(self, failure: EnvError) -> Infos:
        """End the episode as truncated, with the last valid observation."""
        self._reward[0] = 0.0
        self._terminated[0] = False
        self._truncated[0] = True
        info = self._restart_info(failure)
        if self._same_step:
            last = self._arrays.observations.row(self.index)
            return reset_in_step(self, last, info)
        self._ended = True
        return (info,)

    def _restart(self) -> None:
        """Replace the environment if the restart policy says so."""
        if self.rules.restart != "recreate":
            return
        with suppress(Exception):  # it has failed before
            self.env.close()
        self.env = self._make_env()
        self.restarts.replaced(self.restarts.count + 1)

    def defer_restart(self, failure: EnvError, *, is_over: bool) -> None:
        """Report a restart with the next step or reset; see ``RestartState``."""
        self.restarts.defer(failure, is_over=is_over)
        self._ended = True

    def step_deferred(self) -> Any:  # noqa: ANN401
        """Do the step that reports a deferred restart."""
        return self.step(None)

    def replace_lost(
        self,
        seed: int | None,
        count: int,
        steps: int,
        last: Any,  # noqa: ANN401
    ) -> None:
        """Continue for an environment that was lost with its process.

        Args:
            seed: Its last seed.
            count: Replacements since then, this one included.
            steps: Number of steps it had begun.
            last: The parts of its last observation that are not in arrays.
        """
        self.steps = steps
        self._restore_last(last)
        self.restarts.seed = seed
        self.restarts.replaced(count)

    def _restore_last(self, last: Any) -> None:  # noqa: ANN401
        self._arrays.observations.put_objects(self.index, iter(last))

    def _restart_info(self, failure: EnvError) -> dict[str, Any]:
        """Return the info of a restart; ``stamped`` turns the failure into text."""
        return {"restart": self.rules.restart, "failure": failure}

    def failure(self, error: BaseException, operation: str = "") -> EnvError:
        """Return an exception as an ``EnvError`` of this sub-environment."""
        if isinstance(error, EnvError):
            return error
        what = traceback.format_exception_only(error)[-1].strip()
        trace = "".join(traceback.format_exception(error))
        return EnvError(self.index, self.name, self.steps, "", what, trace, operation)

    def _position(self) -> str:
        return f"environment {self.index} ({self.name}), step {self.steps},"

    @property
    def name(self) -> str:
        """The id or class of the environment."""
        return env_name(getattr(self, "env", None))


def env_name(env: object) -> str:
    """Return the id of an environment, or the name of its class."""
    spec = getattr(env, "spec", None)
    if spec is not None:
        return str(spec.id)
    if env is None:
        return "not made yet"
    return type(getattr(env, "unwrapped", env)).__name__


def _not_taken(result: object) -> bool:
    return False


def _put_all_or_nothing(put: Put, before: Callable[[], Any], value: object) -> None:
    last = before()
    try:
        put(value)
    except Exception:
        with suppress(Exception):  # there may not have been one
            put(last)
        raise
