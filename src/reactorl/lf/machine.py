# SPDX-License-Identifier: Apache-2.0
"""The LALR machine: a stack of states, fed with words, that makes nodes on the way.

It stops where a word does not fit and leaves what to do then to others: they may ask
what would fit, take things from the stack, or feed words that are not in the text.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from reactorl.lf import tables
from reactorl.lf.lexer import END, Token
from reactorl.lf.source import Span

if TYPE_CHECKING:
    from reactorl.lf.tree_builder import TreeBuilder


class Machine:
    """A parser's stack.

    Attributes:
        states: The states, the first one at the bottom.
        values: What was made or shifted; each belongs to the state above it.
        history: The last words that were shifted.
    """

    def __init__(self, builder: TreeBuilder) -> None:
        self.states: list[int] = [0]
        self.values: list[Any] = []
        self.history: deque[Token] = deque(maxlen=4)
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._tables = tables.load()
        self._builder = builder
        self._shifted = [0]

    @property
    def is_done(self) -> bool:
        """Whether the whole file has been read."""
        return self.states[-1] == self._tables.end

    def feed(self, token: Token) -> bool:
        """Take a word; return whether it fits.

        Rules that end before the word are applied even if the word does not fit.
        """
        states = self.states
        end, _, actions, _ = self._tables
        kind = token.kind
        while True:
            state = states[-1]
            if state == end:
                return True
            action = actions[state].get(kind)
            if action is None:
                return False
            if action >= 0:
                states.append(action)
                self.values.append(token)
                self._starts.append(token.start)
                self._ends.append(token.end)
                self.history.append(token)
                self._shifted = states.copy()
                return True
            self._apply(-1 - action, token.start)

    def settle(self, at: int) -> None:
        """Apply the rules that may have ended, whatever comes next.

        So a member that is complete is not given up with what follows it. But a
        reaction is not complete without a body, nor an instance without parentheses.
        """
        _, rules, actions, _ = self._tables
        while True:
            ended = {-1 - a for a in actions[self.states[-1]].values() if a < 0}
            if len(ended) != 1:
                return
            (rule,) = ended
            name, length, _, _ = rules[rule]
            if name == "start" or (not length and name in ("body", "args")):
                return
            self._apply(rule, at)

    def _apply(self, rule: int, at: int) -> None:
        """Make what a rule makes, of its parts on the stack; ``at`` if it has none."""
        states, values, starts, ends = (
            self.states,
            self.values,
            self._starts,
            self._ends,
        )
        name, length, what, plan = self._tables.rules[rule]
        end = ends[-1] if ends else 0
        if length:
            parts = values[-length:]
            start = starts[-length]
            del states[-length:], values[-length:], starts[-length:], ends[-length:]
        else:
            parts = []
            start = at
        children = self._children(plan, parts)
        value: Any
        if what == "pass":
            value = children[0]
        elif what == "children":
            value = children
        else:
            value = getattr(self._builder, what)(Span(start, end), children)
        states.append(self._tables.gotos[states[-1]][name])
        values.append(value)
        starts.append(start)
        ends.append(end)

    @staticmethod
    def _children(plan: list[int], parts: list[Any]) -> list[Any]:
        children: list[Any] = []
        for step in plan:
            if step < 0:
                children.append(None)
            elif not step & 1:
                children.append(parts[step >> 1])
            elif children:
                children += parts[step >> 1]
            else:
                # The list so far grows in place, or long lists would take n^2.
                children = parts[step >> 1]
        return children

    def fits(self, *kinds: str) -> bool:
        """Tell whether words of these kinds, in this order, could be fed now."""
        states = self.states.copy()
        return all(self._shift(states, kind) for kind in kinds)

    def expected(self) -> set[str]:
        """Return the kinds of words that would have fitted after the last one."""
        kinds: set[str] = set()
        # Rules may have ended since, for a word that did not fit in the end.
        for state in {self._shifted[-1], self.states[-1]}:
            kinds.update(self._tables.actions[state])
        return {kind for kind in kinds if self._shift(self._shifted.copy(), kind)}

    def _shift(self, states: list[int], kind: str) -> bool:
        """Feed a kind of word to a stack of states alone."""
        end, rules, actions, gotos = self._tables
        while True:
            action = actions[states[-1]].get(kind)
            if action is None:
                return False
            if action >= 0:
                states.append(action)
                return True
            name, length, _, _ = rules[-1 - action]
            if length:
                del states[-length:]
            states.append(gotos[states[-1]][name])
            if states[-1] == end:
                return kind == END

    def can_make(self, name: str, depth: int) -> bool:
        """Tell whether what a rule makes could follow, ``depth`` from the top."""
        return name in self._tables.gotos[self.states[-1 - depth]]

    def drop(self, depth: int) -> list[Any]:
        """Take ``depth`` things from the stack; return them, the lowest first."""
        height = len(self.values) - depth
        taken = self.values[height:]
        del self.states[height + 1 :]
        for stack in (self.values, self._starts, self._ends):
            del stack[height:]
        self._shifted = self.states.copy()
        return taken

    def push(self, name: str, value: object, span: Span) -> None:
        """Put something on the stack as if rule ``name`` had made it."""
        self.states.append(self._tables.gotos[self.states[-1]][name])
        self.values.append(value)
        self._starts.append(span.start)
        self._ends.append(span.end)
        self._shifted = self.states.copy()
