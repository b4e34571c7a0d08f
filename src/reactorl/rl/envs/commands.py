# SPDX-License-Identifier: Apache-2.0
"""Commands to sub-environments; each is sent to all shards of a backend."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, Self, TypeAlias

import numpy as np

from reactorl.rl.envs.buffer_pool import HOME

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from reactorl.rl.checkpoint.registry import Data
    from reactorl.rl.envs.errors import EnvError
    from reactorl.rl.envs.managed_env import ManagedEnv
    from reactorl.rl.envs.observation_buffer import Array, Space
    from reactorl.rl.envs.sub_env import Infos, SubEnv


Actions: TypeAlias = "Sequence[Any] | Mapping[int, Any] | Array"
"""One action for each sub-environment, by index."""
Operation: TypeAlias = Literal["step", "reset", "query"]
"""What a command does; decides what the loss of a process means for its episodes."""


class Command(Protocol):
    """An operation on each sub-environment."""

    @property
    def operation(self) -> Operation:
        """What it does."""

    def includes(self, index: int) -> bool:
        """Return whether it is for this sub-environment."""

    def seed_for(self, index: int) -> int | None:
        """Return the seed that it gives to a sub-environment, if any."""

    def apply(self, sub_env: Any) -> object:  # noqa: ANN401 - the kind it is for
        """Execute it; returns the reply, None if there is nothing to report."""

    def part(self, indices: Sequence[int]) -> Command:
        """Return the part that a process with these sub-environments needs."""


class Query:
    """A command that leaves episodes as they are."""

    __slots__ = ()
    operation: ClassVar[Operation] = "query"

    def includes(self, index: int) -> bool:
        """Include every sub-environment."""
        return True

    def seed_for(self, index: int) -> int | None:
        """Give no seed."""
        return None


class Broadcast(Query):
    """A command with the same content for all sub-environments."""

    __slots__ = ()

    def part(self, indices: Sequence[int]) -> Self:
        """Return the whole command."""
        return self


@dataclass(slots=True)  # not frozen: one per step, and a frozen one costs twice as much
class Step(Query):
    """Step with these actions, by index. Not modified after it is made.

    Of an array each sub-environment gets a row of a copy: the environment may keep the
    row, and the caller may write the next actions into the array.
    """

    operation: ClassVar[Operation] = "step"
    actions: Actions
    batch: Any = None
    """All actions in the form in which the caller gave them."""
    is_shared: bool = False
    """Whether the actions are in shared memory."""
    buffer: int = HOME
    """The buffer into which observations are written; see ``BufferPool``."""

    def apply(self, sub_env: SubEnv) -> Infos | None:
        """Step one sub-environment."""
        return sub_env.step(self.action(sub_env.index)) or None

    def action(self, index: int) -> Any:  # noqa: ANN401
        """Return the action of one sub-environment; a copy of a row."""
        action = self.actions[index]
        if type(self.actions) is np.ndarray and type(action) is np.ndarray:
            return action.copy()
        return action

    def part(self, indices: Sequence[int]) -> Step:
        """Return the actions of some sub-environments."""
        actions = {index: self.actions[index] for index in indices}
        return Step(actions, buffer=self.buffer)

    def through(self, shared: Array | None) -> Step:
        """Write the actions into a shared array, if they have its shape and dtype."""
        batch = self.batch
        if (
            shared is None
            or type(batch) is not np.ndarray
            or batch.dtype != shared.dtype
            or batch.shape != shared.shape
        ):
            return self
        shared[...] = batch
        return Step((), is_shared=True, buffer=self.buffer)


@dataclass(frozen=True, slots=True)
class Reset(Broadcast):
    """Reset the sub-environments of the mask; all, if there is no mask."""

    operation: ClassVar[Operation] = "reset"
    seeds: Sequence[int | None]
    options: dict[str, Any] | None
    mask: Sequence[bool] | None = None
    each: Sequence[dict[str, Any] | None] | None = None
    """Options by index, instead of ``options``."""
    buffer: int = HOME
    """The buffer into which observations are written, also of those not reset."""

    def seed_for(self, index: int) -> int | None:
        """Return the seed, unless the mask excludes the sub-environment."""
        if self.mask is not None and not self.mask[index]:
            return None
        return self.seeds[index]

    def apply(self, sub_env: SubEnv) -> Infos | None:
        """Reset one sub-environment, unless the mask excludes it."""
        index = sub_env.index
        if self.mask is not None and not self.mask[index]:
            sub_env.rewrite_observation()
            return None
        options = self.options if self.each is None else self.each[index]
        return sub_env.reset(self.seeds[index], options) or None


@dataclass(frozen=True, slots=True)
class Call(Broadcast):
    """Call a method, or read an attribute."""

    name: str
    args: tuple[Any, ...] = ()
    kwargs: tuple[tuple[str, Any], ...] = ()

    def apply(self, sub_env: ManagedEnv) -> Answer:
        """Call it."""
        return Answer.of(lambda: sub_env.call(self.name, self.args, dict(self.kwargs)))


@dataclass(frozen=True, slots=True)
class SetAttr(Query):
    """Set an attribute to a value for each sub-environment."""

    name: str
    values: Sequence[Any] | Mapping[int, Any]

    def part(self, indices: Sequence[int]) -> SetAttr:
        """Return the values of some sub-environments."""
        return SetAttr(self.name, {index: self.values[index] for index in indices})

    def apply(self, sub_env: ManagedEnv) -> Answer:
        """Set it."""
        value = self.values[sub_env.index]
        return Answer.of(lambda: sub_env.set_attr(self.name, value))


@dataclass(frozen=True, slots=True)
class Render(Broadcast):
    """Render."""

    def apply(self, sub_env: ManagedEnv) -> Answer:
        """Render one sub-environment."""
        return Answer.of(sub_env.render)


@dataclass(frozen=True, slots=True)
class Save(Broadcast):
    """Return the state as plain data, for a checkpoint."""

    distrusted: Mapping[str, str] = field(default_factory=dict)
    """Methods of snapshots that failed before, and why."""

    def apply(self, sub_env: ManagedEnv) -> Answer:
        """Save one sub-environment."""
        return Answer.of(lambda: sub_env.save(self.distrusted))


@dataclass(frozen=True, slots=True)
class _WithStates(Query):
    saved: Sequence[Data] | Mapping[int, Data]
    """By index."""

    def part(self, indices: Sequence[int]) -> Self:
        """Return the states of some sub-environments."""
        return type(self)({index: self.saved[index] for index in indices})


@dataclass(frozen=True, slots=True)
class Verify(_WithStates):
    """Return why saved states cannot be restored exactly; empty if they can."""

    def apply(self, sub_env: ManagedEnv) -> Answer:
        """Verify one saved state, without use of the sub-environment."""
        return Answer.of(lambda: sub_env.verify(self.saved[sub_env.index]))


@dataclass(frozen=True, slots=True)
class Load(_WithStates):
    """Restore saved states; the sub-environments must have been reset.

    The replies say why that was impossible, or are empty.
    """

    def apply(self, sub_env: ManagedEnv) -> Answer:
        """Restore one sub-environment."""
        return Answer.of(lambda: sub_env.load(self.saved[sub_env.index]))


@dataclass(frozen=True, slots=True)
class Only:
    """A command for some sub-environments; the others do nothing."""

    command: Command
    indices: tuple[int, ...]

    @property
    def operation(self) -> Operation:
        """What the command does."""
        return self.command.operation

    def includes(self, index: int) -> bool:
        """Return whether the sub-environment is one of these."""
        return index in self.indices

    def seed_for(self, index: int) -> int | None:
        """Return the seed that the command gives to one of these."""
        return self.command.seed_for(index) if index in self.indices else None

    def part(self, indices: Sequence[int]) -> Only:
        """Return the command for those of the indices that are included."""
        included = tuple(index for index in self.indices if index in indices)
        return Only(self.command.part(included), included)

    def apply(self, sub_env: ManagedEnv) -> object:
        """Execute the command if the sub-environment is included."""
        return self.command.apply(sub_env) if sub_env.index in self.indices else None


@dataclass(frozen=True, slots=True)
class Describe(Broadcast):
    """Return a description."""

    def apply(self, sub_env: ManagedEnv) -> object:
        """Describe one sub-environment."""
        return sub_env.describe()


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a call, or the exception that it raised, for the caller."""

    value: Any
    error: Exception | None = None

    @classmethod
    def of(cls, call: Callable[[], object]) -> Answer:
        """Call, and hold the result or exception."""
        try:
            return cls(call())
        except Exception as error:
            return cls(None, error)

    def result(self) -> Any:  # noqa: ANN401
        """Return the result, or raise the exception."""
        if self.error is not None:
            raise self.error
        return self.value


@dataclass(frozen=True, slots=True)
class Description:
    """The spaces and metadata of an environment."""

    observation_space: Space
    action_space: Space
    metadata: dict[str, Any]
    render_mode: str | None
    name: str


Reply: TypeAlias = "Infos | Answer | Description | EnvError | None"
