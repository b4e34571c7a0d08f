# SPDX-License-Identifier: Apache-2.0
"""Bodies of reactions: functions whose arguments are the names of the signature.

The body of a class is bound to each instance before a run: the result is a plain
function whose default arguments are that instance's ports and actions, so that calling
it costs as much as calling a method.
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
        getters: Each returns the argument for one name of the signature.
    """

    def __init__(
        self, function: FunctionType, getters: Sequence[Callable[[Reactor], object]]
    ) -> None:
        self._function = function
        self._getters = tuple(getters)

    def bind(self, instance: Reactor) -> tuple[Callable[[Any], object], object]:
        """Return the function of an instance, and its one argument."""
        function = self._function
        defaults = tuple([get(instance) for get in self._getters])
        bound = FunctionType(
            function.__code__, function.__globals__, function.__name__, defaults
        )
        bound.__qualname__ = function.__qualname__
        return bound, self_of(instance)

    def __call__(self, instance: Reactor) -> object:
        """Run the body of an instance; slower than the result of ``bind``."""
        known: dict[Body, Any] = instance.__dict__.setdefault("__lf_bound__", {})
        if self not in known:
            known[self] = self.bind(instance)
        function, me = known[self]
        return function(me)


def self_of(instance: Reactor) -> object:
    """Return the ``self`` of the bodies of an instance."""
    lowered: Any = instance
    return lowered.__lf_self__()


# -- getters of the arguments of a body -----------------------------------------------


def own(name: str) -> Callable[[Reactor], object]:
    """Return the getter of an own port, action, mode or watchdog."""
    return lambda instance: instance.__dict__[name]


def port(
    name: str, kind: type[FullPort] | None, *, is_multi: bool
) -> Callable[[Reactor], object]:
    """Return the getter of an own port.

    Args:
        name: Its name.
        kind: The class that wraps the runtime's port; None: no wrapper.
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
    """Return the getter of a contained reactor or bank with the given ports."""

    def get(instance: Reactor) -> object:
        view = instance.__dict__.get(name, _NO_MEMBERS)
        if hasattr(view, "_members"):
            return [_shown(member, ports) for member in view]
        return _shown(view, ports)

    return get


def child_port(name: str, port: str) -> Callable[[Reactor], object]:
    """Return the getter of a contained reactor's port; for a bank, of a list."""

    def get(instance: Reactor) -> object:
        view = instance.__dict__.get(name, _NO_MEMBERS)
        if hasattr(view, "_members"):
            return [getattr(member, port) for member in view]
        return getattr(view, port)

    return get


_NO_MEMBERS = BankView("", ())  # the runtime has no view of a bank of width 0


def _shown(view: object, ports: Sequence[str]) -> SimpleNamespace:
    return SimpleNamespace(**{port: getattr(view, port) for port in ports})


# -- ports with all attributes of LF's ports -------------------------------------------


class FullPort:
    """A port that can be indexed and has the attributes of federated programs.

    In one process every message is on time, so the intended tag is the current tag.
    """

    __slots__ = ("_context", "_port", "set")

    def __init__(self, port: Any, context: Any) -> None:  # noqa: ANN401
        self._port = port
        self._context = context
        self.set = getattr(port, "set", None)

    @property
    def value(self) -> Any:  # noqa: ANN401
        """The value at this tag; if absent, the last value, or None."""
        return self._port.value

    @property
    def is_present(self) -> bool:
        """Whether the port was set at the current tag."""
        return bool(self._port.is_present)

    @property
    def intended_tag(self) -> Any:  # noqa: ANN401
        """The tag that the sender intended."""
        from reactorl.lf.runtime.api import LfTag

        return LfTag(*self._context.tag())

    @property
    def physical_time_of_arrival(self) -> int:
        """The physical time at which the value arrived, at least the tag's time."""
        return int(max(self._context.tag().time, self._context.physical_time()))

    def __getitem__(self, index: int) -> FullPort:
        """Return the port itself for any index."""
        return self

    def __iter__(self) -> Any:  # noqa: ANN401
        msg = "a port that is not a multiport cannot be iterated over"
        raise TypeError(msg)


class MutablePort(FullPort):
    """A mutable input: reactions can change or replace its value."""

    __slots__ = ("_replaced",)

    def __init__(self, port: Any, context: Any) -> None:  # noqa: ANN401
        super().__init__(port, context)
        self._replaced: tuple[Any, Any] = (None, None)  # tag, value
        self.set = self._set

    def _set(self, value: object) -> None:
        self._replaced = (None, None)
        self._port.set(value)

    @property
    def value(self) -> Any:  # noqa: ANN401
        """A private copy of the value, or its replacement at this tag."""
        tag, value = self._replaced
        if tag is not None and tag == self._context.tag():
            return value
        return self._port.value

    @value.setter
    def value(self, value: object) -> None:
        self._replaced = (self._context.tag(), value)


class FullMultiPort(tuple[Any, ...]):
    """A multiport of ``FullPort`` channels."""

    __slots__ = ()

    @property
    def width(self) -> int:
        """The number of channels."""
        return len(self)

    @property
    def is_present(self) -> bool:
        """Whether any channel is present at the current tag."""
        return any(port.is_present for port in self)


FULL_ABILITIES = frozenset({"intended_tag", "physical_time_of_arrival"})
