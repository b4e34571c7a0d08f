# SPDX-License-Identifier: Apache-2.0
"""The Program while it is being written: the same tables, still growing."""

from __future__ import annotations

from dataclasses import replace

from reactorl._program.levels import Precedence, precedence
from reactorl._program.program import (
    ActionNode,
    ConnectionNode,
    Doubt,
    ModeNode,
    PortNode,
    Program,
    ReactionNode,
    ReactorNode,
    TimerNode,
    WatchdogNode,
)
from reactorl._program.routes import roots


class Draft:
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
        self.warnings: dict[Doubt, None] = {}  # in order, each once

    def freeze(self) -> Program:
        """Return the finished Program.

        Raises:
            WiringError: Connections without delay form a circle.
            CausalityError: Reactions wait for each other.
        """
        program = Program(
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
        shared = roots(program)
        return replace(program, roots=shared, order=precedence(program, shared))
