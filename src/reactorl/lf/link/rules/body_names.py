# SPDX-License-Identifier: Apache-2.0
"""Rules for names in bodies: only those of the signature may be used."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from reactorl.lf.link.rules.hidden_names import lacks_port
from reactorl.lf.link.rules.python_check import global_names
from reactorl.lf.link.rules.references import key_of, show

if TYPE_CHECKING:
    from reactorl.lf.link.rules.context import Context
    from reactorl.lf.link.rules.python_check import CheckedBlock
    from reactorl.lf.link.rules.references import Key
    from reactorl.lf.parse import syntax


def check_names(context: Context, checked: CheckedBlock, declared: list[str]) -> None:
    """Report ports, actions etc. that a body uses but its signature lacks."""
    if context.globals is None:
        return
    hidden = context.hidden
    uses: dict[str, ast.Name] = {}
    for node in ast.walk(checked.tree):
        if isinstance(node, ast.Name) and node.id in hidden and node.id not in declared:
            present = uses.get(node.id)
            if present is None or _place(node) < _place(present):
                uses[node.id] = node
    if not uses:
        return
    loose = global_names(checked) & uses.keys() - context.globals
    for name in sorted(loose, key=lambda n: _place(uses[n])):
        what, advice = hidden[name]
        context.report.error(context.source, checked.span(uses[name]), what, advice)


def check_parts(
    context: Context, checked: CheckedBlock, refs: tuple[syntax.Ref, ...]
) -> None:
    """Report ``child.port`` if the signature names only other ports of the child."""
    named: dict[str, set[str]] = {}
    for ref in refs:
        if ref.container is not None:
            named.setdefault(ref.container.text, set()).add(ref.name.text)
    if not named:
        return
    stored = _stored_names(checked)
    seen: set[Key] = set()
    for node in ast.walk(checked.tree):
        key = _key(node) if isinstance(node, ast.Attribute) else None
        if key is None or key[0] not in named or key[0] in stored or key in seen:
            continue
        child, port = key
        scope = context.child(child)
        symbol = scope.declared.get(port) if scope else None
        if port in named[child] or symbol is None:
            continue
        if symbol.kind in ("input", "output"):
            seen.add(key)
            assert isinstance(node, ast.Attribute)
            what, advice = lacks_port(child, port, symbol)
            context.report.error(context.source, checked.span(node), what, advice)


def _stored_names(checked: CheckedBlock) -> set[str]:
    return {
        node.id
        for node in ast.walk(checked.tree)
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
    }


def _place(node: ast.Name) -> tuple[int, int]:
    return node.lineno, node.col_offset


def check_sets(
    context: Context,
    checked: CheckedBlock,
    read: tuple[syntax.Ref, ...],
    effects: tuple[syntax.Ref, ...],
) -> None:
    """Report ports that a body sets although they are neither effects nor own inputs.

    As in LF, a body may set an input that it reads: later reads of this reactor get
    that value until another one arrives.
    """
    writable = {key_of(effect) for effect in effects}
    readable: dict[Key, syntax.Ref] = {}
    for ref in read:
        if key_of(ref) not in writable and _is_contained_port(context, ref):
            readable[key_of(ref)] = ref
            readable["", show(ref).replace(".", "_")] = ref
    if not readable:
        return
    stored = _stored_names(checked)
    for node in ast.walk(checked.tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        key = _key(node.func.value) if node.func.attr == "set" else None
        if key in readable and (key[0] or key[1]) not in stored:
            ref = readable[key]
            what = f"'{show(ref)}' is not an effect of this reaction"
            advice = "Only effects, listed after '->', and own inputs can be set."
            context.report.error(
                context.source, checked.span(node.func.value), what, advice
            )


def _is_contained_port(context: Context, ref: syntax.Ref) -> bool:
    if ref.container is None:
        return False
    scope = context.child(ref.container.text)
    return scope is not None and scope.port(ref.name.text) is not None


def _key(node: ast.expr) -> Key | None:
    """Return the key of ``x``, ``x[i]``, ``c.x``, ``c[i].x`` or ``c.x[i]``."""
    if isinstance(node, ast.Subscript):
        node = node.value
    if isinstance(node, ast.Name):
        return ("", node.id)
    if isinstance(node, ast.Attribute):
        base = node.value.value if isinstance(node.value, ast.Subscript) else node.value
        if isinstance(base, ast.Name):
            return (base.id, node.attr)
    return None
