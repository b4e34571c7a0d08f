# SPDX-License-Identifier: Apache-2.0
"""From text to syntax tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reactorl.lf import syntax, tables
from reactorl.lf.lexer import END, Lexer
from reactorl.lf.source import Span
from reactorl.lf.tree_builder import TreeBuilder

if TYPE_CHECKING:
    from reactorl.lf.diagnostics import Report
    from reactorl.lf.source import Source


def parse(source: Source, report: Report) -> syntax.File:
    """Return the tree of a text; what is wrong with the text goes into the report."""
    def refuse(span, what, help):
        report.error(source, span, what, help)
    lexer = Lexer(source.text)
    t = tables.load()
    b = TreeBuilder(source, refuse)
    states=[0]; values=[]; starts=[]; ends=[]
    token = lexer.next()
    while True:
        if token.problem:
            refuse(token.span, *token.problem); token.problem=None
        if states[-1] == t.end:
            import dataclasses
            return dataclasses.replace(values[0], comments=tuple(lexer.comments))
        act = t.actions[states[-1]].get(token.kind)
        if act is None:
            refuse(token.span, f"found {token.kind!r} {token.text!r}; expected {' '.join(t.actions[states[-1]])}", "")
            return syntax.File(comments=tuple(lexer.comments))
        if act >= 0:
            states.append(act)
            values.append(token); starts.append(token.start); ends.append(token.end)
            token = lexer.next()
            continue
        rule = t.rules[-1-act]
        n = rule.length
        vs = values[len(values)-n:]
        children=[]
        for p in rule.plan:
            if p < 0: children.append(None)
            elif p & 1:
                if children: children += vs[p>>1]
                else: children = vs[p>>1]
            else: children.append(vs[p>>1])
        s = starts[-n] if n else token.start
        e = ends[-1] if ends else 0
        if n:
            del states[-n:]; del values[-n:]; del starts[-n:]; del ends[-n:]
        if rule.action=='children': v=children
        elif rule.action=='pass': v=children[0]
        else: v=getattr(b, rule.action)(Span(s,e), children)
        states.append(t.gotos[states[-1]][rule.name]); values.append(v); starts.append(s); ends.append(e)
