# SPDX-License-Identifier: Apache-2.0
"""Rules for values: a bare name must be a parameter of the enclosing class."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reactorl.lf.diagnostics import nearest
from reactorl.lf.parse import syntax
from reactorl.lf.parse.string_literals import value_of_string
from reactorl.lf.parse.time_units import fits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reactorl.lf.link.rules.context import Context


def check(context: Context) -> None:
    """Check defaults, initial values and arguments."""
    for param in context.unit.tree.params:
        if param.default is not None:
            for value in leaves(param.default):
                _check_default(context, param, value)
    for part in context.unit.own_parts():
        match part.member:
            case syntax.State() as state:
                _check_state(context, state)
            case syntax.Instance() as instance:
                for argument in instance.args:
                    check_value(context, argument.value)


def leaves(value: syntax.Expr) -> Iterator[syntax.Expr]:
    """Yield the values of arbitrarily nested lists."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, syntax.List):
            waiting.extend(reversed(each.items))
        else:
            yield each


def check_value(context: Context, value: syntax.Expr) -> None:
    """Report names that are not parameters of the class, and invalid literals."""
    for leaf in leaves(value):
        if isinstance(leaf, syntax.ParamRef):
            check_name(context, leaf)
        else:
            check_literal(context, leaf)


def check_name(context: Context, ref: syntax.ParamRef) -> bool:
    """Return whether a bare name is a parameter; report it if not."""
    if context.scope.param(ref.name) is not None:
        return True
    if context.scope.is_whole:
        what = f"reactor {context.unit.name} has no parameter '{ref.name}'"
        context.error(ref, what, _advice(context, ref.name))
    return False


def check_literal(context: Context, value: syntax.Expr) -> None:
    """Report times of more than 64 bits of nanoseconds, and strings without a value."""
    if isinstance(value, syntax.String | syntax.Char):
        try:
            value_of_string(value)
        except SyntaxError as error:
            cause = (error.msg or "").rpartition(": ")[2]
            what = f"invalid string: {cause}"
            context.error(value, what, "Write '\\\\' for a backslash.")
    elif isinstance(value, syntax.Time) and not fits(value):
        what = "a time must be at most 292 years"
        context.error(value, what, "Write 'forever'.")


def _advice(context: Context, name: str) -> str:
    if name in ("None", "self", "lf") or name.isupper():
        return f"Write Python in braces: '{{= {name} =}}'."
    if name in context.scope.attributes:
        kind = context.scope.attributes[name].kind
        return f"It has a {kind} of that name: write '{{= self.{name} =}}'."
    advice = nearest(name, context.scope.params())
    return advice or f"For Python, write '{{= {name} =}}'."


def _check_default(context: Context, param: syntax.Param, value: syntax.Expr) -> None:
    if not isinstance(value, syntax.ParamRef):
        check_literal(context, value)
    elif context.scope.param(value.name) is not None:
        what = f"the default of '{param.name.text}' is another parameter"
        advice = "Write a value; an instantiation can set both parameters."
        context.error(value, what, advice)
    else:
        what = f"the default of '{param.name.text}' is an unknown name '{value.name}'"
        context.error(value, what, f"For Python, write '{{= {value.name} =}}'.")


def _check_state(context: Context, state: syntax.State) -> None:
    if state.init is not None:
        check_value(context, state.init)
    elif state.is_reset:
        what = f"'reset state {state.name.text}' has no initial value"
        advice = f"Write 'reset state {state.name.text} = ...'."
        context.error(state.name, what, advice)
