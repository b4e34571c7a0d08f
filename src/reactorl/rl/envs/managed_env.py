# SPDX-License-Identifier: Apache-2.0
"""One environment that is made, called, restarted, saved and closed.

The base of sub-environments with one agent and with several.
"""

from __future__ import annotations

import traceback
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from reactorl.rl.checkpoint.env_restore import restore_env
from reactorl.rl.envs import snapshot
from reactorl.rl.envs._stepping import Stepper
from reactorl.rl.envs.episode_recorder import EpisodeRecorder, NotRecordedError
from reactorl.rl.envs.errors import FAILURES, EnvError
from reactorl.rl.envs.restart_state import RestartState
from reactorl.rl.envs.snapshot_check import begin, check_snapshot
from reactorl.rl.envs.timeout import HangGuard, unguarded
from reactorl.rl.envs.validation import check_env, old_api_hint

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import gymnasium as gym

    from reactorl.rl.checkpoint.registry import Data
    from reactorl.rl.envs.rules import Rules
    from reactorl.rl.envs.timeout import Guard

T = TypeVar("T")


class ManagedEnv:
    """One environment, with its number of steps and its restarts.

    Args:
        index: Its index in the vector environment or rollout.
        make: Makes the environment.
        rules: Settings of all sub-environments.
        guard: Interrupts calls that exceed the timeout.
        native_reset: Whether the native stepper may do autoresets.
    """

    REQUIRED: tuple[str, ...] = ("reset", "step")
    """Attributes that an environment must have."""

    def __init__(
        self,
        index: int,
        make: Callable[[], Any],
        rules: Rules,
        guard: Guard = unguarded,
        *,
        native_reset: bool = False,
    ) -> None:
        self.index = index
        self.rules = rules
        self.restarts = RestartState()
        self._make = make
        self._guard = guard
        if isinstance(guard, HangGuard):
            guard.subject = self._position
        self._plain = not rules.check_nan and rules.timeout is None
        self.stepper = Stepper(
            index, plain=self._plain, resets=native_reset and self._plain
        )
        self.env = self._make_env()

    # -- state that the native stepper holds ------------------------------------------

    @property
    def env(self) -> gym.Env[Any, Any]:
        """The environment; a restart may replace it."""
        return self._env

    @env.setter
    def env(self, env: gym.Env[Any, Any]) -> None:
        recorder = None
        if self.rules.resumable:
            recorder = EpisodeRecorder(env, is_new=True, unneeded=self._stop_recording)
        self._use(env, recorder)

    @property
    def stepped(self) -> Any:  # noqa: ANN401
        """What is stepped and reset: the environment, or its recorder."""
        return self.stepper.env

    def _use(
        self, env: gym.Env[Any, Any], recorder: EpisodeRecorder | None = None
    ) -> None:
        self._env, self._recorder = env, recorder
        self.stepper.env = env if recorder is None else recorder

    def _stop_recording(self) -> None:
        self._use(self._env)

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
            made: gym.Env[Any, Any] = self._make()
            check_env(made, self.REQUIRED)
        except FAILURES as error:
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
        raise NotImplementedError

    # -- calls ------------------------------------------------------------------------

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

    # -- checkpoints ------------------------------------------------------------------

    def save(self, distrusted: Mapping[str, str]) -> Data:
        """Return a snapshot of the environment, and its restarts, as plain data.

        If it cannot be restored exactly, the environment is recorded from its next
        reset on, so that later ones can.

        Args:
            distrusted: Methods of snapshots that failed before, and why.
        """
        taken: Data = None
        try:
            taken = snapshot.take(self.env, self._recorder)
            reason = distrusted.get(snapshot.method_of(taken), "")
        except NotRecordedError as error:
            reason = str(error)
        if reason:
            taken = snapshot.none(self.name, reason, self.restarts.seed, self.steps)
            if self._recorder is None:
                self._use(self.env, EpisodeRecorder(self.env, is_new=False))
        return {"env": taken, "restarts": self.restarts.save()}

    def verify(self, saved: Data) -> str:
        """Return why a saved state cannot be restored exactly; empty if it can."""
        return check_snapshot(self._make, saved["env"], self._guard)

    def load(self, saved: Data) -> str:
        """Restore a saved state; the environment must have been reset before.

        Returns:
            Why that was impossible; empty if it was not. Then the environment must be
            reset again.
        """
        self.restarts.load(saved["restarts"])
        taken = saved["env"]
        method = snapshot.method_of(taken)
        if method == "none":
            return str(taken["reason"])
        try:
            if method == "state":
                restore_env(self.env, taken)
            else:
                self._replace_restored(taken)
        except FAILURES as error:
            is_known = isinstance(error, snapshot.NotRestoredError)
            return str(error) if is_known else snapshot.reason_of(error)
        return ""

    def _replace_restored(self, taken: Data) -> None:
        """Replace the environment by a new one that repeats a record."""
        env, recorder = snapshot.restored(self._make, taken, begin, self._guard)
        with suppress(Exception):
            self.env.close()
        self._use(env, recorder)
        self.describe()  # wrappers cache what it reads, and saved states have that

    def close(self) -> None:
        """Close the environment.

        Raises:
            EnvError: It raised.
        """
        try:
            self.env.close()
        except Exception as error:
            raise self.failure(error, "close") from error

    # -- failures and restarts --------------------------------------------------------

    def _retry(self, reset: Callable[[], T]) -> tuple[T, EnvError | None]:
        """Reset the environment; restart it and try once more if that fails.

        Returns:
            The result, and the cause of a restart that has not been reported yet.
        """
        failure: EnvError | None = None
        try:
            found = reset()
        except FAILURES as error:
            failure = self.failure(error, "reset")
            if self.rules.restart == "never":
                raise failure from error
            self._restart()
            try:
                found = reset()
            except FAILURES as again:
                raise self.failure(again, "reset") from again
        self._ended = False
        deferred = self.restarts.take_pending()
        return found, failure or deferred

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
        raise NotImplementedError

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
        raise NotImplementedError

    def _restart_info(self, failure: EnvError) -> dict[str, Any]:
        """Return the info of a restart; ``stamped`` turns the failure into text."""
        return {"restart": self.rules.restart, "failure": failure}

    def failure(self, error: BaseException, operation: str = "") -> EnvError:
        """Return an exception as an ``EnvError`` of this sub-environment."""
        if isinstance(error, EnvError):
            return error
        what = traceback.format_exception_only(error)[-1].strip()
        hint = old_api_hint(error)
        if hint:
            what = f"{what}. {hint}"
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
