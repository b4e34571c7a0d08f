# SPDX-License-Identifier: Apache-2.0
"""The LALR driver: a stack of states that consumes tokens and builds nodes.

Our own, for the tables that lark computed (see ``grammar.lark``). It stops at a token
that does not fit. Error recovery (``recovery.py``, ``parser.py``) can then ask which
tokens would fit, pop entries from the stack, or feed tokens that are not in the text.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from reactorl.lf.parse.keywords import END
from reactorl.lf.parse.tables import parse_tables
from reactorl.lf.source import Span

if TYPE_CHECKING:
    from collections.abc import Callable

    from reactorl.lf.parse.lexer import Token
    from reactorl.lf.parse.tree_builder import TreeBuilder


_Entry = tuple[int, Any, int, int]
"""A stack entry: a state, the token or node that led to it, its start and end."""


class LalrParser:
    """An LALR(1) parser.

    Attributes:
        history: The last tokens that were shifted.
    """

    def __init__(self, builder: TreeBuilder) -> None:
        self.history: deque[Token] = deque(maxlen=4)
        self._tables = parse_tables()
        makers: dict[str, Callable[[Span, list[Any]], Any] | None] = {
            what: None if what in ("pass", "children") else getattr(builder, what)
            for _, _, what, _ in self._tables.rules
        }
        self._rules = [
            (name, length, what == "pass", makers[what], plan)
            for name, length, what, plan in self._tables.rules
        ]
        self._stack: list[_Entry] = [(0, None, 0, 0)]
        # Entries that reductions popped since the last shift.
        self._taken: list[list[_Entry]] = []

    @property
    def is_done(self) -> bool:
        """Whether the whole file has been parsed."""
        return self._stack[-1][0] == self._tables.end

    @property
    def values(self) -> list[Any]:
        """The tokens and nodes on the stack, bottom first."""
        return [value for _, value, _, _ in self._stack[1:]]

    def feed(self, token: Token) -> bool:
        """Consume a token; return whether it fits.

        Reductions before the token are made even if the token does not fit.
        """
        stack = self._stack
        end, _, actions, _ = self._tables
        kind = token.kind
        while True:
            state = stack[-1][0]
            action = actions[state].get(kind)
            if action is None:
                return state == end
            if action >= 0:
                stack.append((action, token, token.start, token.end))
                self.history.append(token)
                self._taken.clear()
                return True
            self._apply(-1 - action, token.start)

    def settle(self, at: int) -> None:
        """Make the reductions that do not depend on the next token.

        So recovery does not discard a complete member together with the error after it.
        A reaction without a body and an instance without parentheses are not complete.
        """
        while True:
            actions = self._tables.actions[self._stack[-1][0]]
            ended = {-1 - action for action in actions.values() if action < 0}
            if len(ended) != 1:
                return
            (rule,) = ended
            name, length, *_ = self._rules[rule]
            if name == "start" or (not length and name in ("body", "args")):
                return
            self._apply(rule, at)

    def _apply(self, rule: int, at: int) -> None:
        """Reduce by a rule; ``at`` is the position of a rule without symbols."""
        stack = self._stack
        name, length, is_pass, make, plan = self._rules[rule]
        end = stack[-1][3]
        if length:
            parts = stack[-length:]
            start = parts[0][2]
            del stack[-length:]
        else:
            parts = []
            start = at
        children: list[Any] = []
        for step in plan:
            if step < 0:
                children.append(None)
            elif not step & 1:
                children.append(parts[step >> 1][1])
            elif children:
                children += parts[step >> 1][1]
            else:
                # Extended in place; copying would make long lists quadratic.
                children = parts[step >> 1][1]
        value: Any = children
        if make is not None:
            value = make(Span(start, end), children)
        elif is_pass:
            value = children[0]
        state = self._tables.gotos[stack[-1][0]][name]
        stack.append((state, value, start, end))
        self._taken.append(parts)

    def fits(self, *kinds: str) -> bool:
        """Return whether tokens of these kinds, in this order, could be fed now."""
        states = [entry[0] for entry in self._stack]
        return all(self._shift(states, kind) for kind in kinds)

    def expected(self) -> set[str]:
        """Return the kinds of tokens that fit after the last shifted one."""
        # Undo the reductions that were made for a token that did not fit.
        stack = self._stack.copy()
        for parts in reversed(self._taken):
            stack[-1:] = parts
        states = [entry[0] for entry in stack]
        kinds = self._tables.actions[states[-1]]
        return {kind for kind in kinds if self._shift(states.copy(), kind)}

    def _shift(self, states: list[int], kind: str) -> bool:
        """Feed a kind of token to a bare stack of states."""
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

    def nearest(self, names: tuple[str, ...]) -> tuple[str, int]:
        """Return the innermost of these rules in progress, and its number of entries.

        The bottom state expects one of them, so there always is one.
        """
        for depth, entry in enumerate(reversed(self._stack)):
            gotos = self._tables.gotos[entry[0]]
            for name in names:
                if name in gotos:
                    return name, depth
        raise AssertionError(names)

    def drop(self, depth: int) -> list[Any]:
        """Pop ``depth`` entries; return their values, the lowest first."""
        height = len(self._stack) - depth
        taken = [value for _, value, _, _ in self._stack[height:]]
        del self._stack[height:]
        self._taken.clear()
        return taken

    def push(self, name: str, value: object, at: int) -> None:
        """Push a value as if rule ``name`` had been reduced to it."""
        state = self._tables.gotos[self._stack[-1][0]][name]
        self._stack.append((state, value, at, at))
        self._taken.clear()
