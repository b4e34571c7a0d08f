# SPDX-License-Identifier: Apache-2.0
"""From classes of a linked to reactor classes: the same declarations, in Python.

A class is made of everything its lineage says, in that order; LF's inheritance does
not become Python's. What a class contains is added in ``build()``, because arguments
and widths may depend on parameters of each instance.
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
    """A reactor that was written in LF. Bodies get ``self`` from it, see ``selves``."""

    __lf__: LoweredClass

    def __lf_self__(self) -> Self:
        """Return the object that bodies call self, with its state."""
        content = self.__dict__
        me: Self | None = content.get("__lf_me__")
        if me is None:
            me = content["__lf_me__"] = self.__lf__.state.new_self(self)
            self.__lf__.state.initialise(me)
        return me

    def __bind_body__(self, body: Any) -> tuple[Any, object]:  # noqa: ANN401
        """Bind bodies of LF code; those of a subclass in Python stay as they are."""
        return body.bind(self) if isinstance(body, Body) else (body, self)

    def setup(self) -> None:
        """Make the state, before time starts."""
        self.__lf__.lf.begin(self)
        self.__lf_self__()

    def teardown(self) -> None:
        """Let go of the run."""
        self.__lf__.lf.end(self)

    def build(self) -> None:
        """Add what the class contains, and connect it."""
        self.__lf__.composition.build(self)

    def __setattr__(self, name: str, value: object) -> None:
        """Set an element's view, or state: an LF name may be that of a property."""
        me = self.__dict__.get("__lf_me__")
        if me is not None and name in self.__lf__.state.names:
            setattr(me, name, value)
        else:
            self.__dict__[name] = value

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        """Return state and methods, for Python code that extends the class."""
        me = self.__dict__.get("__lf_me__")
        if me is None or name.startswith("__"):
            raise AttributeError(name, name=name, obj=self)
        return getattr(me, name)


LfReactor._freezes = False  # in LF what is sent stays as it is


class Lowering:
    """Makes reactor classes of a linked's classes, each once.

    Args:
        compiler: Makes functions of code; None: no code is executed, and what it
            would say is not known.
        lf: What bodies call ``lf``.
        tracepoints: Where trace points of bodies go.
    """

    def __init__(
        self, compiler: Compiler | None, lf: Lf, tracepoints: Tracepoints
    ) -> None:
        self.compiler = compiler
        self.lf = lf
        self.tracepoints = tracepoints
        self._made: dict[ClassUnit, type[LfReactor]] = {}

    def reactor_class(self, unit: ClassUnit) -> type[LfReactor]:
        """Return the reactor class of a class that has been checked."""
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
    """One class, seen from its reactor class."""

    def __init__(self, unit: ClassUnit, lowering: Lowering) -> None:
        self.lf = lowering.lf
        self.info = ClassInfo(unit, lowering.compiler)
        self.state = InstanceState(self.info, lowering.tracepoints)
        self.declarations = Declarations(self.info, self.state.reset_state)
        self.composition = Composition(self.info, lowering, self.state.new_self)
