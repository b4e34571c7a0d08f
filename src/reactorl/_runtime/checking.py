# SPDX-License-Identifier: Apache-2.0
"""The checking mode: finds causes of nondeterminism in legal programs.

It runs one reaction at a time and compares before and after each: values that were
changed after they were sent, and global random state that a body used.
"""

from __future__ import annotations

import hashlib
import pickle
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

from reactorl._util import seeds
from reactorl.errors import GlobalRandomError, SharedValueError
from reactorl.tag import Tag

if TYPE_CHECKING:
    from collections.abc import Callable

    from reactorl import _core
    from reactorl._decl.reactor import Reactor
    from reactorl._program.program import Program, ReactionNode
    from reactorl._runtime.plan import Planned


class Checker:
    """Checks the bodies of one run."""

    def __init__(
        self, program: Program, planned: Planned, session: _core.Session
    ) -> None:
        self._program = program
        self._planned = planned
        self._session = session
        # slot -> the object sent last, its fingerprint, and the reaction that sent it
        self._sent: dict[int, tuple[object, bytes, int]] = {}
        self._touched: dict[int, tuple[list[int], list[int]]] = {}
        for node in program.reactions:
            reads = [
                planned.channel_slot[c]
                for p in (*node.trigger_ports, *node.source_ports)
                for c in program.ports[p].channels
            ]
            writes = [
                planned.channel_slot[c]
                for p in node.effect_ports
                for c in program.ports[p].channels
            ]
            self._touched[node.id] = (reads, writes)

    def watched(
        self, node: ReactionNode, body: Callable[[Any], object]
    ) -> Callable[[Any], object]:
        """Return ``body`` with checks around it."""
        return partial(self._run, node, body)

    def _run(
        self, node: ReactionNode, body: Callable[[Any], object], instance: Reactor
    ) -> None:
        # A value that changed since the last check was not changed by a reaction: the
        # error can only say between which two reactions.
        reads, writes = self._touched[node.id]
        self._verify(list(self._sent), node, before=True)
        random_before = seeds.global_state()
        body(instance)
        if seeds.global_state() != random_before:
            msg = (
                f"reaction {self._program.reaction_name(node.id)} uses global random "
                f"state at elapsed tag {self._now()}, which all reactors share"
            )
            raise GlobalRandomError(
                msg,
                node.where,
                "Use self.random or self.np_random: their numbers depend on the run's "
                "seed and the reactor's name alone.",
            )
        self._verify([*reads, *(s for s in self._sent if s not in reads)], node)
        for slot in writes:
            if self._session.present(slot):
                value = self._session.value(slot)
                mark = fingerprint(value)
                if mark is not None:
                    self._sent[slot] = (value, mark, node.id)

    def _verify(
        self, slots: list[int], node: ReactionNode, *, before: bool = False
    ) -> None:
        _, writes = self._touched[node.id]
        for slot in slots:
            entry = self._sent.get(slot)
            if entry is None:
                continue
            value, mark, sender = entry
            if self._session.value(slot) is not value and slot not in writes:
                continue  # a forwarding reaction put something else there
            if fingerprint(value) == mark:
                continue
            del self._sent[slot]
            port = self._program.channel_name(self._planned.slot_channel[slot])
            culprit = self._program.reaction_name(node.id)
            whose = "before" if before else "in"
            source = self._program.reaction_name(sender)
            msg = (
                f"the {type(value).__name__} that {source} sent on {port} was changed "
                f"{whose} reaction {culprit} at elapsed tag {self._now()}, so "
                "receivers may see either content"
            )
            raise SharedValueError(
                msg,
                node.where,
                "Change a copy, or declare the input mutable: Input[...](mutable=True) "
                "gives each reaction a copy of its own.",
            )

    def _now(self) -> Tag:
        time, step = self._session.tag()
        return Tag(time - self._session.start_time(), step)


def fingerprint(value: object) -> bytes | None:
    """Return a digest of ``value``; None if it is immutable or has no digest."""
    if value is None or isinstance(value, int | float | str | bytes | bool):
        return None  # cannot change
    numpy = sys.modules.get("numpy")
    if (
        numpy is not None
        and isinstance(value, numpy.ndarray)
        and not value.dtype.hasobject
    ):
        data = numpy.ascontiguousarray(value)
        head = f"{value.dtype}{value.shape}".encode()
        return hashlib.blake2b(head + data.tobytes(), digest_size=16).digest()
    try:
        return hashlib.blake2b(pickle.dumps(value, 5), digest_size=16).digest()
    except Exception:
        return None
