# SPDX-License-Identifier: Apache-2.0
"""Parameters: given when a reactor is made, constant afterwards."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, ClassVar, NoReturn, TypeVar, cast, overload

from reactorl._decl.declaration import Declaration
from reactorl.errors import DeclarationError
from reactorl.position import Position, here

T = TypeVar("T")

_Operator = Callable[[Any, Any], Any]


class _Required:
    def __repr__(self) -> str:
        return "required"


REQUIRED = _Required()
"""The default of a parameter that has none."""


class Expr:
    """A value that depends on parameters; known once per instance.

    ``+ - * //`` with numbers, durations and other expressions give expressions.
    """

    __slots__ = ()

    def evaluate(self, params: Mapping[str, Any]) -> Any:  # noqa: ANN401
        """Return the value for an instance with these parameters."""
        raise NotImplementedError

    def __add__(self, other: object) -> Expr:
        return _combine("+", operator.add, self, other)

    def __radd__(self, other: object) -> Expr:
        return _combine("+", operator.add, other, self)

    def __sub__(self, other: object) -> Expr:
        return _combine("-", operator.sub, self, other)

    def __rsub__(self, other: object) -> Expr:
        return _combine("-", operator.sub, other, self)

    def __mul__(self, other: object) -> Expr:
        return _combine("*", operator.mul, self, other)

    def __rmul__(self, other: object) -> Expr:
        return _combine("*", operator.mul, other, self)

    def __floordiv__(self, other: object) -> Expr:
        return _combine("//", operator.floordiv, self, other)

    def __rfloordiv__(self, other: object) -> Expr:
        return _combine("//", operator.floordiv, other, self)

    def __bool__(self) -> NoReturn:
        self._too_early()

    def __index__(self) -> NoReturn:
        self._too_early()

    def _too_early(self) -> NoReturn:
        msg = f"the value of {self} is not known in the class body"
        raise DeclarationError(
            msg,
            here(),
            "Each instance has its own; use it in build(), where self has parameters.",
        )


class Param(Declaration, Expr):
    """A parameter; in the class body it stands for the value of each instance."""

    __slots__ = ("default", "factory")

    kind: ClassVar[str] = "parameter"

    def __init__(
        self, default: object, factory: Callable[[], object] | None = None
    ) -> None:
        super().__init__()
        self.factory = factory
        if isinstance(default, Expr):
            msg = f"the default of a parameter is another parameter ({default})"
            raise DeclarationError(
                msg,
                self.where,
                "Write the value, or compute it in setup().",
            )
        self.default = default

    @property
    def required(self) -> bool:
        """Whether it has no default."""
        return self.default is REQUIRED and self.factory is None

    def fallback(self) -> Any:  # noqa: ANN401
        """Return the value if none is given: the default, or a new one."""
        return self.default if self.factory is None else self.factory()

    def evaluate(self, params: Mapping[str, Any]) -> Any:  # noqa: ANN401
        """Return this parameter's value among ``params``."""
        try:
            return params[self.name]
        except KeyError:
            msg = f"{self.label} is used outside of the class that declares it"
            raise DeclarationError(
                msg,
                self.where,
                "Only parameters of the enclosing class have a value here.",
            ) from None

    def __str__(self) -> str:
        return self.name or "param"


class Computed(Expr):
    """An operator applied to two values, at least one of them an expression."""

    __slots__ = ("function", "left", "right", "sign")

    def __init__(
        self, sign: str, function: _Operator, left: object, right: object
    ) -> None:
        self.sign = sign
        self.function = function
        self.left = left
        self.right = right

    def evaluate(self, params: Mapping[str, Any]) -> Any:  # noqa: ANN401
        """Return the value for an instance with these parameters."""
        left, right = resolve(self.left, params), resolve(self.right, params)
        return self.function(left, right)

    def __str__(self) -> str:
        return f"{self.left} {self.sign} {self.right}"


def _combine(sign: str, function: _Operator, left: object, right: object) -> Expr:
    for side in (left, right):
        if not isinstance(side, Expr | int | float | timedelta):
            return cast("Expr", NotImplemented)
    return Computed(sign, function, left, right)


def resolve(value: Any, params: Mapping[str, Any]) -> Any:  # noqa: ANN401
    """Return ``value``, or what it is for these parameters if it depends on them."""
    return value.evaluate(params) if isinstance(value, Expr) else value


def param_position(value: object, fallback: Position) -> Position:
    """Return where ``value`` was declared if it is a parameter."""
    return value.where if isinstance(value, Param) else fallback


@overload
def param(default: T) -> T: ...


@overload
def param() -> Any: ...  # noqa: ANN401


def param(default: Any = REQUIRED) -> Any:
    """Declare a parameter; one without default must be given.

    ``window: int = param(100)``

    It is read-only on instances, has its value before anything else of the instance
    exists, and in the class body may serve as width, delay, period or deadline, also
    as ``width + 1``. A subclass may declare it again to change the default.

    Raises:
        DeclarationError: The default is another parameter.
    """
    return Param(default)
