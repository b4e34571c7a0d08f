# SPDX-License-Identifier: Apache-2.0
"""State: variables of an instance that its reactions share, private to it."""

from __future__ import annotations

import copy
import inspect
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar, overload

from reactorl._decl.declaration import Declaration
from reactorl._decl.param import Expr
from reactorl.errors import DeclarationError

if TYPE_CHECKING:
    from collections.abc import Callable

    from reactorl._decl.reactor import Reactor

T = TypeVar("T")

_MISSING: Any = object()
_PLAIN = (bool, int, float, complex, str, bytes, type(None))


class State(Declaration):
    """A state variable with its initial value."""

    __slots__ = ("default", "factory", "native", "reset", "takes_self")

    kind: ClassVar[str] = "state"

    def __init__(
        self,
        default: object,
        factory: Callable[..., object] | None,
        *,
        reset: bool,
        native: bool = False,
    ) -> None:
        super().__init__()
        if not native and (default is _MISSING) == (factory is None):
            msg = "state() must have either a default or a factory"
            raise DeclarationError(
                msg,
                self.where,
                "Write state(0) or state(factory=list).",
            )
        self.default = default
        self.factory = factory
        self.reset = reset
        self.native = native  # memory of a library, which native bodies get
        self.takes_self = factory is not None and _wants_argument(factory)

    def initial(self, instance: Reactor) -> object:
        """Return a fresh initial value for ``instance``."""
        if self.factory is not None:
            return self.factory(instance) if self.takes_self else self.factory()
        if isinstance(self.default, _PLAIN):
            return self.default
        if isinstance(self.default, Expr):
            return self.default.evaluate(instance._node.params)
        return copy.deepcopy(self.default)


def _wants_argument(factory: Callable[..., object]) -> bool:
    try:
        parameters = inspect.signature(factory).parameters.values()
    except (TypeError, ValueError):  # some builtins have no signature
        return False
    positional = (
        inspect.Parameter.POSITIONAL_ONLY,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
    )
    return any(p.kind in positional and p.default is p.empty for p in parameters)


@overload
def state(default: T, *, reset: bool = False, init: Literal[False] = False) -> T: ...


@overload
def state(
    *,
    factory: Callable[[], T] | Callable[[Any], T],
    reset: bool = False,
    init: Literal[False] = False,
) -> T: ...


def state(
    default: Any = _MISSING,
    *,
    factory: Any = None,
    reset: bool = False,
    init: Literal[False] = False,
) -> Any:
    """Declare a variable of each instance.

    ``count: int = state(0)``, ``seen: list[int] = state(factory=list)``

    Each instance gets its own value, assigned before ``setup()`` and before time
    starts: a deep copy of ``default``, or what ``factory`` returns. A factory may take
    the instance, with its parameters and earlier state, as its one argument.

    Args:
        default: The initial value; may be a parameter.
        factory: Makes the initial value.
        reset: Restore the initial value when the enclosing mode is entered by reset,
            at the first tag of the mode, before any other reaction of the reactor.
        init: For type checkers: state is not an argument of the class.

    Raises:
        DeclarationError: Neither or both of default and factory are given.
    """
    del init
    return State(default, factory, reset=reset)
