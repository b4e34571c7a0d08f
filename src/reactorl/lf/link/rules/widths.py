# SPDX-License-Identifier: Apache-2.0
"""Rules for widths of multiports and banks: sums of integers and parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reactorl.lf.diagnostics import nearest
from reactorl.lf.parse import syntax

if TYPE_CHECKING:
    from reactorl.lf.link.rules.context import Context


def check(context: Context) -> None:
    """Check all widths."""
    for part in context.unit.own_parts():
        match part.member:
            case syntax.Port(width=syntax.Width() as width):
                _check_width(context, width)
            case syntax.Instance(width=syntax.Width() as width):
                _check_width(context, width)


def _check_width(context: Context, width: syntax.Width) -> None:
    if not width.terms:
        advice = "Write a number or a parameter between the brackets."
        context.error(width, "missing width", advice)
    for term in width.terms:
        if isinstance(term, int):
            if term < 0:
                context.error(width, "a width must not be negative", "Write 0 or more.")
        elif isinstance(term, syntax.Code):
            what = "a width must not be Python code"
            advice = "Write a sum of numbers and parameters, for example '[n + 1]'."
            context.error(term, what, advice)
        elif term.text.startswith("widthof"):
            what = "the Python target has no 'widthof'"
            advice = "Declare a parameter and use it for both widths."
            context.error(term, what, advice)
        else:
            _check_param(context, term)


def _check_param(context: Context, name: syntax.Name) -> None:
    param = context.scope.param(name.text)
    if param is None:
        if context.scope.is_whole:
            what = f"reactor {context.unit.name} has no parameter '{name.text}'"
            advice = nearest(name.text, context.scope.params())
            context.error(name, what, advice or "Declare it, or write a number.")
        return
    default = param.default
    if isinstance(default, syntax.Number):
        try:
            usable = int(default.text) >= 0
        except ValueError:
            usable = False
    else:
        usable = default is None or isinstance(default, syntax.Code | syntax.ParamRef)
    if not usable:
        what = f"a width must be an integer, but the default of '{name.text}' is not"
        context.error(name, what, f"Write for example '{name.text} = 4'.")
