# SPDX-License-Identifier: Apache-2.0
"""Bodies of reactions: functions that get what their signature names as arguments.

Until an instance runs, a body only knows names. Bound to an instance it is a plain
function whose defaults are that instance's ports and actions: calling it costs what
calling a method costs.
"""

from __future__ import annotations

from types import FunctionType, SimpleNamespace
from typing import TYPE_CHECKING, Any

from reactorl._runtime.instances import BankView

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reactorl._decl.reactor import Reactor


class Body:
    """The body of a reaction, a deadline handler or a watchdog's handler.

    Args:
        function: Takes ``self`` and, in order, what ``getters`` return.
        getters: Each finds what one name of the signature is in an instance.
    """

    def __init__(
        self, function: FunctionType, getters: Sequence[Callable[[Reactor], object]]
    ) -> None:
        self._function = function
        self._getters = tuple(getters)

    def bind(self, instance: Reactor) -> tuple[Callable[[Any], object], object]:
        """Return what to call for ``instance``, and its one argument."""
        function = self._function
        defaults = tuple([get(instance) for get in self._getters])
        bound = FunctionType(
            function.__code__, function.__globals__, function.__name__, defaults
        )
        bound.__qualname__ = function.__qualname__
        return bound, self_of(instance)

    def __call__(self, instance: Reactor) -> object:
        """Run the body of ``instance``; ``bind`` is the faster way."""
        known: dict[Body, Any] = instance.__dict__.setdefault("__lf_bound__", {})
        if self not in known:
            known[self] = self.bind(instance)
        function, me = known[self]
        return function(me)


def self_of(instance: Reactor) -> object:
    """Return what the bodies of ``instance`` call self."""
    lowered: Any = instance
    return lowered.__lf_self__()


# -- what the names of a signature are ------------------------------------------------


def own(name: str) -> Callable[[Reactor], object]:
    """Return what finds an own port, action, mode or watchdog."""
    return lambda instance: instance.__dict__[name]


def port(
    name: str, kind: type[FullPort] | None, *, is_multi: bool
) -> Callable[[Reactor], object]:
    """Return what finds an own port.

    Args:
        name: Its name.
        kind: What to show in place of the runtime's port; None: that itself.
        is_multi: Whether it is a multiport.
    """
    if kind is None:
        return own(name)

    def get(instance: Reactor) -> object:
        view: Any = instance.__dict__[name]
        context = instance._context
        if is_multi:
            return FullMultiPort(kind(channel, context) for channel in view)
        return kind(view, context)

    return get


def child(name: str, ports: Sequence[str]) -> Callable[[Reactor], object]:
    """Return what finds a contained reactor, or bank, with the ports that are named."""

    def get(instance: Reactor) -> object:
        view = instance.__dict__.get(name, _NO_MEMBERS)
        if hasattr(view, "_members"):
            return [_shown(member, ports) for member in view]
        return _shown(view, ports)

    return get


def child_port(name: str, port: str) -> Callable[[Reactor], object]:
    """Return what finds a contained reactor's port; of a bank, the list of them."""

    def get(instance: Reactor) -> object:
        view = instance.__dict__.get(name, _NO_MEMBERS)
        if hasattr(view, "_members"):
            return [getattr(member, port) for member in view]
        return getattr(view, port)

    return get


_NO_MEMBERS = BankView("", ())  # what the runtime shows of a bank of width 0


def _shown(view: object, ports: Sequence[str]) -> SimpleNamespace:
    return SimpleNamespace(**{port: getattr(view, port) for port in ports})


# -- ports with all that LF's ports can do ---------------------------------------------


class FullPort:
    """A plain port that can be indexed, and knows when its value was meant to come.

    In one process every message is on time: the intended tag is the current one.
    """

    __slots__ = ("_context", "_port", "set")

    def __init__(self, port: Any, context: Any) -> None:  # noqa: ANN401
        self._port = port
        self._context = context
        self.set = getattr(port, "set", None)

    @property
    def value(self) -> Any:  # noqa: ANN401
        """What was set at this tag; if absent, what was set last, or None."""
        return self._port.value

    @property
    def is_present(self) -> bool:
        """Whether the port was set at the current tag."""
        return bool(self._port.is_present)

    @property
    def intended_tag(self) -> Any:  # noqa: ANN401
        """The tag that the sender meant."""
        from reactorl.lf.runtime.api import LfTag

        return LfTag(*self._context.tag())

    @property
    def physical_time_of_arrival(self) -> int:
        """The wall clock when the value came: when its tag began, or later."""
        return int(max(self._context.tag().time, self._context.physical_time()))

    def __getitem__(self, index: int) -> FullPort:
        """Return the port itself, whatever the index."""
        return self

    def __iter__(self) -> Any:  # noqa: ANN401
        msg = "a port that is no multiport cannot be iterated over"
        raise TypeError(msg)


class MutablePort(FullPort):
    """A mutable input: its value is the reaction's own, to change or replace."""

    __slots__ = ("_replaced",)

    def __init__(self, port: Any, context: Any) -> None:  # noqa: ANN401
        super().__init__(port, context)
        self._replaced: tuple[Any, Any] = (None, None)  # tag, value

    @property
    def value(self) -> Any:  # noqa: ANN401
        """A private copy of what was set; or what the reaction put in its place."""
        tag, value = self._replaced
        if tag is not None and tag == self._context.tag():
            return value
        return self._port.value

    @value.setter
    def value(self, value: object) -> None:
        self._replaced = (self._context.tag(), value)


class FullMultiPort(tuple[Any, ...]):
    """A multiport whose channels can do all that LF's can."""

    __slots__ = ()

    @property
    def width(self) -> int:
        """How many channels there are."""
        return len(self)

    @property
    def is_present(self) -> bool:
        """Whether any channel is present at the current tag."""
        return any(port.is_present for port in self)


FULL_ABILITIES = frozenset({"intended_tag", "physical_time_of_arrival"})
