# SPDX-License-Identifier: Apache-2.0
"""The environment of a task: an id or a function, arguments, wrappers, preprocessing.

Training and evaluation make the same environments. What only training does, it does
with the trajectory: it clips rewards and treats the loss of a life as a termination.
Episode returns are those of the environment.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping, Sequence  # noqa: TC003 - of flags
from dataclasses import dataclass, field
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any, Final

from gymnasium.wrappers import TimeLimit

from reactorl.rl.envs.factory import Recipe, Wrapped
from reactorl.rl.envs.ids import Unknown, search
from reactorl.rl.envs.named_wrapper import NamedWrapper, WrapperNameError
from reactorl.rl.flow.algorithm import FlowError, require
from reactorl.rl.wrappers.frame_stack import FrameStack
from reactorl.rl.wrappers.life_loss import LifeLoss

if TYPE_CHECKING:
    from gymnasium.envs.registration import EnvSpec

    from reactorl.rl.envs.factory import Maker

ATARI_FRAME_STACK: Final = 4
ATARI_MAX_FRAMES: Final = 108_000
"""Frames after which ALE truncates an episode: 30 minutes of a game."""
ATARI_FRAME_SKIP: Final = 4


@dataclass(frozen=True, kw_only=True)
class EnvOptions:
    """Options of the environment of every task; flags of ``reactorl train``."""

    env_kwargs: Mapping[str, Any] = field(default_factory=dict)
    """Arguments for the environment: key=value, several after one flag; values are
    Python literals or plain words, e.g. map_name=8x8 is_slippery=False."""
    # Not shown by repr: that of a function has its address.
    wrappers: Sequence[str | Callable[[Any], Any]] = field(
        default=(), repr=False, metadata={"flag": "wrapper"}
    )
    """Wrapper of the environment as module:function, or with arguments as
    'module:function(key=value)'; repeat the flag for several, innermost first. In
    Python: a list of such names, functions or classes."""
    time_limit: int | None = None
    """Steps after which an episode is truncated; None: the limit of the
    environment."""

    def check_environment(self) -> None:
        """Check the options.

        Raises:
            FlowError: One is invalid.
        """
        limit: Any = self.time_limit
        require(limit is None or limit >= 1, self, "time_limit", "at least 1, or None")
        self.loaded_wrappers()

    def loaded_wrappers(self) -> tuple[Callable[[Any], Any], ...]:
        """Return the wrappers as functions.

        Raises:
            FlowError: One is neither a function nor the name of one.
        """
        given: Any = self.wrappers
        if isinstance(given, str) or callable(given):
            msg = f"wrappers must be a list of functions or names, got {given!r}"
            raise FlowError(msg)
        return tuple(_wrapper(each) for each in given)


@dataclass(frozen=True, kw_only=True)
class PreprocessingOptions(EnvOptions):
    """Options of the environment of one agent."""

    frame_stack: int | None = None
    """Number of successive observations that the agent gets as one; None: 4 for Atari
    games with preprocessing, else 1."""
    preprocessing: bool = True
    """Standard preprocessing of Atari ids: up to 30 no-op frames after a reset, frame
    skip 4, maximum of two frames, 84x84 grayscale, frame stack 4, clipped rewards. Of
    MiniGrid ids, unless there are wrappers: grid cells as categories."""
    life_loss: bool = False
    """Treat the loss of a life as a termination in training, for environments whose
    infos have lives, such as Atari games. Evaluation and reported returns are those of
    whole games."""
    clip_rewards: bool | None = None
    """Replace rewards by their sign in training; reported returns are unclipped. None:
    only for Atari games with preprocessing."""

    def check_environment(self) -> None:
        """Check the options."""
        super().check_environment()
        stack: Any = self.frame_stack
        require(stack is None or stack >= 1, self, "frame_stack", "at least 1, or None")


@dataclass(frozen=True, slots=True)
class TaskEnv:
    """How the environments of a task are made."""

    maker: Maker
    """Makes one environment."""
    clip_rewards: bool
    """Whether training uses the sign of rewards."""
    preprocessing: tuple[str, ...]
    """What happens between the environment and the agent, in words, in order."""
    max_steps: int | None
    """Steps after which the environment truncates an episode, if that is known."""


def task_env(env: str | Maker, options: PreprocessingOptions) -> TaskEnv:
    """Return how to make the environments of a task.

    Args:
        env: An id, or a function that makes an environment.
        options: Of the task.

    Raises:
        FlowError: There is no such id, or the options contradict each other.
    """
    kwargs = dict(options.env_kwargs)
    outer = options.loaded_wrappers()
    limit, clip = options.time_limit, bool(options.clip_rewards)
    inner: list[Callable[[Any], Any]] = []
    words: list[str] = []
    stack = options.frame_stack or 1
    spec = _spec(env) if isinstance(env, str) else None
    max_steps = None if spec is None else spec.max_episode_steps
    if spec is not None and options.preprocessing and is_atari(spec, kwargs):
        _use_atari(spec, kwargs, inner, words)
        max_steps = ATARI_MAX_FRAMES // ATARI_FRAME_SKIP
        if options.frame_stack is None:
            stack = ATARI_FRAME_STACK
        clip = options.clip_rewards is not False
        if limit is not None:
            inner.append(partial(TimeLimit, max_episode_steps=limit))
    elif spec is not None and limit is not None:
        kwargs["max_episode_steps"] = limit  # replaces the limit of the id
    elif limit is not None:
        inner.append(partial(TimeLimit, max_episode_steps=limit))
    if (
        spec is not None
        and options.preprocessing
        and not outer  # these get the observations of MiniGrid
        and is_minigrid(spec)
    ):
        inner.append(_minigrid_observation)
        words.append("grid cells as categories")
    if limit is not None:
        max_steps = limit
        words.append(f"time limit {limit:,}")
    if options.life_loss:
        inner.append(LifeLoss)
        words.append("a lost life is a termination in training")
    words += [f"wrapper {_name(each)}" for each in options.wrappers]
    wrappers = [*inner, *outer]
    if stack > 1:
        wrappers.append(partial(FrameStack, stack_size=stack))
        words.append(f"frame stack {stack}")
    if clip:
        words.append("rewards clipped in training, reported returns unclipped")
    maker: Maker
    if spec is not None:
        maker = Recipe(spec, kwargs, tuple(wrappers))
    elif kwargs or wrappers:
        assert not isinstance(env, str)
        maker = Wrapped(env, kwargs, tuple(wrappers))
    else:
        assert not isinstance(env, str)
        maker = env
    return TaskEnv(maker, clip, tuple(words), max_steps)


def described_steps(options: EnvOptions) -> tuple[str, ...]:
    """Return the time limit and the wrappers in words."""
    limit = options.time_limit
    words = [] if limit is None else [f"time limit {limit:,}"]
    return (*words, *(f"wrapper {_name(each)}" for each in options.wrappers))


def is_atari(spec: EnvSpec, kwargs: Mapping[str, Any]) -> bool:
    """Return whether a game of ALE is observed by its screen."""
    entry = spec.entry_point
    if not isinstance(entry, str) or not entry.startswith("ale_py"):
        return False
    return "ram" not in {**spec.kwargs, **kwargs}.get("obs_type", "rgb")


def is_minigrid(spec: EnvSpec) -> bool:
    """Return whether an environment is one of MiniGrid's."""
    return isinstance(spec.entry_point, str) and spec.entry_point.startswith("minigrid")


def _minigrid_observation(env: Any) -> Any:  # noqa: ANN401
    from reactorl.rl.wrappers.minigrid import MiniGridObservation

    return MiniGridObservation(env)


def _use_atari(
    spec: EnvSpec,
    kwargs: dict[str, Any],
    wrappers: list[Callable[[Any], Any]],
    words: list[str],
) -> None:
    """Add the standard preprocessing of Atari games."""
    from reactorl.rl.wrappers.atari import AtariPreprocessing

    if kwargs.get("frameskip", 1) != 1:
        msg = (
            f"frameskip of {spec.id!r} must be 1 with preprocessing, which skips "
            f"frames itself, got {kwargs['frameskip']!r}"
        )
        raise FlowError(msg, "Leave it out, or switch preprocessing off.")
    kwargs["frameskip"] = 1
    wrappers.append(AtariPreprocessing)
    words += [
        "up to 30 no-op frames after a reset",
        f"frame skip {ATARI_FRAME_SKIP}",
        "maximum of two frames",
        "84x84 grayscale",
    ]


def _spec(env_id: str) -> EnvSpec:
    found = search(env_id)
    if isinstance(found, Unknown):
        msg = f"environment {env_id!r} could not be found: {found.what}"
        raise FlowError(msg, found.remedy) from found.error
    return found


def unmade(env_id: str, error: Exception) -> FlowError:
    """Return the error for an environment that cannot be made."""
    reason = " ".join(str(error).split()).rstrip(".")
    if not reason:
        place = traceback.extract_tb(error.__traceback__)[-1]
        reason = f"{type(error).__name__} in {place.filename}, line {place.lineno}"
    return FlowError(f"environment {env_id!r} could not be made: {reason}")


def check_reward(env: Any, env_id: str, options: EnvOptions) -> None:  # noqa: ANN401
    """Refuse an environment of MO-Gymnasium, whose rewards are vectors.

    Raises:
        FlowError: It has several objectives, and no wrapper is given.
    """
    space = getattr(getattr(env, "unwrapped", None), "reward_space", None)
    shape = getattr(space, "shape", None) or ()
    if prod(shape) > 1 and not options.wrappers:
        msg = f"reward of {env_id!r} must be a number, got a vector of {prod(shape)}"
        remedy = "Add a wrapper such as mo_gymnasium.wrappers:LinearReward."
        raise FlowError(msg, remedy)


def _wrapper(given: Any) -> Callable[[Any], Any]:  # noqa: ANN401
    if not isinstance(given, str):
        if callable(given):
            return given  # type: ignore[no-any-return]
        msg = f"wrappers must be functions or names, got {given!r}"
        raise FlowError(msg)
    try:
        named = NamedWrapper(given)
        named.load()
    except WrapperNameError as error:
        raise FlowError(error.what, error.remedy) from error
    return named


def _name(wrapper: Any) -> str:  # noqa: ANN401
    if isinstance(wrapper, str):
        return wrapper
    return str(getattr(wrapper, "__qualname__", type(wrapper).__qualname__))
