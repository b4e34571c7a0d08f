# SPDX-License-Identifier: Apache-2.0
"""Native bodies of the sub-environments of a shard.

The state of a sub-environment is in one of two places: in its Python environment, or in
its native body. Steps move it into the body (``adopt``), and are then one native call
for the whole shard. Every other command moves it back first (``release``), so that
resets, calls, drawing and checkpoints work on the Python environment as if it had
stepped itself. Random numbers are drawn from the Python environment's own generator.

Whatever a body does not know is left to Python: unusual actions, attributes or
parameters, the first steps, which ``PassiveEnvChecker`` looks at. An environment that
has been handed out (``VectorEnv.envs``) stays in Python, because its new owner may look
at it or change it at any time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from gymnasium.vector import AutoresetMode

from reactorl.rl.envs.autoreset import reset_in_step
from reactorl.rl.envs.commands import Answer, Call, Reset, SetAttr
from reactorl.rl.envs.errors import EnvError
from reactorl.rl.envs.native import _bodies
from reactorl.rl.envs.native.choice import expected_kind, kind_of, unavailable
from reactorl.rl.envs.native.foreign import ForeignError, NotYetError
from reactorl.rl.envs.native.layers import Layers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reactorl.rl.envs.arrays import Arrays
    from reactorl.rl.envs.commands import Actions, Command
    from reactorl.rl.envs.factory import Maker
    from reactorl.rl.envs.native.kind import Kind
    from reactorl.rl.envs.observation_buffer import Array
    from reactorl.rl.envs.rules import Rules
    from reactorl.rl.envs.sub_env import Infos, SubEnv

_MODES: Final = {
    AutoresetMode.NEXT_STEP: 0,
    AutoresetMode.SAME_STEP: 1,
    AutoresetMode.DISABLED: 2,
}
_PLAIN: Final = (bool, int, float, str, bytes, type(None))
_HARMLESS: Final = frozenset(
    {
        "action_space",
        "metadata",
        "np_random",
        "observation_space",
        "render_mode",
        "spec",
        "state",
    }
)
"""Attributes whose values do not change a later step: a generator is shared with the
body, and a state is replaced by each step."""


@dataclass(slots=True)
class _Place:
    """One sub-environment."""

    sub_env: SubEnv
    layers: Layers | None = None
    checked: Any = None
    """The environment whose table has been compared."""
    is_exposed: bool = False


def native_shard(
    sub_envs: Sequence[SubEnv], makers: Mapping[int, Maker], rules: Rules
) -> NativeShard | str:
    """Return native bodies for sub-environments, or why there are none.

    Args:
        sub_envs: All of a shard.
        makers: What made them, by index.
        rules: Settings of all sub-environments.
    """
    if rules.native is False or rules.sub_env is not None:
        return "native is False"
    if rules.check_nan:
        return "check_nan looks at each result"
    if len(sub_envs) != len(makers) or not sub_envs:
        return "an environment could not be made"
    if [each.index for each in sub_envs] != list(
        range(sub_envs[0].index, sub_envs[0].index + len(sub_envs))
    ):
        return "the environments of a shard are not successive"
    if rules.native == "auto" and any(
        expected_kind(makers[each.index]) is None
        for each in _distinct(sub_envs, makers)
    ):
        return "it is not an id with a native body"
    try:
        kinds = {kind_of(each.env) for each in sub_envs}
        if len(kinds) > 1:
            return "the environments of a shard are not alike"
        kind = kinds.pop()()
        reason = unavailable(type(kind))
        if reason:
            return reason
        core = sub_envs[0].env.unwrapped
        kind.check(core)
        group = _bodies.Group(
            kind.body, len(sub_envs), _MODES[rules.autoreset], kind.table(core)
        )
    except ForeignError as error:
        return str(error)
    return NativeShard(kind, group, sub_envs)


def _distinct(sub_envs: Sequence[SubEnv], makers: Mapping[int, Maker]) -> list[SubEnv]:
    return list({id(makers[each.index]): each for each in sub_envs}.values())


class NativeShard:
    """Native bodies of some sub-environments; ``native_shard`` makes it."""

    def __init__(
        self,
        kind: Kind,
        group: _bodies.Group,
        sub_envs: Sequence[SubEnv],
    ) -> None:
        self._kind, self._group = kind, group
        self._places = [_Place(each) for each in sub_envs]
        self._first = sub_envs[0].index
        count = len(sub_envs)
        self._waiting = set(range(count))
        """Places whose state may be adopted by the next step."""
        self._live = 0
        self._status = np.zeros(count, np.uint8)
        self._transitions = np.zeros(count, np.int32)
        self._last: tuple[Array, ...] = ()
        self._states: Array = np.zeros(0, np.int64)

    def assign(self, arrays: Arrays) -> bool:
        """Write results into these arrays; False if they have an unusual form."""
        batch = arrays.observations.batch()
        parts = batch if type(batch) is tuple else (batch,)
        kind, count = self._kind, len(self._places)
        fits = len(parts) == kind.parts and not arrays.spares
        for part in parts if fits else ():
            width = (kind.width,) if kind.width else ()
            dtype = np.float32 if kind.width else np.int64
            fits = fits and type(part) is np.ndarray and part.dtype == dtype
            fits = fits and part.shape[1:] == width
        if not fits:
            return False
        self.release_all()
        self._last = tuple(
            np.zeros((count, *part.shape[1:]), part.dtype) for part in parts
        )
        self._states = parts[0]
        self._group.assign(
            observations=parts,
            rewards=arrays.rewards,
            terminations=arrays.terminations,
            truncations=arrays.truncations,
            last=self._last,
            status=self._status,
            transitions=self._transitions,
            row=self._first,
        )
        return True

    @property
    def is_active(self) -> bool:
        """Whether some environments are not left to Python for good."""
        return not all(place.is_exposed for place in self._places)

    @property
    def live(self) -> int:
        """Number of sub-environments whose state is in native code now."""
        return self._live

    # -- steps ------------------------------------------------------------------------

    def step(self, actions: Actions) -> dict[int, Any] | None:
        """Step all; returns None if Python has to step all of them."""
        if type(actions) is list:
            actions = np.asarray(actions)
        if self._waiting:
            if not self._group.fits(actions, self._first):
                self.release_all()
                return None
            for at in sorted(self._waiting):
                self._adopt(at)
        if not self._live:
            return None
        rest = self._group.step(actions, self._first)
        if rest is None:
            self.release_all()
            return None
        left, ended = rest
        if not left and not ended and not self._kind.has_infos:
            return {}
        return self._replies(actions)

    def ready(self) -> _bodies.Group | None:
        """Return the bodies if the state of all sub-environments is in them."""
        for at in sorted(self._waiting):
            self._adopt(at)
        return self._group if self._live == len(self._places) else None

    @property
    def kind(self) -> Kind:
        """The class of the sub-environments."""
        return self._kind

    def finish(self, actions: Actions, places: Sequence[int]) -> dict[int, Any]:
        """Finish a step of some places that bodies have left; return the replies."""
        return self._replies(actions, places)

    def _replies(
        self, actions: Actions, places: Sequence[int] | None = None
    ) -> dict[int, Any]:
        """Finish a step in Python, and return the replies."""
        replies: dict[int, Any] = {}
        codes = self._status
        every: Any = range(len(codes)) if places is None else places
        if not self._kind.has_infos:
            left = np.flatnonzero(codes > _bodies.RESET).tolist()
            every = left if places is None else [at for at in places if at in left]
        for at in every:
            try:
                reply: Any = self._reply(at, int(codes[at]), actions)
            except EnvError as failure:
                reply = failure
            if reply:
                replies[self._first + at] = reply
        return replies

    def _reply(self, at: int, code: int, actions: Actions) -> Infos:
        """Return the infos of one step, and do what is left of it."""
        kind = self._kind
        if code == _bodies.LEFT:
            sub_env = self._places[at].sub_env
            self.release(at)
            action = actions[sub_env.index]
            return sub_env.step(action.copy() if type(action) is np.ndarray else action)
        state = int(self._states[self._first + at]) if kind.has_infos else 0
        if code == _bodies.RESET:
            return _one(kind.first_info(state))
        if code == _bodies.STEPPED:
            return _one(kind.info(int(self._transitions[at]), state))
        obs = kind.last(self._last, at)
        ended_in = obs if kind.has_infos else 0
        info = kind.info(int(self._transitions[at]), ended_in)
        if code == _bodies.ENDED_LEFT:
            sub_env = self._places[at].sub_env
            self.release(at)
            sub_env.stepper.ended = False  # the reset is part of this step
            return reset_in_step(sub_env, obs, info)
        final = {"final_obs": obs, "final_info": info}
        return (final, *_one(kind.first_info(state)))

    def step_one(self, sub_env: SubEnv, action: Any) -> Infos:  # noqa: ANN401
        """Step one sub-environment.

        Raises:
            EnvError: It failed, and restarts are off.
        """
        at = sub_env.index - self._first
        if at in self._waiting:
            self._adopt(at)
        if not self._group.is_live(at):
            return sub_env.step(action)
        if not self._group.step_one(at, action):
            self.release(at)
            return sub_env.step(action)
        return self._reply(at, int(self._status[at]), {sub_env.index: action})

    # -- other commands ---------------------------------------------------------------

    def prepare(self, command: Command, sub_env: SubEnv) -> bool:
        """Move the state to Python before a command; False if there is nothing to do.

        That is so if the mask of a reset excludes the sub-environment.
        """
        at = sub_env.index - self._first
        if (
            type(command) is Reset
            and command.mask is not None
            and not command.mask[sub_env.index]
            and self._group.is_live(at)
        ):
            return False
        self.release(at)
        place = self._places[at]
        if type(command) is not Reset:
            place.layers = place.checked = None
            if type(command) is SetAttr:
                value = command.values[sub_env.index]
                if not _is_harmless(command.name, value):
                    self._expose(at)
        if not place.is_exposed:
            self._waiting.add(at)
        return True

    def follow(self, command: Command, sub_env: SubEnv, reply: object) -> None:
        """Leave an environment to Python if a call gave out something that lasts."""
        if type(command) is not Call or not isinstance(reply, Answer):
            return
        if not _is_harmless(command.name, reply.value):
            self._expose(sub_env.index - self._first)

    def release(self, at: int) -> None:
        """Move the state of a sub-environment to its Python environment."""
        if not self._group.is_live(at):
            return
        place = self._places[at]
        layers = place.layers
        assert layers is not None
        numbers, elapsed, has_ended, steps = self._group.release(at)
        self._kind.write(layers.core, numbers)
        layers.put_elapsed(elapsed)
        place.sub_env.stepper.ended = has_ended
        place.sub_env.stepper.steps = steps
        self._live -= 1
        self._waiting.add(at)

    def release_all(self) -> None:
        """Move all states to Python."""
        for at in range(len(self._places)):
            self.release(at)

    def expose(self) -> None:
        """Leave all environments to Python for good: they have been handed out."""
        for at in range(len(self._places)):
            self._expose(at)

    def _expose(self, at: int) -> None:
        self.release(at)
        self._places[at].is_exposed = True
        self._waiting.discard(at)

    def _adopt(self, at: int) -> None:
        """Move the state of a sub-environment into its body, if that is possible."""
        place, kind = self._places[at], self._kind
        sub_env = place.sub_env
        try:
            if not sub_env.is_plain_episode:
                raise NotYetError
            layers = place.layers
            if layers is None or place.checked is not sub_env.env:
                layers = place.layers = Layers.of(sub_env.env)
                if type(layers.core) is not type(self._places[0].sub_env.env.unwrapped):
                    msg = "it is another environment now"
                    raise ForeignError(msg)
                kind.check_table(layers.core)
                place.checked = sub_env.env
            layers.check()
            kind.check(layers.core)
            stepper = sub_env.stepper
            has_adopted = self._group.adopt(
                at,
                kind.generator(layers.core),
                numbers=kind.read(layers.core),
                elapsed=layers.elapsed,
                limit=layers.max_steps,
                has_ended=stepper.ended,
                steps=stepper.steps,
            )
            if not has_adopted:
                msg = "another environment has the same random generator"
                raise ForeignError(msg)
        except NotYetError:
            return  # tried again in the next step
        except ForeignError:
            self._waiting.discard(at)  # tried again after the next command
            return
        self._live += 1
        self._waiting.discard(at)


def _one(info: Any) -> Infos:  # noqa: ANN401
    return (info,) if info else ()


def _is_harmless(name: str, value: object) -> bool:
    """Return whether an attribute cannot be used to change a later step."""
    if name in _HARMLESS or name == "render":
        return True
    if isinstance(value, tuple):
        return all(_is_harmless("", part) for part in value)
    return type(value) in _PLAIN or isinstance(value, np.generic)
