# SPDX-License-Identifier: Apache-2.0
"""Actions: events that a reactor sends to itself, at a later tag."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar, overload

from reactorl._decl.declaration import Declaration
from reactorl._decl.dtype import dtype_of

if TYPE_CHECKING:
    from typing import Literal

    from reactorl._decl.dtype import DTypeLike
    from reactorl.tag import Duration

    Policy = Literal["defer", "drop", "replace", "update"]

T = TypeVar("T")

if TYPE_CHECKING:

    class Action(Generic[T]):
        """An action as a reaction sees it."""

        @property
        def value(self) -> T:
            """The payload of this tag's event; if absent, the last one, or None."""

        @property
        def is_present(self) -> bool:
            """Whether an event of this action happens at the current tag."""

        def schedule(self, delay: Duration = 0, value: T | None = None) -> None:
            """Let the action happen ``min_delay + delay`` later.

            A logical action counts from the current tag, a physical one from the wall
            clock. It never happens at the current tag: no delay means the next
            microstep, and so does a negative delay, with a warning. Events after the
            final tag are discarded, and so are events at ``FOREVER`` or later: as in
            LF, a time that does not fit into 64 bits is ``FOREVER``, which never comes.
            """
else:

    class Action(Generic[T]):
        """An action as a reaction sees it; the runtime supplies the object."""


class ActionDeclaration(Declaration):
    """A logical or physical action."""

    # As in ports: the subscripted class, for the type of the payload.
    __slots__ = ("__orig_class__", "dtype", "min_delay", "min_spacing", "policy")
    kind: ClassVar[str] = "action"
    physical: ClassVar[bool]

    def __init__(
        self,
        min_delay: Duration = 0,
        min_spacing: Duration | None = None,
        policy: Policy = "defer",
        *,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__()
        self.dtype = dtype_of(dtype)
        self.min_delay = min_delay
        self.min_spacing = min_spacing
        self.policy = policy


class LogicalAction(ActionDeclaration, Generic[T]):
    """An action stamped from the current tag: ``retry = LogicalAction[int](msec(5))``.

    Args:
        min_delay: Added to the delay of every schedule().
        min_spacing: Least time between an event and the one scheduled before it;
            None allows any number, each at a microstep of its own.
        policy: What happens to an event that comes too early: ``defer`` it to the
            first allowed time, ``drop`` it, ``replace`` the payload of the earlier one
            if that is still waiting, or ``update``: take the earlier one back.
        dtype: The type of its payloads, such as ``"int64"``, for native bodies.
    """

    __slots__ = ()
    physical = False

    if TYPE_CHECKING:

        @overload
        def __get__(self, instance: None, owner: object) -> Self: ...
        @overload
        def __get__(self, instance: object, owner: object) -> Action[T]: ...
        def __get__(self, instance: object, owner: object) -> Any: ...


class PhysicalAction(ActionDeclaration, Generic[T]):
    """An action stamped from the wall clock; any thread may schedule it.

    Its declaration alone keeps an idle program alive. Arguments as ``LogicalAction``.
    """

    __slots__ = ()
    physical = True

    if TYPE_CHECKING:

        @overload
        def __get__(self, instance: None, owner: object) -> Self: ...
        @overload
        def __get__(self, instance: object, owner: object) -> Action[T]: ...
        def __get__(self, instance: object, owner: object) -> Any: ...
