# SPDX-License-Identifier: Apache-2.0
"""Values of expressions: parameters, state, arguments, widths and times."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from reactorl._decl.param import Expr
from reactorl.errors import ProgramError
from reactorl.lf.parse import syntax
from reactorl.lf.parse.string_literals import value_of_string
from reactorl.lf.parse.time_units import nanoseconds_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from reactorl._decl.reactor import Reactor
    from reactorl.tag import Duration


class NotKnownError(ProgramError):
    """The structure depends on Python code, which ``check`` does not execute."""

    def __init__(self) -> None:
        super().__init__("the structure depends on code that is not executed")
        self.args = ()


class _Unknown:
    def __repr__(self) -> str:
        return "not known"


PREFIX = "parameter "
"""Prefix of the key of a parameter that has the name of another element."""

UNKNOWN: Any = _Unknown()
"""The value of code that is not executed."""


def value_of(
    expr: syntax.Expr,
    params: Mapping[str, Any],
    run: Callable[[syntax.Code], Any],
) -> Any:  # noqa: ANN401
    """Return the value of an expression.

    Args:
        expr: The expression.
        params: The parameters that it can refer to.
        run: Returns the value of a code block.
    """
    match expr:
        case syntax.String() | syntax.Char():
            return value_of_string(expr)
        case syntax.Number():
            return _number(expr.text)
        case syntax.Bool():
            return expr.value
        case syntax.Time():
            return nanoseconds_of(expr)
        case syntax.ParamRef():
            return param_value(params, expr.name)
        case syntax.Code():
            return run(expr)
        case syntax.List():
            return [value_of(item, params, run) for item in expr.items]


def param_value(params: Mapping[str, Any], name: str) -> Any:  # noqa: ANN401
    """Return a parameter's value; see ``PREFIX``."""
    hidden = PREFIX + name
    return params[hidden] if hidden in params else params[name]


def _number(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        return float(text)


def is_constant(expr: syntax.Expr) -> bool:
    """Return whether an expression always has the same immutable value."""
    return not isinstance(expr, syntax.Code | syntax.List)


class TimeParam(Expr):
    """A parameter used as a time, evaluated for each instance."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def evaluate(self, params: Mapping[str, Any]) -> Any:  # noqa: ANN401
        """Return the parameter's value.

        Raises:
            NotKnownError: It comes from code that was not executed.
            TypeError: It is not a time.
        """
        value = param_value(params, self._name)
        if value is UNKNOWN:
            raise NotKnownError
        if isinstance(value, bool) or not isinstance(value, int | timedelta):
            msg = (
                f"parameter '{self._name}' must be a time such as 10 ms, got {value!r}"
            )
            raise TypeError(msg)
        return value

    def __str__(self) -> str:
        return self._name


def duration(expr: syntax.Expr | None, default: Any = None) -> Duration:  # noqa: ANN401
    """Return a time, or an expression that is evaluated for each instance."""
    match expr:
        case syntax.Time():
            return nanoseconds_of(expr)
        case syntax.Number():
            return int(expr.text)
        case syntax.ParamRef():
            stand_in: Any = TimeParam(expr.name)
            return stand_in  # type: ignore[no-any-return]
    return default  # type: ignore[no-any-return]


def width(declared: syntax.Width) -> Callable[[Reactor], int]:
    """Return a function that computes a width from an instance's parameters.

    The function raises ``NotKnownError`` if a parameter comes from code that was not
    executed.
    """
    fixed = sum(term for term in declared.terms if isinstance(term, int))
    names = [term.text for term in declared.terms if isinstance(term, syntax.Name)]

    def evaluate(owner: Reactor) -> int:
        values = [param_value(owner._params, name) for name in names]
        if any(value is UNKNOWN for value in values):
            raise NotKnownError
        total: int = fixed
        for value in values:
            if isinstance(value, bool) or not isinstance(value, int):
                rejected: Any = value  # by elaboration, which knows the position
                return rejected  # type: ignore[no-any-return]
            total += value
        return total

    return evaluate
