# SPDX-License-Identifier: Apache-2.0
"""One environment of a vector: stepped, reset when it ends, restarted when it fails.

Everything about one environment is here, wherever it lives: in a reactor of this
process, or in another process.
"""

from __future__ import annotations

import hashlib
import traceback
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypeVar

import numpy as np
from gymnasium.vector import AutoresetMode

from reactorl.rl.envs._stepping import ResultWriter, Stepper
from reactorl.rl.envs.buffer_pool import HOME
from reactorl.rl.envs.commands import Description
from reactorl.rl.envs.errors import EnvError
from reactorl.rl.envs.timeout import HangGuard, unguarded

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import gymnasium as gym

    from reactorl.rl.envs._stepping import Unfinished
    from reactorl.rl.envs.arrays import Arrays
    from reactorl.rl.envs.observation_buffer import Put
    from reactorl.rl.envs.timeout import Guard

Restart: TypeAlias = Literal["never", "reset", "recreate"]
Info: TypeAlias = "Mapping[str, Any]"
Infos: TypeAlias = "tuple[Info, ...]"
"""What a step or reset adds to the infos of the vector, in order; mostly nothing."""

RESTARTS: Final[tuple[Restart, ...]] = ("never", "reset", "recreate")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Rules:
    """What holds for every environment of a vector."""

    autoreset: AutoresetMode = AutoresetMode.NEXT_STEP
    restart: Restart = "never"
    check_nan: bool = False
    timeout: float | None = None
    """Seconds that a step or reset may take."""
    seat: Callable[..., SubEnv] | None = None
    """Makes the seat of an environment that is not Gymnasium's."""

    def check(self) -> None:
        """Refuse what makes no sense.

        Raises:
            TypeError: The timeout is no number.
            ValueError: There is no such restart, or the timeout is not above zero.
        """
        if self.restart not in RESTARTS:
            msg = f"restart is {self.restart!r}; it is one of {', '.join(RESTARTS)}"
            raise ValueError(msg)
        timeout: object = self.timeout
        if timeout is not None and not isinstance(timeout, int | float):
            msg = f"timeout is {timeout!r}; it is a number of seconds, or None"
            raise TypeError(msg)
        if timeout is not None and not timeout > 0:
            msg = f"timeout is {timeout}; it is in seconds, above zero"
            raise ValueError(msg)


class BadResultError(ValueError):
    """An environment returned what it may not."""


class SubEnv:
    """One environment, whose results land in its place of the arrays.

    Args:
        index: Which place that is.
        make: Makes the environment.
        rules: What holds for all.
        guard: Breaks off what takes too long.
    """

    NEEDS: tuple[str, ...] = ("reset", "step", "action_space", "observation_space")
    """What an environment has."""

    def __init__(
        self,
        index: int,
        make: Callable[[], gym.Env[Any, Any]],
        rules: Rules,
        guard: Guard = unguarded,
    ) -> None:
        self.index = index
        self._make = make
        self._rules = rules
        self._guard = guard
        if isinstance(guard, HangGuard):
            guard.subject = self._whereabouts
        self._same_step = rules.autoreset is AutoresetMode.SAME_STEP
        self._next_step = rules.autoreset is AutoresetMode.NEXT_STEP
        self._plain = not rules.check_nan and rules.timeout is None
        simple = self._plain and self._next_step and rules.restart == "never"
        self.stepper = Stepper(index, plain=self._plain, resets=simple)
        self._seed: int | None = None
        self.lives = 0
        self._newborn_seed: int | None = None
        self._owed: EnvError | None = None
        self._owes_end = False
        self._puts: list[Put] = []
        self._observed: Any = None
        self._take_first: Callable[[object], bool] = _leave
        self.env = self._made()

    # -- what its stepper keeps -------------------------------------------------------

    @property
    def env(self) -> gym.Env[Any, Any]:
        """The environment; a restart may make another one."""
        env: gym.Env[Any, Any] = self.stepper.env
        return env

    @env.setter
    def env(self, env: gym.Env[Any, Any]) -> None:
        self.stepper.env = env

    @property
    def steps(self) -> int:
        """How many steps it has begun."""
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

    # -- how it is made, and where results land ---------------------------------------

    def _made(self) -> gym.Env[Any, Any]:
        try:
            made = self._make()
            self._refuse_no_env(made)
        except (Exception, SystemExit) as error:
            raise self._failure(error) from error
        return made

    def _refuse_no_env(self, made: object) -> None:
        lacking = [name for name in self.NEEDS if not hasattr(made, name)]
        if lacking or isinstance(made, type):
            why = f"has no {lacking[0]}" if lacking else "is a class"
            msg = (
                f"the function that makes it returned {made!r}, which {why}; let it "
                "return an environment"
            )
            raise BadResultError(msg)

    def describe(self) -> Any:  # noqa: ANN401
        """Return what the environment is.

        Raises:
            EnvError: It does not say.
        """
        try:
            return self._description()
        except Exception as error:
            raise self._failure(error) from error

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
        """Let results land in these arrays from now on."""
        self._arrays = arrays
        slots = arrays.observations
        put = self._put = slots.writer(self.index)
        if self._rules.restart != "never" and not slots.is_whole:
            self._put = partial(
                _put_all_or_nothing, put, partial(slots.row, self.index)
            )
        if arrays.spares:
            writers = [spare.writer(self.index) for spare in arrays.spares]
            self._puts = [partial(self._put_and_keep, each) for each in (put, *writers)]
            self._put = self._puts[HOME]
        # Views of one's own, as for observations: threads that count references to the
        # same array wait for each other.
        mine = slice(self.index, self.index + 1)
        self._reward = arrays.rewards[mine]
        self._terminated = arrays.terminations[mine]
        self._truncated = arrays.truncations[mine]
        rows = None if arrays.spares else slots.rows(self.index)
        if rows is None:
            self.stepper.land(None)
            self._take_first = _leave
        else:
            results = self._reward, self._terminated, self._truncated
            # In the same-step mode the end of an episode is seen in the infos alone.
            landing = ResultWriter(rows, *results, ends=not self._same_step)
            self.stepper.land(landing)
            self._take_first = landing.take_first

    def land(self, place: int) -> None:
        """Let observations land at a place of the arrays from now on."""
        if self._puts:
            self._put = self._puts[place]

    def put_again(self) -> None:
        """Put the last observation where they land now, if that may have changed."""
        if self._observed is not None:
            self._put(self._observed)

    def _put_and_keep(self, put: Put, obs: Any) -> None:  # noqa: ANN401
        # Where it was put is the caller's, who may change it.
        put(obs)
        self._observed = obs

    # -- what a vector does with its environments -----------------------------------

    def step(self, action: Any) -> Infos:  # noqa: ANN401
        """Step the environment, or reset it if it ended in the step before.

        Raises:
            EnvError: It failed, and is not to be restarted.
        """
        rest = self.stepper.step(action)
        # Most steps are done with this; what follows is for all others.
        return () if rest is None else self.step_on(action, rest)

    def step_on(self, action: Any, rest: Unfinished) -> Infos:  # noqa: ANN401
        """Do what its stepper has left to do of a step.

        Raises:
            EnvError: It failed, and is not to be restarted.
        """
        if rest.is_reset:
            return self._reset_on(rest)
        if rest.error is not None:
            return self._after_failure(rest.error)
        if not rest.begun and self._ended:
            if self._owed is not None and self._owes_end:
                failure, self._owed = self._owed, None
                return self._cut_off(failure)
            if self._next_step:
                return self._autoreset()
            if not self._same_step:
                raise self._has_ended()
        try:
            if rest.begun:
                result = rest.result
            else:
                self.steps += 1
                result = self._checked_step(action)
            obs, reward, terminated, truncated, info = result
            ended = terminated or truncated
            self._reward[0] = reward
            self._terminated[0] = terminated
            self._truncated[0] = truncated
            if type(info) is not dict:
                _refuse_no_dict(info)
            # Last: if it fails, the last good observation is still there.
            if not (ended and self._same_step):
                self._put(obs)
        except (Exception, SystemExit) as error:
            return self._after_failure(error)
        if ended:
            if self._same_step:
                return self._reset_in_step(obs, info)
            self._ended = True
        return (info,) if info else ()

    def reset(self, seed: int | None, options: dict[str, Any] | None) -> Infos:
        """Reset the environment.

        Raises:
            EnvError: It failed, also after a restart if there may be one.
        """
        if seed is not None:
            self._seed, self.lives, self._newborn_seed = seed, 0, None
        info = self._reset(seed=seed, options=options)
        self._terminated[0] = False
        self._truncated[0] = False
        return (info,) if info else ()

    def call(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> object:
        """Return what a method of the environment returns, or an attribute of it."""
        found = self.env.get_wrapper_attr(name)
        return found(*args, **kwargs) if callable(found) else found

    def set_attr(self, name: str, value: object) -> None:
        """Set an attribute of the environment."""
        self.env.set_wrapper_attr(name, value)

    def render(self) -> object:
        """Return what the environment renders."""
        return self.env.render()

    def close(self) -> None:
        """Close the environment.

        Raises:
            EnvError: It raised.
        """
        try:
            self.env.close()
        except Exception as error:
            raise self._failure(error, "close") from error

    # -- steps that are watched, resets -----------------------------------------------

    def _checked_step(self, action: Any) -> tuple[Any, ...]:  # noqa: ANN401
        result = self._guard(partial(self.env.step, action))
        if self._rules.check_nan:
            _refuse_nan(result[0], "observation")
            _refuse_nan(result[1], "reward")
        return result

    def _reset(self, **given: Any) -> Info:  # noqa: ANN401
        """Reset the environment, also after a restart, and return its info."""
        info, failure = self._insist(partial(self._try_reset, given))
        return info if failure is None else {**info, **self._log(failure)}

    def _insist(self, reset: Callable[[], T]) -> tuple[T, EnvError | None]:
        """Reset the environment, also after a restart.

        Returns:
            What came of it; and why there was a restart, if nobody was told before.
        """
        failure: EnvError | None = None
        try:
            found = reset()
        except (Exception, SystemExit) as error:
            failure = self._failure(error, "reset")
            if self._rules.restart == "never":
                raise failure from error
            self._restart()
            try:
                found = reset()
            except (Exception, SystemExit) as again:
                raise self._failure(again, "reset") from again
        self._ended = False
        if self._owed is not None:
            failure, self._owed = failure or self._owed, None
        return found, failure

    def _try_reset(self, given: dict[str, Any]) -> Info:
        if self._newborn_seed is not None and given.get("seed") is None:
            given = {**given, "seed": self._newborn_seed}
        self._newborn_seed = None
        reset: Callable[..., tuple[Any, Info]] = self._checked_reset
        if self._plain:
            reset = self.env.reset
        return self._take_in(reset(**given))

    def _take_in(self, result: tuple[Any, Info]) -> Info:
        if self._take_first(result):
            return {}
        obs, info = result
        _refuse_no_dict(info)
        self._put(obs)
        return info

    def _checked_reset(self, **given: Any) -> tuple[Any, ...]:  # noqa: ANN401
        result = self._guard(partial(self.env.reset, **given))
        if self._rules.check_nan:
            _refuse_nan(result[0], "observation")
        return result

    def _reset_on(self, rest: Unfinished) -> Infos:
        """Do what is left of a reset that is not to be tried again."""
        try:
            if rest.error is not None:
                raise rest.error
            info = self._take_in(rest.result)
        except (Exception, SystemExit) as error:
            raise self._failure(error, "reset") from error
        self._ended = False
        return self._begun(info)

    def _autoreset(self) -> Infos:
        return self._begun(self._reset())

    def _begun(self, info: Info) -> Infos:
        self._reward[0] = 0.0
        self._terminated[0] = False
        self._truncated[0] = False
        return (info,) if info else ()

    def _reset_in_step(self, obs: Any, info: Info) -> Infos:  # noqa: ANN401
        # What it keeps and changes by the reset must not change what was.
        final = {"final_obs": obs, "final_info": as_it_is(info)}
        again = self._reset()
        return (final, again) if again else (final,)

    # -- failures ---------------------------------------------------------------------

    def _after_failure(self, error: BaseException) -> Infos:
        """Cut the episode off at the last observation, if restarts are allowed."""
        failure = self._failure(error)
        if self._rules.restart == "never":
            raise failure from error
        self._restart()
        return self._cut_off(failure)

    def _cut_off(self, failure: EnvError) -> Infos:
        """End the episode as truncated, with the last observation there was."""
        self._reward[0] = 0.0
        self._terminated[0] = False
        self._truncated[0] = True
        log = self._log(failure)
        if self._same_step:
            last = self._arrays.observations.row(self.index)
            return self._reset_in_step(last, log)
        self._ended = True
        return (log,)

    def owe(self, failure: EnvError, *, is_over: bool) -> None:
        """Let the next step or reset tell of a restart that happened in between.

        Args:
            failure: Why it happened.
            is_over: Whether the episode had ended before. If not, the next step cuts it
                off; if so, nothing is left to end, and its reset tells.
        """
        self._owed = failure
        self._owes_end = not is_over
        self._ended = True

    def go_on(self) -> Any:  # noqa: ANN401
        """Do what a step does that tells of a restart; see ``owe``."""
        return self.step(None)

    def _restart(self) -> None:
        """Make a new environment, if that is what a restart is."""
        if self._rules.restart != "recreate":
            return
        with suppress(Exception):  # it failed once already
            self.env.close()
        self.env = self._made()
        self._be_reborn(self.lives + 1)

    def bequeath(self, seed: int | None, lives: int, steps: int, last: Any) -> None:  # noqa: ANN401
        """Take the place of an environment that was lost with its process.

        Args:
            seed: What it was seeded with.
            lives: How many came before since then.
            steps: How many steps it had begun.
            last: Of its last observation, what is not in arrays.
        """
        self._seed = seed
        self.steps = steps
        self._recall(last)
        self._be_reborn(lives)

    def _recall(self, last: Any) -> None:  # noqa: ANN401
        self._arrays.observations.put_objects(self.index, iter(last))

    def _be_reborn(self, lives: int) -> None:
        """Let the next reset be seeded: the environment is new and would begin anew.

        Args:
            lives: How many came before it since it was last seeded.
        """
        self.lives = lives
        if self._seed is not None:
            text = f"{self._seed}/{lives}".encode()
            digest = hashlib.blake2b(text, digest_size=4).digest()
            self._newborn_seed = int.from_bytes(digest) >> 1

    def _log(self, failure: EnvError) -> dict[str, Any]:
        """Return what the info says of a restart; see ``stamped``."""
        return {"restart": self._rules.restart, "failure": failure}

    def _failure(self, error: BaseException, deed: str = "") -> EnvError:
        if isinstance(error, EnvError):
            return error
        what = traceback.format_exception_only(error)[-1].strip()
        trace = "".join(traceback.format_exception(error))
        return EnvError(self.index, self.name, self.steps, "", what, trace, deed)

    def _has_ended(self) -> EnvError:
        what = (
            "its episode has ended and autoreset is disabled; reset it with "
            'reset(options={"reset_mask": ...})'
        )
        return EnvError(self.index, self.name, self.steps, "", what)

    def _whereabouts(self) -> str:
        return f"environment {self.index} ({self.name}), at step {self.steps},"

    @property
    def name(self) -> str:
        """What the environment calls itself."""
        return env_name(getattr(self, "env", None))


def env_name(env: object) -> str:
    """Return the id of an environment, or what it is."""
    spec = getattr(env, "spec", None)
    if spec is not None:
        return str(spec.id)
    if env is None:
        return "not made yet"
    return type(getattr(env, "unwrapped", env)).__name__


def _leave(result: object) -> bool:
    return False


def _put_all_or_nothing(put: Put, before: Callable[[], Any], value: object) -> None:
    last = before()
    try:
        put(value)
    except Exception:
        with suppress(Exception):  # there may not have been one
            put(last)
        raise


def as_it_is(value: Any) -> Any:  # noqa: ANN401
    """Return a value whose dicts and arrays, at any depth, are nobody else's."""
    if isinstance(value, dict):
        return {key: as_it_is(part) for key, part in value.items()}
    return value.copy() if isinstance(value, np.ndarray) else value


def _refuse_no_dict(info: object) -> None:
    if not isinstance(info, dict):
        msg = f"an info that is a {type(info).__name__}, where a dict was due"
        raise BadResultError(msg)


def _refuse_nan(value: Any, what: str) -> None:  # noqa: ANN401
    if isinstance(value, dict):
        for part in value.values():
            _refuse_nan(part, what)
    elif isinstance(value, tuple | list):
        for part in value:
            _refuse_nan(part, what)
    elif not isinstance(value, str):
        array = np.asarray(value)
        if np.issubdtype(array.dtype, np.inexact) and np.isnan(array).any():
            msg = f"NaN in the {what}: {value}"
            raise BadResultError(msg)
