# SPDX-License-Identifier: Apache-2.0
"""Prints members of reactors and modes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reactorl.lf.format.expressions import LINE, SPACE, ExprPrinter
from reactorl.lf.format.tokens import Layout
from reactorl.lf.parse import syntax

if TYPE_CHECKING:
    from collections.abc import Iterable


class MemberPrinter(ExprPrinter):
    """Prints the members of reactors and modes."""

    def block(self, members: Iterable[syntax.Member]) -> None:
        """Print the body of a reactor or mode with its braces."""
        self.put("{", Layout.INDENT)
        for member in members:
            self.put(LINE)
            self.member(member)
        self.put(LINE, Layout.DEDENT, "}")

    def member(self, member: syntax.Member) -> None:
        """Print a member, its attributes first."""
        if not isinstance(member, syntax.Preamble | syntax.Method):
            self.attributes(member.attributes)
        match member:
            case syntax.Preamble():
                self.preamble(member)
            case syntax.State():
                self.state(member)
            case syntax.Method():
                self.method(member)
            case syntax.Port():
                self.port(member)
            case syntax.Timer():
                self.timer(member)
            case syntax.Action():
                self.action(member)
            case syntax.Watchdog():
                self.watchdog(member)
            case syntax.Instance():
                self.instance(member)
            case syntax.Connection():
                self.connection(member)
            case syntax.Reaction():
                self.reaction(member)
            case syntax.Mode():
                self.mode(member)

    def preamble(self, preamble: syntax.Preamble) -> None:
        """Print a preamble, of a reactor or of a file."""
        self.words(preamble.visibility, "preamble")
        self.code(preamble.code)

    def state(self, state: syntax.State) -> None:
        """Print a state variable."""
        self.words("reset" if state.is_reset else None, "state")
        self.put(state.name.text)
        self.type(state.type)
        self.initial(state.init)

    def method(self, method: syntax.Method) -> None:
        """Print a method."""
        self.words("const" if method.is_const else None, "method")
        self.put(method.name.text)
        self.brackets("()", method.params, self.method_param)
        self.type(method.type)
        self.put(SPACE)
        self.code(method.code)

    def method_param(self, param: syntax.MethodParam) -> None:
        """Print a parameter of a method."""
        self.put(param.name.text)
        self.type(param.type)

    def port(self, port: syntax.Port) -> None:
        """Print an input or output."""
        self.words("mutable" if port.is_mutable else None)
        self.put(port.direction)
        self.width(port.width)
        self.put(SPACE, port.name.text)
        self.type(port.type)

    def timer(self, timer: syntax.Timer) -> None:
        """Print a timer."""
        self.words("timer")
        self.put(timer.name.text)
        self.call(timer.offset, timer.period)

    def action(self, action: syntax.Action) -> None:
        """Print an action."""
        self.words(action.origin, "action")
        self.put(action.name.text)
        self.call(action.min_delay, action.min_spacing, action.policy)
        self.type(action.type)

    def call(self, *args: syntax.Expr | None) -> None:
        """Print optional arguments in parentheses."""
        there = [arg for arg in args if arg is not None]
        if there:
            self.brackets("()", there, self.expr)

    def watchdog(self, watchdog: syntax.Watchdog) -> None:
        """Print a watchdog."""
        self.words("watchdog")
        self.put(watchdog.name.text)
        self.call(watchdog.timeout)
        self.effects(watchdog.effects)
        self.put(SPACE)
        self.code(watchdog.code)

    def instance(self, instance: syntax.Instance) -> None:
        """Print a contained reactor or bank."""
        self.put(instance.name.text, SPACE, "=", SPACE, "new")
        self.width(instance.width)
        self.put(SPACE, instance.class_name.text)
        if instance.generics:
            self.put("<")
            self.commas(instance.generics, self.opaque)
            self.put(">")
        self.brackets("()", instance.args, self.argument)
        self.host(instance.host)

    def argument(self, argument: syntax.Argument) -> None:
        """Print an argument of an instantiation."""
        self.put(argument.name.text)
        self.initial(argument.value)

    def connection(self, connection: syntax.Connection) -> None:
        """Print a connection."""
        if connection.broadcast:
            self.brackets("()", connection.left, self.reference)
            self.put("+")
        else:
            self.commas(connection.left, self.reference)
        self.put(SPACE, "~>" if connection.is_physical else "->", SPACE)
        self.commas(connection.right, self.reference)
        if connection.after is not None:
            self.put(SPACE, "after", SPACE)
            self.expr(connection.after)
        if connection.serializer is not None:
            self.put(SPACE, "serializer", SPACE, connection.serializer.text)

    def reference(self, reference: syntax.Trigger | syntax.Effect) -> None:
        """Print a trigger, source or effect, or a side of a connection."""
        if isinstance(reference, syntax.Builtin):
            self.put(reference.kind)
            return
        if isinstance(reference, syntax.ModeChange):
            self.put(reference.transition, "(", reference.mode.text, ")")
            return
        if reference.interleaved:
            self.put("interleaved", "(")
        if reference.container is not None:
            self.put(reference.container.text, ".")
        self.put(reference.name.text)
        if reference.interleaved:
            self.put(")")
        if reference.alias is not None:
            self.put(SPACE, "as", SPACE, reference.alias.text)

    def effects(self, effects: tuple[syntax.Effect, ...]) -> None:
        """Print the arrow and the effects, if there are any."""
        if effects:
            self.put(SPACE, "->", SPACE)
            self.commas(effects, self.reference)

    def reaction(self, reaction: syntax.Reaction) -> None:
        """Print a reaction with its handlers."""
        self.put(reaction.keyword)
        if reaction.name is not None:
            self.put(SPACE, reaction.name.text)
        if reaction.triggers is not None:
            self.brackets("()", reaction.triggers, self.reference)
        if reaction.sources:
            self.put(SPACE)
            self.commas(reaction.sources, self.reference)
        self.effects(reaction.effects)
        self.body(reaction.code)
        if (tardy := reaction.tardy) is not None:
            self.put(SPACE, tardy.keyword)
            self.call(tardy.offset)
            self.body(tardy.code)
        if (deadline := reaction.deadline) is not None:
            self.put(SPACE, "deadline")
            self.call(deadline.delay)
            self.body(deadline.code)

    def body(self, code: syntax.Code | None) -> None:
        """Print a code block, if there is one."""
        if code is not None:
            self.put(SPACE)
            self.code(code)

    def mode(self, mode: syntax.Mode) -> None:
        """Print a mode with its members."""
        self.words("initial" if mode.is_initial else None, "mode")
        if mode.name is not None:
            self.words(mode.name.text)
        self.block(mode.members)
