# SPDX-License-Identifier: Apache-2.0
"""What a vector can ask of its environments; each command is for all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, Self, TypeAlias

import numpy as np

from reactorl.rl.envs.buffer_pool import HOME

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from reactorl.rl.envs.arrays import Arrays
    from reactorl.rl.envs.errors import EnvError
    from reactorl.rl.envs.observation_buffer import Array, Space
    from reactorl.rl.envs.sub_env import Infos, SubEnv


Actions: TypeAlias = "Sequence[Any] | Mapping[int, Any] | Array"
"""One for each environment, by index."""
Deed: TypeAlias = Literal["step", "reset", "ask"]
"""What a command does with an environment: this decides what its loss means."""


class Command(Protocol):
    """Something to do with each environment."""

    @property
    def deed(self) -> Deed:
        """What it does."""

    def seed_for(self, index: int) -> int | None:
        """Return what it seeds an environment with, if it does."""

    def apply(self, seat: SubEnv) -> object:
        """Do it with one; return the reply, None if there is nothing to say."""

    def part(self, indices: Sequence[int]) -> Command:
        """Return what some environments need to know of it."""


class Asking:
    """A command after which environments are what they were."""

    __slots__ = ()
    deed: ClassVar[Deed] = "ask"

    def seed_for(self, index: int) -> int | None:
        """Seed nobody."""
        return None


class ForAll(Asking):
    """A command that says the same to all."""

    __slots__ = ()

    def part(self, indices: Sequence[int]) -> Self:
        """Return it as it is."""
        return self


@dataclass(slots=True)  # not frozen: one is made in every round, in half the time
class Step(Asking):
    """Step with these actions, by index. Nobody changes it.

    Of an array each environment gets a row of a copy: it may keep that, and whoever
    gave the array may write the next actions into it.
    """

    deed: ClassVar[Deed] = "step"
    actions: Actions
    batch: Any = None
    """All of them, as they were given."""
    is_shared: bool = False
    """Whether they are where all processes see them."""
    place: int = HOME
    """Where observations land; see ``lending``."""

    def apply(self, seat: SubEnv) -> Infos | None:
        """Step one environment."""
        action = self.actions[seat.index]
        if type(self.actions) is np.ndarray and type(action) is np.ndarray:
            action = action.copy()
        return seat.step(action) or None

    def part(self, indices: Sequence[int]) -> Step:
        """Return the actions of some."""
        return Step({index: self.actions[index] for index in indices}, place=self.place)

    def through(self, shared: Array | None) -> Step:
        """Put the actions into an array, if they are just what it holds."""
        batch = self.batch
        if (
            shared is None
            or type(batch) is not np.ndarray
            or batch.dtype != shared.dtype
            or batch.shape != shared.shape
        ):
            return self
        shared[...] = batch
        return Step((), is_shared=True, place=self.place)


@dataclass(frozen=True, slots=True)
class Reset(ForAll):
    """Reset those of the mask; all, if there is none."""

    deed: ClassVar[Deed] = "reset"
    seeds: Sequence[int | None]
    options: dict[str, Any] | None
    mask: Sequence[bool] | None = None
    each: Sequence[dict[str, Any] | None] | None = None
    """Options by index, in place of those for all."""
    place: int = HOME
    """Where observations land, also those of environments that are not reset."""

    def seed_for(self, index: int) -> int | None:
        """Return its seed, unless the mask leaves it out."""
        if self.mask is not None and not self.mask[index]:
            return None
        return self.seeds[index]

    def apply(self, seat: SubEnv) -> Infos | None:
        """Reset one environment, unless the mask leaves it out."""
        index = seat.index
        if self.mask is not None and not self.mask[index]:
            seat.put_again()
            return None
        options = self.options if self.each is None else self.each[index]
        return seat.reset(self.seeds[index], options) or None


@dataclass(frozen=True, slots=True)
class Call(ForAll):
    """Call a method, or read an attribute."""

    name: str
    args: tuple[Any, ...] = ()
    kwargs: tuple[tuple[str, Any], ...] = ()

    def apply(self, seat: SubEnv) -> Answer:
        """Call it."""
        return Answer.of(lambda: seat.call(self.name, self.args, dict(self.kwargs)))


@dataclass(frozen=True, slots=True)
class SetAttr(Asking):
    """Set an attribute, to a value for each."""

    name: str
    values: Sequence[Any] | Mapping[int, Any]

    def part(self, indices: Sequence[int]) -> SetAttr:
        """Return the values of some."""
        return SetAttr(self.name, {index: self.values[index] for index in indices})

    def apply(self, seat: SubEnv) -> Answer:
        """Set it."""
        return Answer.of(lambda: seat.set_attr(self.name, self.values[seat.index]))


@dataclass(frozen=True, slots=True)
class Render(ForAll):
    """Render."""

    def apply(self, seat: SubEnv) -> Answer:
        """Render one environment."""
        return Answer.of(seat.render)


@dataclass(frozen=True, slots=True)
class Only:
    """A command for some; the others have nothing to do."""

    command: Command
    indices: tuple[int, ...]

    @property
    def deed(self) -> Deed:
        """What the command does."""
        return self.command.deed

    def seed_for(self, index: int) -> int | None:
        """Return what the command seeds it with, if it is meant."""
        return self.command.seed_for(index) if index in self.indices else None

    def part(self, indices: Sequence[int]) -> Only:
        """Return it for those of them that are meant."""
        meant = tuple(index for index in self.indices if index in indices)
        return Only(self.command.part(indices), meant)

    def apply(self, seat: SubEnv) -> object:
        """Let one environment obey, if it is meant."""
        return self.command.apply(seat) if seat.index in self.indices else None


@dataclass(frozen=True, slots=True)
class Describe(ForAll):
    """Tell what it is."""

    def apply(self, seat: SubEnv) -> object:
        """Describe one environment."""
        return seat.describe()


@dataclass(frozen=True, slots=True)
class Assign(ForAll):
    """Let results land in these arrays."""

    arrays: Arrays

    def apply(self, seat: SubEnv) -> None:
        """Tell one environment."""
        seat.assign(self.arrays)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a call gave, or what it raised: that is the caller's business."""

    value: Any
    error: Exception | None = None

    @classmethod
    def of(cls, call: Callable[[], object]) -> Answer:
        """Call, and keep what comes of it."""
        try:
            return cls(call())
        except Exception as error:
            return cls(None, error)


@dataclass(frozen=True, slots=True)
class Description:
    """What an environment is, as far as a vector needs to know."""

    observation_space: Space
    action_space: Space
    metadata: dict[str, Any]
    render_mode: str | None
    name: str


Reply: TypeAlias = "Infos | Answer | Description | EnvError | None"
