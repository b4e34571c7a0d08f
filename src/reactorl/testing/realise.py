# SPDX-License-Identifier: Apache-2.0
"""From plans to reactor classes, by the same calls that users write."""

from __future__ import annotations

from contextlib import nullcontext
from types import new_class
from typing import TYPE_CHECKING, Any

from reactorl import (
    Input,
    LogicalAction,
    Mode,
    MultiInput,
    MultiOutput,
    Output,
    PhysicalAction,
    Reactor,
    Timer,
    bank,
    history,
    interleaved,
    param,
    reaction,
    reset,
    reset_to,
    shutdown,
    startup,
    state,
)
from reactorl.testing.bodies import body, handler

if TYPE_CHECKING:
    from collections.abc import Callable, MutableMapping
    from contextlib import AbstractContextManager

    from reactorl.testing.plans import ChildPlan, ClassPlan, PortPlan, ReactionPlan, Ref

_OCCASIONS = {"startup": startup, "shutdown": shutdown, "reset": reset}


def realise(plan: ClassPlan) -> type[Reactor]:
    """Return the reactor class that ``plan`` describes."""
    return _realise(plan, {})


def _realise(plan: ClassPlan, made: dict[str, type[Reactor]]) -> type[Reactor]:
    """Make a class and all that it extends and contains, each once."""
    if plan.name not in made:
        bases = tuple(_realise(base, made) for base in plan.bases) or (Reactor,)
        for child in plan.children:
            _realise(child.cls, made)

        def fill(namespace: MutableMapping[str, Any]) -> None:
            _fill(namespace, plan, made)

        made[plan.name] = new_class(plan.name, bases, {}, fill)
    return made[plan.name]


def _fill(
    namespace: MutableMapping[str, Any],
    plan: ClassPlan,
    made: dict[str, type[Reactor]],
) -> None:
    """Execute the class body."""
    for name, default in plan.params:
        namespace[name] = param(default)
    namespace[f"memory_{plan.name}"] = state(0)
    namespace[f"runs_{plan.name}"] = state(factory=dict)
    for port in plan.ports:
        namespace[port.name] = _port(port)
    for index, name in enumerate(plan.modes):
        namespace[name] = Mode(initial=index == 0)
    for mode in (None, *plan.modes):
        with nullcontext() if mode is None else namespace[mode]:
            _fill_mode(namespace, plan, made, mode)
    for reaction_plan in plan.reactions:
        mode = reaction_plan.mode
        with nullcontext() if mode is None else namespace[mode]:
            namespace[reaction_plan.name] = _reaction(reaction_plan, plan)
    if plan.connections or any(child.built for child in plan.children):
        namespace["build"] = _build(plan, made)


def _fill_mode(
    namespace: MutableMapping[str, Any],
    plan: ClassPlan,
    made: dict[str, type[Reactor]],
    mode: str | None,
) -> None:
    """Declare the elements of ``mode``, except reactions, whose order matters."""
    if mode is not None:
        namespace[f"memory_{plan.name}_{mode}"] = state(0, reset=True)
    for timer in plan.timers:
        if timer.mode == mode:
            namespace[timer.name] = Timer(timer.offset, timer.period)
    for action in plan.actions:
        if action.mode == mode:
            kind = PhysicalAction[Any] if action.physical else LogicalAction[Any]
            namespace[action.name] = kind(
                action.min_delay, action.min_spacing, action.policy
            )
    for child in plan.children:
        if child.mode == mode and not child.built:
            one = made[child.cls.name](**_params(child))
            many = child.width
            namespace[child.name] = one if many is None else bank(one, width=many)


def _port(plan: PortPlan) -> object:
    if plan.width is None:
        return Input[Any](mutable=plan.mutable) if plan.is_input else Output[Any]()
    if not plan.is_input:
        return MultiOutput[Any](plan.width)
    width = None if plan.width < 0 else plan.width
    return MultiInput[Any](width, mutable=plan.mutable)


def _params(child: ChildPlan) -> dict[str, int]:
    names = child.cls.all_params()
    return {} if child.param is None or not names else {names[0]: child.param}


def _reaction(plan: ReactionPlan, owner: ClassPlan) -> object:
    occasions = [_OCCASIONS[name] for name in plan.occasions]
    named = (*plan.trigger_ports, *plan.trigger_actions, *plan.trigger_timers)
    modes = [
        reset_to(name) if entry == "reset" else history(name)
        for name, entry in plan.effect_modes
    ]
    declared = reaction(
        *occasions,
        *named,
        sources=plan.source_ports,
        effects=[*plan.effect_ports, *plan.effect_actions, *modes],
        deadline=plan.deadline,
        stops=plan.may_stop,
    )(body(plan, owner))
    if plan.deadline is not None:
        declared.deadline_handler(handler(plan, owner))
    return declared


def _build(plan: ClassPlan, made: dict[str, type[Reactor]]) -> Callable[[Any], None]:
    def build(self: Any) -> None:  # noqa: ANN401 - a reactor of a class made at run time
        for child in plan.children:
            if child.built:
                with _mode(self, child.mode):
                    _add(self, child, made[child.cls.name])
        for wire in plan.connections:
            with _mode(self, wire.mode):
                self.connect(
                    [_ref(self, ref) for ref in wire.sources],
                    [_ref(self, ref) for ref in wire.targets],
                    after=wire.after,
                    broadcast=wire.broadcast,
                )

    return build


def _mode(self: Any, name: str | None) -> AbstractContextManager[None]:  # noqa: ANN401
    return nullcontext() if name is None else getattr(self, name)


def _add(self: Any, child: ChildPlan, cls: type[Reactor]) -> None:  # noqa: ANN401
    if child.width is None:
        self.add(child.name, cls, **_params(child))
    else:
        self.add_bank(child.name, cls, width=child.width, **_params(child))


def _ref(self: Any, ref: Ref) -> object:  # noqa: ANN401
    holder = self if ref.child is None else getattr(self, ref.child)
    port: object = getattr(holder, ref.port)
    return interleaved(port) if ref.interleave else port
