# SPDX-License-Identifier: Apache-2.0
"""Rules for times: a time with a unit, 0, or a parameter with such a default."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reactorl.lf.diagnostics import nearest
from reactorl.lf.link.imports import string_value
from reactorl.lf.link.rules.expressions import check_literal, check_name
from reactorl.lf.parse import syntax

if TYPE_CHECKING:
    from reactorl.lf.link.rules.context import Context

POLICIES: Final = ("defer", "drop", "replace", "update")
"""What happens to an event that violates the minimum spacing."""


def check(context: Context) -> None:
    """Check offsets, periods, delays, spacings, timeouts and deadlines."""
    for part in context.unit.own_parts():
        match part.member:
            case syntax.Timer() as timer:
                _check_time(context, timer.offset, "the offset of a timer")
                _check_time(context, timer.period, "the period of a timer")
            case syntax.Action() as action:
                _check_action(context, action)
            case syntax.Watchdog() as watchdog:
                _check_time(context, watchdog.timeout, "the timeout of a watchdog")
            case syntax.Connection() as connection:
                _check_time(context, connection.after, "the delay after 'after'")
            case syntax.Reaction() as reaction:
                if reaction.deadline is not None:
                    _check_time(context, reaction.deadline.delay, "a deadline")
                if reaction.tardy is not None:
                    offset = reaction.tardy.offset
                    _check_time(
                        context, offset, f"the offset of {reaction.tardy.keyword}"
                    )


def _check_action(context: Context, action: syntax.Action) -> None:
    if action.origin is None:
        what = f"action '{action.name.text}' must be logical or physical"
        advice = f"Write 'logical action {action.name.text}'."
        context.error(action.name, what, advice)
    _check_time(context, action.min_delay, "the minimum delay of an action")
    _check_time(context, action.min_spacing, "the minimum spacing of an action")
    if action.policy is not None and string_value(action.policy) not in POLICIES:
        what = f"unknown policy {action.policy.text}"
        context.error(
            action.policy, what, nearest(string_value(action.policy), POLICIES)
        )


def _check_time(context: Context, value: syntax.Expr | None, place: str) -> None:
    if value is None or _is_zero(value):
        return
    match value:
        case syntax.Time():
            if value.unit == "never":
                context.error(value, f"{place} must not be 'never'", "Write 'forever'.")
            else:
                check_literal(context, value)
        case syntax.ParamRef():
            if check_name(context, value):
                _check_param(context, value, place)
        case syntax.Number() if value.text.startswith("-"):
            context.error(value, f"{place} must not be negative", "Write 0 or more.")
        case syntax.Number():
            advice = f"Write for example '{value.text} ms' or '{value.text} s'."
            if not value.text.isdigit():
                advice = "Write an integer and a unit, for example '1500 ms'."
            context.error(value, f"{place} must have a unit, got {value.text}", advice)
        case syntax.Code():
            what = f"{place} must not be Python code"
            advice = "Declare a parameter with a time as default and use it here."
            context.error(value, what, advice)
        case _:
            what = f"{place} must be a time"
            context.error(value, what, "Write for example '10 ms', or a parameter.")


def _check_param(context: Context, ref: syntax.ParamRef, place: str) -> None:
    param = context.scope.param(ref.name)
    assert param is not None
    default = param.default
    if default is None or isinstance(default, syntax.Time) or _is_zero(default):
        return  # a default that is missing has been reported
    if isinstance(default, syntax.ParamRef):
        return  # so has a default that is a name
    what = f"{place} must be a time, but the default of '{ref.name}' is not"
    advice = f"Give it a unit, for example '{ref.name} = 10 ms'."
    context.error(ref, what, advice)


def _is_zero(value: syntax.Expr) -> bool:
    return isinstance(value, syntax.Number) and value.text in ("0", "-0")
