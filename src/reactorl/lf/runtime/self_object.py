# SPDX-License-Identifier: Apache-2.0
"""``self`` as bodies see it: parameters, state, methods, names of the preambles.

It is not the reactor object. An LF program may call its state ``name``, ``tag`` or
``connect``; nothing that the runtime needs is in the way here.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any

from reactorl.lf.lower.values import PREFIX

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reactorl._decl.reactor import Reactor
    from reactorl.lf.runtime.tracepoints import Tracepoints


class _Lent:
    """What the reactor lends where the program has no such name itself.

    Not in ``__getattr__``, which would make every access to state slower.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, me: Self | None, cls: type[Self]) -> Any:  # noqa: ANN401
        return self if me is None else getattr(me.__lf_reactor__, self._name)


class Self:
    """The base of all; a subclass per reactor class has its methods and preambles."""

    bank_index = 0
    random = _Lent("random")
    np_random = _Lent("np_random")
    seed = _Lent("seed")
    __lf_reactor__: Reactor
    __lf_tracepoints__: Tracepoints

    def check_deadline(self, invoke_handler: bool = True) -> bool:  # noqa: FBT001, FBT002
        """Return whether the running reaction is late; its handler runs first."""
        context = self.__lf_reactor__._context
        return context.check_deadline(invoke_handler)

    def update_deadline(self, deadline: int) -> None:
        """Change the running reaction's deadline, for later checks and later tags."""
        self.__lf_reactor__._context.update_deadline(deadline)

    def register_user_trace_event(self, description: str) -> int:
        """Return a handle for trace points; 0 if the run is not traced."""
        return self.__lf_tracepoints__.register(self.__lf_reactor__, description)

    def tracepoint_user_event(self, handle: int) -> None:
        """Note that something happened, at the current tag."""
        self.__lf_tracepoints__.note(self.__lf_reactor__, handle, None)

    def tracepoint_user_value(self, handle: int, value: int) -> None:
        """Note a number, at the current tag."""
        self.__lf_tracepoints__.note(self.__lf_reactor__, handle, value)


def self_class(
    name: str, params: Mapping[str, Any], names: dict[str, Any]
) -> type[Self]:
    """Return the class of ``self`` for one reactor class.

    Args:
        name: Of the reactor class.
        params: Its parameters; read-only.
        names: What preambles and methods define.
    """
    content = dict(names)
    for param in params:
        content[param] = property(attrgetter(f"__lf_{param}"))
    content.setdefault("__module__", "lf")
    return type(name, (Self,), content)


def give_params(me: Self, params: Mapping[str, Any], bank_index: int | None) -> None:
    """Put the parameters where ``self`` finds them."""
    for key, value in params.items():
        give(me, f"__lf_{key.removeprefix(PREFIX)}", value)
    if bank_index is not None and "bank_index" not in params:
        give(me, "bank_index", bank_index)


give = object.__setattr__
"""Sets an attribute whatever the program makes of it. Never through ``__dict__``: from
then on free-threaded CPython would look up all attributes the slow way."""
