# SPDX-License-Identifier: Apache-2.0
"""From classes of a library to reactor classes: the same declarations, in Python.

A class is made of everything its lineage says, in that order; LF's inheritance does
not become Python's. What a class contains is added in ``build()``, because arguments
and widths may depend on parameters of each instance.
"""

from __future__ import annotations

from types import new_class
from typing import TYPE_CHECKING, Any

from reactorl._decl.reactor import Reactor
from reactorl.lf.containing import Containing
from reactorl.lf.declaring import Declaring
from reactorl.lf.facts import Facts
from reactorl.lf.keeping import Keeping
from reactorl.lf.places import position
from reactorl.position import at

if TYPE_CHECKING:
    from reactorl.lf.api import Lf
    from reactorl.lf.code import Compiler
    from reactorl.lf.library import ClassUnit
    from reactorl.lf.selves import Self
    from reactorl.lf.tracepoints import Tracepoints


class LfReactor(Reactor):
    """A reactor that was written in LF. Bodies get ``self`` from it, see ``selves``."""

    __lf__: Lowered

    def __lf_self__(self) -> Self:
        """Return the object that bodies call self, with its state."""
        content = self.__dict__
        me: Self | None = content.get("__lf_me__")
        if me is None:
            me = content["__lf_me__"] = self.__lf__.keeping.new_self(self)
            self.__lf__.keeping.initialise(me)
        return me

    def setup(self) -> None:
        """Make the state, before time starts."""
        self.__lf__.lf.begin(self)
        self.__lf_self__()

    def teardown(self) -> None:
        """Let go of the run."""
        self.__lf__.lf.end(self)

    def build(self) -> None:
        """Add what the class contains, and connect it."""
        self.__lf__.containing.build(self)

    def __setattr__(self, name: str, value: object) -> None:
        """Set an element's view, or state: an LF name may be that of a property."""
        me = self.__dict__.get("__lf_me__")
        if me is not None and name in self.__lf__.keeping.names:
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
    """Makes reactor classes of a library's classes, each once.

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
            lowered = Lowered(unit, self)
            name = unit.tree.name
            span = unit.tree.span if name is None else name.span
            with at(position(unit.file.source, span)):
                cls = new_class(
                    unit.name,
                    (LfReactor,),
                    {"free_names": True},
                    lowered.declaring.fill,
                )
            cls.__lf__ = lowered
            cls.__module__ = unit.file.source.path.stem
            self._made[unit] = cls
        return cls


class Lowered:
    """One class, seen from its reactor class."""

    def __init__(self, unit: ClassUnit, lowering: Lowering) -> None:
        self.lf = lowering.lf
        self.facts = Facts(unit, lowering.compiler)
        self.keeping = Keeping(self.facts, lowering.tracepoints)
        self.declaring = Declaring(self.facts, self.keeping.reset_state)
        self.containing = Containing(self.facts, lowering, self.keeping.new_self)
