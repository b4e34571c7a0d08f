# SPDX-License-Identifier: Apache-2.0
"""A Program under construction: the same tables, still growing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from reactorl._program.levels import Precedence, precedence
from reactorl._program.program import (
    ActionNode,
    ConnectionNode,
    ModeNode,
    PortNode,
    Program,
    ReactionNode,
    ReactorNode,
    TimerNode,
    WatchdogNode,
)
from reactorl._program.routes import roots

if TYPE_CHECKING:
    from reactorl._program.errors import ErrorCollector
    from reactorl.diagnostics import Diagnostic


class ProgramBuilder:
    """Tables of a Program under construction; an id is a length at append time."""

    __slots__ = (
        "actions",
        "channel_port",
        "connections",
        "first_port",
        "modes",
        "ports",
        "reactions",
        "reactors",
        "stages",
        "timers",
        "warnings",
        "watchdogs",
    )

    def __init__(self) -> None:
        self.reactors: list[ReactorNode] = []
        self.first_port: list[int] = []  # reactor id -> id of its first port
        self.ports: list[PortNode] = []
        self.channel_port: list[int] = []
        self.timers: list[TimerNode] = []
        self.actions: list[ActionNode] = []
        self.modes: list[ModeNode] = []
        self.watchdogs: list[WatchdogNode] = []
        self.reactions: list[ReactionNode] = []
        self.connections: list[ConnectionNode] = []
        self.stages = 0
        self.warnings: dict[Diagnostic, None] = {}  # in order, each once

    def freeze(self, errors: ErrorCollector) -> Program | None:
        """Return the finished Program; None if there are errors.

        Causality loops, and cycles of connections without delay, are found now.
        """
        program = self.without_order()
        shared = roots(program, errors)
        order = None if shared is None else precedence(program, shared, errors)
        if errors or shared is None or order is None:
            return None
        return replace(program, roots=shared, order=order)

    def without_order(self) -> Program:
        """Return the tables as they are, without an order of reactions."""
        return Program(
            reactors=tuple(self.reactors),
            ports=tuple(self.ports),
            channel_port=tuple(self.channel_port),
            timers=tuple(self.timers),
            actions=tuple(self.actions),
            modes=tuple(self.modes),
            watchdogs=tuple(self.watchdogs),
            reactions=tuple(self.reactions),
            connections=tuple(self.connections),
            warnings=tuple(self.warnings),
            roots=(),
            order=Precedence([], [], [], []),
        )
