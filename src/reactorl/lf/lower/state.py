# SPDX-License-Identifier: Apache-2.0
"""State of instances: creates and initialises the ``self`` of bodies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reactorl._decl.state import state
from reactorl.lf.lower import values
from reactorl.lf.parse import syntax
from reactorl.lf.runtime.self_object import Self, give, give_params, self_class

if TYPE_CHECKING:
    from reactorl._decl.reactor import Reactor
    from reactorl._decl.state import State
    from reactorl.lf.link.program import Part
    from reactorl.lf.lower.class_info import ClassInfo
    from reactorl.lf.lower.lower import LfReactor
    from reactorl.lf.runtime.tracepoints import Tracepoints


class InstanceState:
    """Creates and initialises the ``self`` objects of a class."""

    def __init__(self, info: ClassInfo, tracepoints: Tracepoints) -> None:
        self._info = info
        self._tracepoints = tracepoints
        self._states = [
            (part, part.member)
            for part in info.parts
            if isinstance(part.member, syntax.State)
        ]
        self.names = frozenset(member.name.text for _, member in self._states)
        self._self_class: type[Self] | None = None

    def reset_state(self, part: Part, member: syntax.State) -> State:
        """Return the declaration of a ``reset state``."""
        name = member.name.text

        def initial(instance: LfReactor) -> object:
            content = instance.__dict__
            me = instance.__lf_self__()
            given: set[str] = content.setdefault("__lf_given__", set())
            if name in given:  # the mode is entered by a reset transition
                setattr(me, name, self._initial(part, member, me))
            given.add(name)
            return getattr(me, name)

        declared: State = state(factory=initial, reset=True)  # type: ignore[assignment]
        return declared

    def _initial(self, part: Part, member: syntax.State, me: Self) -> object:
        if member.init is None:
            return None
        params = _ParamsOf(me)
        source = part.owner.file.source
        return values.value_of(
            member.init, params, lambda code: self._info.run(code, source, me)
        )

    def new_self(self, instance: Reactor) -> Self:
        """Return a new ``self`` with the parameters of an instance, without state."""
        cls = self.self_class()
        me = cls.__new__(cls)
        give(me, "__lf_reactor__", instance)
        give(me, "__lf_tracepoints__", self._tracepoints)
        node = instance.__dict__.get("_node")
        if node is not None:
            give_params(me, node.params, node.bank_index)
        else:
            index = instance.__dict__.get("bank_index")
            give_params(me, instance._params, index)
        return me

    def self_class(self) -> type[Self]:
        """Return the class of the ``self`` objects; executes preambles of the class."""
        if self._self_class is None:
            self._self_class = self._make_self_class()
        return self._self_class

    def initialise(self, me: Self) -> None:
        """Initialise the state variables in textual order."""
        for part, member in self._states:
            setattr(me, member.name.text, self._initial(part, member, me))

    def _make_self_class(self) -> type[Self]:
        names: dict[str, Any] = {}
        compiler = self._info.compiler
        if compiler is not None:
            for part in self._info.parts:
                source = part.owner.file.source
                if isinstance(part.member, syntax.Preamble):
                    compiler.execute(part.member.code, source, names)
                elif isinstance(part.member, syntax.Method):
                    method = part.member
                    params = ["self", *(param.name.text for param in method.params)]
                    names[method.name.text] = compiler.function(
                        method.name.text, params, method.code, source
                    )
        info = self._info
        return self_class(info.unit.name, info.params, self.names, names)


class _ParamsOf(dict[str, Any]):
    """Parameters by name, read from ``self``."""

    def __init__(self, me: Self) -> None:
        super().__init__()
        self._me = me

    def __missing__(self, name: str) -> object:
        return getattr(self._me, name)
