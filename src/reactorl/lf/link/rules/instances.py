# SPDX-License-Identifier: Apache-2.0
"""Rules for arguments of contained reactors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reactorl.lf.diagnostics import nearest
from reactorl.lf.parse import syntax

if TYPE_CHECKING:
    from reactorl.lf.link.rules.context import Context
    from reactorl.lf.link.scope import Scope


def check(context: Context) -> None:
    """Report unknown and repeated arguments, and times without a unit."""
    for part in context.unit.own_parts():
        if isinstance(part.member, syntax.Instance):
            _check_arguments(context, part.member)


def _check_arguments(context: Context, instance: syntax.Instance) -> None:
    found = context.unit.file.names.get(instance.class_name.text)
    scope = context.scopes.of(found) if found is not None else None
    seen: set[str] = set()
    for argument in instance.args:
        name = argument.name.text
        if name in seen:
            what = f"'{name}' is given twice"
            context.error(argument.name, what, "Remove one of the two.")
        elif scope is not None:
            _check_argument(context, scope, argument)
        seen.add(name)


def _check_argument(context: Context, scope: Scope, argument: syntax.Argument) -> None:
    name = argument.name.text
    param = scope.param(name)
    if param is None:
        if scope.is_whole:
            what = f"reactor {scope.unit.name} has no parameter '{name}'"
            context.error(argument.name, what, nearest(name, scope.params()))
        return
    value = argument.value
    if (
        isinstance(param.default, syntax.Time)
        and isinstance(value, syntax.Number)
        and value.text not in ("0", "-0")
    ):
        what = f"parameter '{name}' must be a time with a unit, got {value.text}"
        advice = f"Write for example '{name} = {value.text} ms'."
        context.error(value, what, advice)
