# SPDX-License-Identifier: Apache-2.0
"""Lowers the classes of a linked program to reactor classes.

A reactor class has the members of its whole lineage, in that order; LF's inheritance
does not become Python's. Contained reactors are added in ``build()``, because arguments
and widths may depend on the parameters of each instance.
"""

from __future__ import annotations

from types import new_class
from typing import TYPE_CHECKING, Any

from reactorl._decl.reactor import Reactor
from reactorl.lf.lower.bodies import Body
from reactorl.lf.lower.class_info import ClassInfo
from reactorl.lf.lower.composition import Composition
from reactorl.lf.lower.declarations import Declarations
from reactorl.lf.lower.state import InstanceState
from reactorl.lf.places import position
from reactorl.position import at

if TYPE_CHECKING:
    from reactorl.lf.link.program import ClassUnit
    from reactorl.lf.lower.compile import Compiler
    from reactorl.lf.runtime.api import Lf
    from reactorl.lf.runtime.self_object import Self
    from reactorl.lf.runtime.tracepoints import Tracepoints


class LfReactor(Reactor):
    """Base class of lowered classes. The ``self`` of bodies is a ``Self`` object."""

    __lf__: LoweredClass

    def __lf_self__(self) -> Self:
        """Return the ``self`` of the bodies, with its state."""
        content = self.__dict__
        me: Self | None = content.get("__lf_me__")
        if me is None:
            me = content["__lf_me__"] = self.__lf__.state.new_self(self)
            self.__lf__.state.initialise(me)
        return me

    def __bind_body__(self, body: Any) -> tuple[Any, object]:  # noqa: ANN401
        """Bind bodies of LF code; those of a subclass in Python stay as they are."""
        return body.bind(self) if isinstance(body, Body) else (body, self)

    @classmethod
    def __body_self__(cls) -> type[Self]:
        """Return the class of the ``self`` of the bodies."""
        return cls.__lf__.state.self_class()

    def setup(self) -> None:
        """Initialise the state, before the first tag."""
        self.__lf__.lf.begin(self)
        self.__lf_self__()

    def teardown(self) -> None:
        """Unregister from the run."""
        self.__lf__.lf.end(self)

    def build(self) -> None:
        """Add contained reactors and connections."""
        self.__lf__.composition.build(self)

    def __setattr__(self, name: str, value: object) -> None:
        """Set a state variable or an element, even if it is named like a property."""
        me = self.__dict__.get("__lf_me__")
        if me is not None and name in self.__lf__.state.names:
            setattr(me, name, value)
        else:
            self.__dict__[name] = value

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        """Return a state variable or method, for subclasses in Python."""
        me = self.__dict__.get("__lf_me__")
        if me is None or name.startswith("__"):
            raise AttributeError(name, name=name, obj=self)
        return getattr(me, name)


LfReactor._freezes = False  # LF does not freeze sent values
LfReactor._sets_inputs = True  # in LF, a reaction may set an own input that it reads


class Lowering:
    """Makes the reactor classes of a linked program, each once.

    Args:
        compiler: Compiles code blocks; None if no code may be executed, so that values
            from code are unknown.
        lf: The ``lf`` of bodies.
        tracepoints: Receives the trace points of bodies.
    """

    def __init__(
        self, compiler: Compiler | None, lf: Lf, tracepoints: Tracepoints
    ) -> None:
        self.compiler = compiler
        self.lf = lf
        self.tracepoints = tracepoints
        self._made: dict[ClassUnit, type[LfReactor]] = {}

    def reactor_class(self, unit: ClassUnit) -> type[LfReactor]:
        """Return the reactor class of a class without errors."""
        cls = self._made.get(unit)
        if cls is None:
            lowered = LoweredClass(unit, self)
            name = unit.tree.name
            span = unit.tree.span if name is None else name.span
            with at(position(unit.file.source, span)):
                cls = new_class(
                    unit.name,
                    (LfReactor,),
                    {"free_names": True},
                    lowered.declarations.fill,
                )
            cls.__lf__ = lowered
            cls.__module__ = unit.file.source.path.stem
            self._made[unit] = cls
        return cls


class LoweredClass:
    """The helpers of one lowered class."""

    def __init__(self, unit: ClassUnit, lowering: Lowering) -> None:
        self.lf = lowering.lf
        self.info = ClassInfo(unit, lowering.compiler)
        self.state = InstanceState(self.info, lowering.tracepoints)
        self.declarations = Declarations(self.info, self.state.reset_state)
        self.composition = Composition(self.info, lowering, self.state.new_self)
