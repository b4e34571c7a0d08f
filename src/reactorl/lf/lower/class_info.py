# SPDX-License-Identifier: Apache-2.0
"""A class during lowering: its members, and values of its expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reactorl.lf.lower import values
from reactorl.lf.parse import syntax

if TYPE_CHECKING:
    from types import FunctionType

    from reactorl.lf.link.program import ClassUnit
    from reactorl.lf.lower.compile import Compiler
    from reactorl.lf.runtime.self_object import Self
    from reactorl.lf.source import Source

_ELEMENTS = (
    syntax.Port
    | syntax.Action
    | syntax.Timer
    | syntax.Watchdog
    | syntax.Mode
    | syntax.Instance
)


class ClassInfo:
    """A class with the members of its lineage.

    Attributes:
        parts: Its members, those of bases first.
        kinds: The elements that signatures and connections can name.
        params: Its parameters.
        compiler: Compiles code blocks; None if no code is executed.
    """

    def __init__(self, unit: ClassUnit, compiler: Compiler | None) -> None:
        self.unit = unit
        self.compiler = compiler
        self.parts = list(unit.parts())
        self.kinds = {
            part.member.name.text: part.member
            for part in self.parts
            if isinstance(part.member, _ELEMENTS) and part.member.name is not None
        }
        self.params = unit.params()
        self.param_sources = {
            param.name.text: owner.file.source
            for owner in unit.lineage
            for param in owner.tree.params
        }
        # By id: equal code at another position has other line numbers.
        self._functions: dict[int, FunctionType] = {}

    def param_key(self, name: str) -> str:
        """Return the key of a parameter, which no other element of the class has."""
        return values.PREFIX + name if name in self.kinds else name

    def default(self, param: syntax.Param) -> Any:  # noqa: ANN401
        """Return a new default value of a parameter."""
        assert param.default is not None
        source = self.param_sources[param.name.text]
        return values.value_of(param.default, {}, lambda code: self.run(code, source))

    def run(
        self, code: syntax.Code, source: Source, me: Self | None = None, index: int = 0
    ) -> Any:  # noqa: ANN401
        """Return the value of a code block that is an expression.

        Args:
            code: The block.
            source: Its file.
            me: Its ``self``.
            index: Its ``bank_index``.
        """
        if self.compiler is None:
            return values.UNKNOWN
        function = self._functions.get(id(code))
        if function is None:
            params = ["self", "bank_index"]
            function = self.compiler.expression("value", params, code, source)
            self._functions[id(code)] = function
        return function(me, index)
