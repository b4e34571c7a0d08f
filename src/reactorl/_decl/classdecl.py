# SPDX-License-Identifier: Apache-2.0
"""All declarations of a reactor class, inherited ones included, in one order.

Bases come first, deepest first, left to right, each once; then the class itself. So
the reactions of a base run before those of the class that extends it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from reactorl._decl.action import ActionDeclaration
from reactorl._decl.bank import Child
from reactorl._decl.mode import Mode
from reactorl._decl.param import Param
from reactorl._decl.port import PortDeclaration
from reactorl._decl.reaction import Reaction, check_body
from reactorl._decl.signature import resolve_signature
from reactorl._decl.state import State
from reactorl._decl.timer import Timer
from reactorl._decl.watchdog import Watchdog
from reactorl.errors import DeclarationError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reactorl._decl.declaration import Declaration
    from reactorl.position import Position

D = TypeVar("D")

_PROTECTED = (PortDeclaration, ActionDeclaration, Mode, Watchdog, Child, Param)


class ClassDecl:
    """What one reactor class declares. Not changed after the class is created.

    Attributes:
        name: The class's name.
        where: Where the class statement is.
        own: Declarations of the class body alone, in textual order.
        lineage: Declarations of its bases, in the order of the module's first lines.
        elements: All declarations by name, in order.
        free_names: Whether names of elements may be those of ``Reactor`` itself.
        has_build: Whether the class has a ``build()`` to run.
        protected_names: Names on an instance that user code must not assign to.
    """

    __slots__ = (
        "actions",
        "children",
        "elements",
        "free_names",
        "has_build",
        "lineage",
        "modes",
        "name",
        "own",
        "params",
        "ports",
        "protected_names",
        "reactions",
        "states",
        "timers",
        "watchdogs",
        "where",
    )

    def __init__(
        self,
        name: str,
        where: Position,
        own: Mapping[str, Declaration],
        bases: Sequence[ClassDecl],
        *,
        has_build: bool,
    ) -> None:
        self.name = name
        self.where = where
        self.own = dict(own)
        self.lineage = _linearise(bases)
        self.free_names = False
        self.has_build = has_build
        self.elements = self._merge()
        self.params = {p.name: p for p in self._of(Param)}
        self.states = self._of(State)
        self.ports = self._of(PortDeclaration)
        self.timers = self._of(Timer)
        self.actions = self._of(ActionDeclaration)
        self.modes = self._of(Mode)
        self.watchdogs = self._of(Watchdog)
        self.children = self._of(Child)
        self.reactions = self._of(Reaction)
        self.protected_names = frozenset(
            name for name, d in self.elements.items() if isinstance(d, _PROTECTED)
        )

    def _of(self, kind: type[D]) -> tuple[D, ...]:
        return tuple(d for d in self.elements.values() if isinstance(d, kind))

    def _merge(self) -> dict[str, Declaration]:
        merged: dict[str, Declaration] = {}
        for source in (*(base.own for base in self.lineage), self.own):
            for name, declaration in source.items():
                other = merged.get(name)
                both = isinstance(declaration, Param) and isinstance(other, Param)
                if other is not None and not both:
                    msg = (
                        f"{declaration.label} clashes with {other.label} "
                        f"at {other.where}"
                    )
                    raise DeclarationError(
                        msg,
                        declaration.where,
                        "Only parameters can be declared again; rename one of the two.",
                    )
                merged[name] = declaration
        return merged

    def settle(self) -> None:
        """Resolve the signatures of the class's own reactions and check its rules.

        Raises:
            DeclarationError: A rule for reactions, watchdogs or modes is broken.
        """
        for declaration in self.own.values():
            if isinstance(declaration, Reaction):
                resolve_signature(declaration, self.elements, self.children)
            elif isinstance(declaration, Watchdog):
                _check_watchdog(declaration)
        titles: dict[str, Reaction] = {}
        for reaction in self.reactions:
            first = titles.setdefault(reaction.title, reaction)
            if first is not reaction:
                msg = (
                    f"{self.name} has two reactions named {reaction.title!r}; the "
                    f"first is at {first.where}"
                )
                raise DeclarationError(
                    msg,
                    reaction.where,
                    "Give one of them another name.",
                )
        by_handle: dict[int, Child] = {}
        for child in self.children:
            other = by_handle.setdefault(id(child.handle), child)
            if other is not child:
                msg = f"{child.label} is the same object as {other.label}"
                raise DeclarationError(
                    msg, child.where, "Make a new reactor for each name."
                )
        check_modes(self)


def _linearise(bases: Sequence[ClassDecl]) -> tuple[ClassDecl, ...]:
    ordered: dict[int, ClassDecl] = {}
    for base in bases:
        for decl in (*base.lineage, base):
            ordered.setdefault(id(decl), decl)
    return tuple(ordered.values())


def _check_watchdog(watchdog: Watchdog) -> None:
    if watchdog.handling is None:
        msg = f"{watchdog.label} has no handler"
        raise DeclarationError(
            msg,
            watchdog.where,
            f"Write a method and decorate it with @{watchdog.name}.handler.",
        )
    check_body(watchdog.handling, f"the handler of {watchdog.label}", watchdog.where)


def check_modes(decl: ClassDecl) -> None:
    """Check the rules of a modal reactor.

    Raises:
        DeclarationError: Not exactly one mode is initial; a reaction outside modes
            switches modes, or names one mode in both ways; state would survive a
            reset that nothing handles.
    """
    if not decl.modes:
        return
    initial = [mode for mode in decl.modes if mode.initial]
    if len(initial) != 1:
        names = ", ".join(mode.name for mode in decl.modes)
        found = ", ".join(mode.name for mode in initial) or "none"
        msg = f"{decl.name} has the modes {names}; initial: {found}"
        raise DeclarationError(
            msg,
            decl.modes[0].where,
            "Mark exactly one: Mode(initial=True).",
        )
    reset_into: dict[str, Any] = {}
    for reaction in decl.reactions:
        for effect in reaction.effects:
            if effect.entry is None:
                continue
            if reaction.mode is None:
                msg = (
                    f"{reaction.label} switches to mode {effect.name} from outside "
                    "the modes"
                )
                raise DeclarationError(
                    msg,
                    reaction.where,
                    "Only reactions inside a mode may switch modes.",
                )
            if effect.entry == "reset":
                reset_into[effect.name] = reaction
    for state in decl.states:
        mode = state.mode
        if mode is None or state.reset or mode.name not in reset_into:
            continue
        if not any(r.mode is mode and "reset" in r.occasions for r in decl.reactions):
            msg = (
                f"{state.label} keeps its value although {mode.label} is entered by "
                f"reset ({reset_into[mode.name].label})"
            )
            raise DeclarationError(
                msg,
                state.where,
                "Write state(..., reset=True), or a reaction on `reset` in the mode.",
            )
