# SPDX-License-Identifier: Apache-2.0
"""Signatures of reactions: from the listed objects and strings to names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NoReturn

from reactorl._decl.bank import Child, Member
from reactorl._decl.connection import PortRef
from reactorl._decl.declaration import Declaration
from reactorl._decl.mode import Mode, ModeEntry
from reactorl._decl.reaction import Mention
from reactorl._decl.timer import Occasion
from reactorl.errors import DeclarationError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from reactorl._decl.reaction import Reaction

_NAME = re.compile(r"(?:(\w+)(?:\[(\d+)\])?\.)?(\w+)")
Role = Literal["trigger", "source", "effect"]


def resolve_signature(
    reaction: Reaction,
    elements: Mapping[str, Declaration],
    children: Iterable[Child],
) -> None:
    """Replace what was written in ``reaction``'s signature by names.

    Raises:
        DeclarationError: Something is not an element, belongs to another class, is both
            trigger and source, or is a mode entered in two ways.
    """
    child_names = {id(child.handle): child.name for child in children}
    triggers, sources, effects = reaction.raw
    occasions = [t.name for t in triggers if isinstance(t, Occasion)]
    reaction.occasions = frozenset(occasions)

    def names(listed: Iterable[object], role: Role) -> tuple[Mention, ...]:
        found = [
            _mention(reaction, element, role, elements, child_names)
            for element in listed
            if not (role == "trigger" and isinstance(element, Occasion))
        ]
        for index, mention in enumerate(found):
            if mention in found[:index]:
                _refuse(reaction, f"lists {mention} twice", "Once is enough.")
        return tuple(found)

    reaction.triggers = names(triggers, "trigger")
    reaction.sources = names(sources, "source")
    reaction.effects = names(effects, "effect")
    if len(occasions) != len(reaction.occasions):
        _refuse(reaction, f"lists {occasions[0]} twice", "Once is enough.")
    for mention in reaction.sources:
        if mention in reaction.triggers:
            _refuse(
                reaction,
                f"lists {mention} both as trigger and as source",
                "A trigger can be read; remove it from the sources.",
            )
    entered: dict[str, Mention] = {}
    for mention in reaction.effects:
        if mention.entry is not None and mention.name in entered:
            _refuse(
                reaction,
                f"enters mode {mention.name} both by reset and by history",
                "Choose one per reaction.",
            )
        entered[mention.name] = mention


def _refuse(reaction: Reaction, what: str, remedy: str) -> NoReturn:
    msg = f"{reaction.label} {what}"
    raise DeclarationError(msg, reaction.where, remedy)


def _mention(
    reaction: Reaction,
    element: object,
    role: Role,
    elements: Mapping[str, Declaration],
    child_names: Mapping[int, str],
) -> Mention:
    if isinstance(element, str):
        return _from_text(reaction, element, elements)
    if isinstance(element, ModeEntry):
        if isinstance(element.mode, str):
            return Mention(element.mode, entry=element.entry)
        mention = _own(reaction, element.mode, elements)
        return Mention(mention.name, entry=element.entry)
    if isinstance(element, Mode):
        return Mention(_own(reaction, element, elements).name, entry="reset")
    if isinstance(element, PortRef):
        return _from_ref(reaction, element, child_names)
    if isinstance(element, Declaration):
        return _own(reaction, element, elements)
    if isinstance(element, Occasion):
        _refuse(reaction, f"lists {element} as {role}", "It can only be a trigger.")
    if isinstance(element, Member) or id(element) in child_names:
        _refuse(reaction, "lists a whole reactor", "Name the port: child.port.")
    _refuse(
        reaction,
        f"lists {element!r} as {role}",
        "Name a port, action, timer, mode or watchdog.",
    )


def _own(
    reaction: Reaction, element: Declaration, elements: Mapping[str, Declaration]
) -> Mention:
    found = elements.get(element.name)
    if found is not element:
        _refuse(
            reaction,
            f"lists {element!r}, which is not an element of {reaction.owner}",
            "Declare it in this class, or name a port of a contained reactor.",
        )
    return Mention(element.name)


def _from_ref(
    reaction: Reaction, element: PortRef, child_names: Mapping[int, str]
) -> Mention:
    child = child_names.get(id(element.holder))
    if child is None:
        _refuse(
            reaction,
            f"lists {element}, a port of a reactor that {reaction.owner} does not "
            "contain directly",
            "Only own ports and ports of direct children are in reach; relay it.",
        )
    if element.channel is not None or element.interleave:
        _refuse(
            reaction,
            f"lists {element}",
            "Name the whole port; the body can pick channels.",
        )
    return Mention(element.port.name, child, element.member)


def _from_text(
    reaction: Reaction, text: str, elements: Mapping[str, Declaration]
) -> Mention:
    match = _NAME.fullmatch(text)
    if match is None:
        _refuse(
            reaction,
            f"lists {text!r}, which is not a name",
            "Write 'x', 'child.port' or 'bank[2].port'.",
        )
    child, member, name = match.groups()
    if child is None and isinstance(elements.get(name), Mode):
        return Mention(name, entry="reset")
    return Mention(name, child, None if member is None else int(member))
