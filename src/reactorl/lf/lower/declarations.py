# SPDX-License-Identifier: Apache-2.0
"""Declarations of a class: ports, timers, actions, modes, reset state, reactions."""

from __future__ import annotations

import ast
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

from reactorl._decl.action import LogicalAction, PhysicalAction
from reactorl._decl.mode import Mode, history, reset_to
from reactorl._decl.param import REQUIRED, Param
from reactorl._decl.port import Input, MultiInput, MultiOutput, Output
from reactorl._decl.reaction import Reaction
from reactorl._decl.timer import Timer, reset, shutdown, startup
from reactorl._decl.watchdog import Watchdog
from reactorl.lf.lower import values
from reactorl.lf.lower.signatures import body_of
from reactorl.lf.parse import syntax
from reactorl.lf.places import place_of, position
from reactorl.position import at

if TYPE_CHECKING:
    from collections.abc import Callable

    from reactorl._decl.state import State
    from reactorl.lf.link.program import Part
    from reactorl.lf.lower.class_info import ClassInfo

_BUILTINS = {"startup": startup, "shutdown": shutdown, "reset": reset}


class Declarations:
    """Fills the body of a reactor class.

    Args:
        info: The class.
        reset_state: Returns the declaration of a ``reset state``.
    """

    def __init__(
        self, info: ClassInfo, reset_state: Callable[[Part, syntax.State], State]
    ) -> None:
        self._info = info
        self._reset_state = reset_state

    def fill(self, names: Any) -> None:  # noqa: ANN401
        """Add all declarations to a class body."""
        for name, param in self._info.params.items():
            with at(position(self._info.param_sources[name], param.name.span)):
                names[self._info.param_key(name)] = self._param(param)
        modes: dict[int, Mode] = {}  # by id of the node
        count = 0
        titles: set[str] = set()
        for part in self._info.parts:
            member = part.member
            if isinstance(member, syntax.Reaction):
                count += 1
                title = member.name.text if member.name else f"reaction_{count}"
                if title in titles:
                    title = f"reaction_{count}"
                titles.add(title)
            with at(place_of(part)):
                mode = modes[id(part.mode)] if part.mode else nullcontext()
                with mode:
                    match member:
                        case syntax.Mode():
                            assert member.name is not None
                            modes[id(member)] = Mode(initial=member.is_initial)
                            names[member.name.text] = modes[id(member)]
                        case syntax.Port():
                            names[member.name.text] = _port(member)
                        case syntax.Timer():
                            names[member.name.text] = Timer(
                                values.duration(member.offset, 0),
                                values.duration(member.period, 0),
                            )
                        case syntax.Action():
                            names[member.name.text] = _action(member)
                        case syntax.Watchdog():
                            names[member.name.text] = self._watchdog(part, member)
                        case syntax.State() if member.is_reset:
                            key = f"state {member.name.text}"
                            names[key] = self._reset_state(part, member)
                        case syntax.Reaction():
                            key = f"reaction {count}"
                            names[key] = self._reaction(part, member, title)

    def _param(self, param: syntax.Param) -> Param:
        if param.default is not None and not values.is_constant(param.default):
            return Param(REQUIRED, partial(self._info.default, param))
        return Param(self._info.default(param))

    def _reaction(self, part: Part, member: syntax.Reaction, title: str) -> Reaction:
        triggers: list[Any] = []
        for trigger in member.triggers or ():
            if isinstance(trigger, syntax.Builtin):
                triggers.append(_BUILTINS[trigger.kind])
            else:
                triggers.append(_path(trigger))
        sources: list[Any] = []
        effects: list[Any] = []
        for source in member.sources:
            # LF allows actions as sources; they are lowered to effects, because they
            # add no precedence.
            is_action = source.container is None and isinstance(
                self._info.kinds.get(source.name.text), syntax.Action
            )
            (effects if is_action else sources).append(_path(source))
        for effect in member.effects:
            if isinstance(effect, syntax.ModeChange):
                enter = history if effect.transition == "history" else reset_to
                effects.append(enter(effect.mode.text))
            else:
                effects.append(_path(effect))
        deadline = member.deadline
        made = Reaction(
            body_of(self._info, part, member, member.code, title),
            (tuple(triggers), tuple(sources), tuple(dict.fromkeys(effects))),
            None if deadline is None else values.duration(deadline.delay),
            title,
            place_of(part),
        )
        if deadline is not None and deadline.code is not None:
            made.handler = body_of(
                self._info, part, member, deadline.code, f"{title}_deadline"
            )
        return made

    def _watchdog(self, part: Part, member: syntax.Watchdog) -> Watchdog:
        effects = [e.name.text for e in member.effects if isinstance(e, syntax.Ref)]
        made = Watchdog(values.duration(member.timeout), effects=effects)
        made.handling = body_of(self._info, part, member, member.code, member.name.text)
        return made


def _port(
    member: syntax.Port,
) -> Input[Any] | Output[Any] | MultiInput[Any] | MultiOutput[Any]:
    if member.width is None:
        if member.direction == "input":
            return Input(mutable=member.is_mutable)
        return Output()
    width = values.width(member.width)
    if member.direction == "input":
        return MultiInput(width, mutable=member.is_mutable)
    return MultiOutput(width)


def _action(member: syntax.Action) -> LogicalAction[Any] | PhysicalAction[Any]:
    kind = PhysicalAction if member.origin == "physical" else LogicalAction
    policy: Any = ast.literal_eval(member.policy.text) if member.policy else "defer"
    spacing = values.duration(member.min_spacing)
    return kind(values.duration(member.min_delay, 0), spacing, policy)


def _path(ref: syntax.Ref) -> str:
    if ref.container is None:
        return ref.name.text
    return f"{ref.container.text}.{ref.name.text}"
