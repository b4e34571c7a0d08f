# SPDX-License-Identifier: Apache-2.0
"""Wrappers by name: ``module:function``, or with arguments ``module:function(n=4)``."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Final

from reactorl._util.suggestions import did_you_mean

EXAMPLE: Final = (
    "For example: gymnasium.wrappers:FlattenObservation, or with arguments: "
    "'gymnasium.wrappers:ResizeObservation(shape=(84, 84))'."
)


class WrapperNameError(ValueError):
    """A name is not that of a wrapper.

    Attributes:
        what: What is wrong.
        remedy: How to fix it.
    """

    def __init__(self, what: str, remedy: str = EXAMPLE) -> None:
        super().__init__(f"{what}. {remedy}")
        self.what, self.remedy = what, remedy


@dataclass(frozen=True, slots=True)
class NamedWrapper:
    """A wrapper that is imported where the environment is made.

    Raises:
        WrapperNameError: The text is not the name of a wrapper.
    """

    text: str
    module: str = field(init=False, compare=False)
    function: str = field(init=False, compare=False)
    args: tuple[Any, ...] = field(init=False, compare=False)
    kwargs: dict[str, Any] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        module, colon, expression = self.text.partition(":")
        parsed = _parsed(expression)
        names = module.split(".")
        if not colon or parsed is None or not all(n.isidentifier() for n in names):
            what = f"wrapper must be module:function, got '{self.text}'"
            raise WrapperNameError(what)
        object.__setattr__(self, "module", module)
        for name, value in zip(("function", "args", "kwargs"), parsed, strict=True):
            object.__setattr__(self, name, value)

    def load(self) -> Any:  # noqa: ANN401
        """Return the function or class.

        Raises:
            WrapperNameError: It does not exist.
        """
        try:
            module = import_module(self.module)
        except Exception as error:  # a user's module may raise anything
            reason = str(error).rstrip(".") or type(error).__name__
            what = (
                f"importing {self.module!r} of wrapper '{self.text}' failed: {reason}"
            )
            raise WrapperNameError(what) from error
        found = getattr(module, self.function, None)
        if not callable(found):
            what = f"module {self.module!r} has no function {self.function!r}"
            near = did_you_mean(self.function, vars(module))
            raise WrapperNameError(what, near or EXAMPLE)
        return found

    def __call__(self, env: Any) -> Any:  # noqa: ANN401
        """Wrap an environment."""
        return self.load()(env, *self.args, **self.kwargs)


def _parsed(expression: str) -> tuple[str, tuple[Any, ...], dict[str, Any]] | None:
    """Return function, positional and keyword arguments; None if it has others."""
    try:
        body = ast.parse(expression, mode="eval").body
        call = body if isinstance(body, ast.Call) else None
        name = body if call is None else call.func
        if not isinstance(name, ast.Name):
            return None
        if call is None:
            return name.id, (), {}
        args = tuple(ast.literal_eval(value) for value in call.args)
        kwargs = {str(k.arg): ast.literal_eval(k.value) for k in call.keywords if k.arg}
    except (SyntaxError, ValueError):
        return None
    return (name.id, args, kwargs) if len(kwargs) == len(call.keywords) else None
