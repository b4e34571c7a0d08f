# SPDX-License-Identifier: Apache-2.0
"""The ``self`` of bodies: parameters, state, methods and names of preambles.

It is not the reactor object, because an LF program may name its state ``name``, ``tag``
or ``connect``, which are attributes of ``Reactor``.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any

from reactorl.lf.lower.values import PREFIX

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from reactorl._decl.reactor import Reactor
    from reactorl.lf.runtime.tracepoints import Tracepoints


class _FromReactor:
    """An attribute of the reactor, unless the program declares the name itself.

    A descriptor, because ``__getattr__`` would make every access to state slower.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, me: Self | None, cls: type[Self]) -> Any:  # noqa: ANN401
        return self if me is None else getattr(me.__lf_reactor__, self._name)


class Self:
    """Base class; each reactor class has a subclass with its methods and preambles."""

    bank_index = 0
    random = _FromReactor("random")
    np_random = _FromReactor("np_random")
    seed = _FromReactor("seed")
    __lf_reactor__: Reactor
    __lf_tracepoints__: Tracepoints

    def check_deadline(self, invoke_handler: bool = True) -> bool:  # noqa: FBT001, FBT002
        """Return whether the reaction missed its deadline; its handler runs first."""
        context = self.__lf_reactor__._context
        return context.check_deadline(invoke_handler)

    def update_deadline(self, deadline: int) -> None:
        """Change the running reaction's deadline, for later checks and tags."""
        self.__lf_reactor__._context.update_deadline(deadline)

    def register_user_trace_event(self, description: str) -> int:
        """Return a handle for trace points; 0 if the run is not traced."""
        return self.__lf_tracepoints__.register(self.__lf_reactor__, description)

    def tracepoint_user_event(self, handle: int) -> None:
        """Record an event at the current tag."""
        self.__lf_tracepoints__.note(self.__lf_reactor__, handle, None)

    def tracepoint_user_value(self, handle: int, value: int) -> None:
        """Record a value at the current tag."""
        self.__lf_tracepoints__.note(self.__lf_reactor__, handle, value)


def self_class(
    name: str, params: Collection[str], states: Collection[str], names: dict[str, Any]
) -> type[Self]:
    """Return the class of ``self`` for one reactor class.

    As in LF, parameter ``p`` is a read-only attribute ``p`` and, unless the program
    declares that name, a writable attribute ``_p``.

    Args:
        name: The name of the reactor class.
        params: The names of its parameters.
        states: The names of its state variables.
        names: The names that preambles and methods define.
    """
    content = dict(names)
    for param in params:
        content[param] = property(attrgetter(f"__lf_{param}"))
    for param in {*params, "bank_index"}:
        alias = f"_{param}"
        if not (alias in content or alias in states):
            stored = f"__lf_{param}" if param in params else param
            content[alias] = _alias(stored)
    content.setdefault("__module__", "lf")
    return type(name, (Self,), content)


def _alias(stored: str) -> property:
    def write(me: Self, value: object) -> None:
        give(me, stored, value)

    return property(attrgetter(stored), write)


def give_params(me: Self, params: Mapping[str, Any], bank_index: int | None) -> None:
    """Set the parameters of a ``self``."""
    for key, value in params.items():
        give(me, f"__lf_{key.removeprefix(PREFIX)}", value)
    if bank_index is not None and "bank_index" not in params:
        give(me, "bank_index", bank_index)


give = object.__setattr__
"""Sets an attribute even if the program overrides ``__setattr__``. Not through
``__dict__``: after that, free-threaded CPython looks up all attributes the slow way."""
