# SPDX-License-Identifier: Apache-2.0
"""The rules that make a set of declarations a legal program, each in one place.

Rules for a class alone are checked when the class is created (``_decl.classdecl``,
``_decl.signature``); rules that need instances are checked here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from reactorl._decl.action import ActionDeclaration
from reactorl._decl.mode import Mode
from reactorl._decl.param import resolve
from reactorl._decl.port import PortDeclaration
from reactorl._decl.timer import Timer
from reactorl._decl.watchdog import Watchdog
from reactorl.errors import (
    ContainmentError,
    DelayError,
    ProgramError,
    UnknownNameError,
    WidthError,
    WiringError,
)
from reactorl.tag import FOREVER, exact_nanoseconds

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reactorl._decl.classdecl import ClassDecl
    from reactorl._decl.connection import Connect, PortRef
    from reactorl._decl.declaration import Declaration
    from reactorl._decl.reaction import Mention, Reaction
    from reactorl._program.program import Program
    from reactorl.position import Position

POLICIES = ("defer", "drop", "replace", "update")


def duration(
    value: Any,  # noqa: ANN401
    params: Mapping[str, Any],
    what: str,
    where: Position,
) -> int:
    """Return a time in nanoseconds, for these parameters.

    Raises:
        DelayError: It is negative, longer than ``FOREVER``, or not a duration.
    """
    if type(value) is int and 0 <= value <= FOREVER:
        return value
    try:
        time = exact_nanoseconds(resolve(value, params))
    except TypeError as error:
        msg = f"{what}: {error}"
        raise DelayError(msg, where) from None
    if time < 0:
        msg = f"{what} must not be negative, got {time} ns"
        raise DelayError(msg, where)
    if time > FOREVER:
        msg = f"{what} must be at most {FOREVER} ns (292 years), got {time} ns"
        raise DelayError(msg, where, "Write FOREVER for a time that never comes.")
    return time


def check_policy(action: ActionDeclaration) -> None:
    """Check that the policy of an action exists."""
    if action.policy not in POLICIES:
        raise UnknownNameError(
            str(action.policy), f"policy of {action.label}", POLICIES, action.where
        )


def unknown(name: str, decl: ClassDecl, where: Position) -> UnknownNameError:
    """Return the error for a name that ``decl`` does not declare."""
    return UnknownNameError(
        name, f"reactor class {decl.name}", (*decl.elements,), where
    )


_ALLOWED: dict[str, tuple[type, ...]] = {  # besides ports
    "trigger": (Timer, ActionDeclaration),
    "effect": (ActionDeclaration, Mode, Watchdog),
}


def check_own_role(element: Declaration, role: str, reaction: Reaction) -> None:
    """Check the role of an own element in a signature."""
    if isinstance(element, PortDeclaration):
        if element.is_input == (role != "effect"):
            return
        remedy = "A reactor reads its inputs and sets its outputs."
    elif isinstance(element, _ALLOWED.get(role, ())):
        return
    elif isinstance(element, ActionDeclaration):
        remedy = "List an action as trigger to read it, as effect to schedule it."
    elif isinstance(element, Watchdog):
        remedy = "A watchdog is started in effects; let its handler schedule an action."
    elif isinstance(element, Mode):
        remedy = "A mode is an effect; to react to its entry use `reset` or `startup`."
    else:
        remedy = "Name a port, action, timer, mode or watchdog."
    msg = f"{reaction.label} lists {element.label} as {role}"
    raise WiringError(msg, reaction.where, remedy)


def check_child_role(
    port: PortDeclaration, mention: Mention, role: str, reaction: Reaction
) -> None:
    """Check the role of a contained reactor's port in a signature."""
    if port.is_input != (role == "effect"):
        msg = (
            f"{reaction.label} lists {mention}, an {port.kind} of a contained reactor, "
            f"as {role}"
        )
        raise WiringError(
            msg,
            reaction.where,
            "Read the outputs of contained reactors and set their inputs.",
        )


def check_watchdog_effect(
    element: Declaration, written: object, watchdog: Watchdog
) -> None:
    """Check that an effect of a watchdog is an action of its reactor."""
    foreign = not isinstance(written, str) and element is not written
    if foreign or not isinstance(element, ActionDeclaration):
        msg = f"{watchdog.label} has {element.label} among its effects"
        raise WiringError(
            msg,
            watchdog.where,
            "Its handler is not at a tag: it may only schedule own actions.",
        )


def chosen_members(mention: Mention, count: int, reaction: Reaction) -> range:
    """Return the members that a mention of a contained reactor or bank stands for.

    Raises:
        WidthError: There is no such member.
    """
    if mention.member is None:
        return range(count)
    if mention.member >= count:
        msg = f"{reaction.label} lists {mention}, and there are {count} members"
        raise WidthError(
            msg,
            reaction.where,
            "Count from 0.",
        )
    return range(mention.member, mention.member + 1)


def refuse_containment(chain: list[str], where: Position) -> NoReturn:
    """Raise the error for a class inside itself; ``chain`` ends with the repetition."""
    raise ContainmentError(tuple(chain), where)


def check_direction(ref: PortRef, side: str, where: Position, *, own: bool) -> None:
    """Check that a port can be on this side of a connection."""
    from_inside = ref.port.is_input == own
    if (side == "source") == from_inside:
        return
    wrong = f"{ref.port.kind} of {'this reactor' if own else 'a contained reactor'}"
    msg = f"{ref} is an {wrong} and cannot be the {side} of a connection"
    raise WiringError(
        msg,
        where,
        "Sources are own inputs and outputs of contained reactors; targets are own "
        "outputs and inputs of contained reactors.",
    )


def out_of_reach(ref: PortRef, owner: str, where: Position) -> WiringError:
    """Return the error for a port that is neither own nor of a direct child."""
    return WiringError(
        f"{ref} cannot be connected by {owner}",
        where,
        "A reactor connects its own ports and those of the reactors it contains "
        "directly; relay the value through these.",
    )


def twice_driven(
    target: str, first: str, first_where: Position, where: Position
) -> WiringError:
    """Return the error for a channel with two drivers."""
    return WiringError(
        f"{target} is driven a second time; {first} at {first_where} drives it already",
        where,
        "A channel has one source: merge the two in a reactor with two inputs, or let "
        "them be in different modes.",
    )


def check_simple(statement: Connect, target: str) -> None:
    """Check that a modal connection that shares its target can be forwarded."""
    simple = len(statement.sources) == 1 and len(statement.targets) == 1
    delayed = statement.after is not None or statement.physical or statement.broadcast
    if simple and not delayed:
        return
    msg = f"the connection to {target} shares its target with another mode"
    raise WiringError(
        msg,
        statement.where,
        "Such a connection has one source, one target, and no after, physical or "
        "broadcast; put a relay reactor in the mode.",
    )


def check_main_has_no_ports(program: Program) -> None:
    """Check that the main reactor has no ports: nothing sets or reads them in a run.

    Raises:
        ProgramError: It has some; ``drive()`` is the way to use them.
    """
    for port in program.ports[:1]:  # ports are in the order of their reactors
        if port.reactor == 0:
            kind = "input" if port.is_input else "output"
            msg = (
                f"the main reactor {program.reactors[0].cls.__name__} has the {kind} "
                f"{port.name!r}"
            )
            raise ProgramError(
                msg,
                port.where,
                "Use drive() to set and read ports from outside, or contain the "
                "reactor in a main reactor without ports.",
            )
