# SPDX-License-Identifier: Apache-2.0
"""Rules for code blocks: valid Python that uses only names of the signature."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reactorl.lf.link.rules.body_names import check_names, check_parts, check_sets
from reactorl.lf.link.rules.expressions import leaves
from reactorl.lf.link.rules.python_check import (
    check_body,
    check_class_preamble,
    check_expression,
    own_yield,
)
from reactorl.lf.link.rules.references import show
from reactorl.lf.parse import syntax

if TYPE_CHECKING:
    from reactorl.lf.link.rules.context import Context
    from reactorl.lf.link.rules.python_check import CheckedBlock


def check(context: Context) -> None:
    """Check the code blocks of a class."""
    for param in context.unit.tree.params:
        _check_value(context, param.default)
    for part in context.unit.own_parts():
        match part.member:
            case syntax.Preamble() as preamble:
                check_class_preamble(context.source, preamble.code, context.report)
            case syntax.State() as state:
                _check_value(context, state.init)
            case syntax.Instance() as instance:
                for argument in instance.args:
                    _check_value(context, argument.value)
            case syntax.Method() as method:
                names = ["self", *(p.name.text for p in method.params)]
                check_body(context.source, method.code, _usable(names), context.report)
            case syntax.Reaction() as reaction:
                _check_reaction(context, reaction)
            case syntax.Watchdog() as watchdog:
                _check_code(context, watchdog.code, (), watchdog.effects)


def _check_value(context: Context, value: syntax.Expr | None) -> None:
    if value is not None:
        for leaf in leaves(value):
            if isinstance(leaf, syntax.Code):
                check_expression(context.source, leaf, context.report)


def _check_reaction(context: Context, reaction: syntax.Reaction) -> None:
    read = [
        ref
        for ref in (*(reaction.triggers or ()), *reaction.sources)
        if isinstance(ref, syntax.Ref)
    ]
    blocks = [reaction.code]
    if reaction.tardy is not None:
        blocks.append(reaction.tardy.code)
    if reaction.deadline is not None:
        blocks.append(reaction.deadline.code)
    for code in blocks:
        if code is not None:
            _check_code(context, code, tuple(read), reaction.effects)


def _check_code(
    context: Context,
    code: syntax.Code,
    read: tuple[syntax.Ref, ...],
    effects: tuple[syntax.Effect, ...],
) -> None:
    names = ["self"]
    for ref in (*read, *effects):
        if isinstance(ref, syntax.ModeChange):
            names.append(ref.mode.text)
        elif ref.container is not None:
            names += [ref.container.text, show(ref).replace(".", "_")]
        else:
            symbol = context.scope.declared.get(ref.name.text)
            if symbol is None or symbol.kind != "timer":  # timers are not arguments
                names.append(ref.name.text)
    checked = check_body(context.source, code, _usable(names), context.report)
    if checked is not None:
        _check_is_no_generator(context, checked)
        check_names(context, checked, names)
        changed = tuple(e for e in effects if isinstance(e, syntax.Ref))
        check_parts(context, checked, (*read, *changed))
        check_sets(context, checked, read, changed)


def _check_is_no_generator(context: Context, checked: CheckedBlock) -> None:
    """Report ``yield``: calling a generator runs none of its code."""
    found = own_yield(checked)
    if found is not None:
        what = "a body must not contain 'yield', which makes it a generator"
        advice = "Nothing of it would run. Move the generator into a function."
        context.report.error(context.source, checked.span(found), what, advice)


def _usable(names: list[str]) -> list[str]:
    """Return the names that are valid in Python; the others are reported elsewhere."""
    from keyword import iskeyword

    return [n for n in names if n.isidentifier() and not iskeyword(n)]
