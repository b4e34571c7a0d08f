# SPDX-License-Identifier: Apache-2.0
"""Running reactors, made anew from a Program for each run, parents first.

A factory makes ports, actions, modes and watchdogs as its runtime has them; this file
puts them where reactions look for them, in the instance's own dictionary.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from reactorl._decl.reactor import prototype
from reactorl._util.gc_pause import gc_paused
from reactorl.errors import AccessError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from reactorl._decl.native import NativeState
    from reactorl._decl.reactor import Context, Reactor
    from reactorl._program.cut import Part
    from reactorl._program.program import (
        ActionNode,
        ModeNode,
        PortNode,
        Program,
        ReactionNode,
        ReactorNode,
        WatchdogNode,
    )


class ViewFactory(Protocol):
    """Makes the objects through which bodies access a runtime."""

    def context(self, node: ReactorNode) -> Context:
        """Return the context of a reactor; one may serve all."""

    def port(self, holder: int, port: PortNode) -> object:
        """Return the port as the reactor with id ``holder`` sees it."""

    def action(self, action: ActionNode) -> object:
        """Return the action as its reactor sees it."""

    def mode(self, mode: ModeNode) -> object:
        """Return the mode as its reactor sees it."""

    def watchdog(self, watchdog: WatchdogNode) -> object:
        """Return the watchdog as its reactor sees it."""


class ChildView:
    """A contained reactor in a body: has the ports that some signature names."""

    def __init__(self, name: str) -> None:
        self._name = name  # within the parent, without index


class BankView:
    """A contained bank in a body: a sequence of members.

    ``bank.port`` is the tuple of that port of all members.
    """

    def __init__(self, name: str, members: tuple[ChildView, ...]) -> None:
        self._name = name
        self._members = members

    def __len__(self) -> int:
        return len(self._members)

    def __getitem__(self, index: int) -> ChildView:
        return self._members[index]

    def __iter__(self) -> Iterator[ChildView]:
        return iter(self._members)


def instantiate(
    program: Program,
    factory: ViewFactory,
    into: list[Reactor] | None = None,
    part: Part | None = None,
    native_states: list[NativeState] | None = None,
) -> list[Reactor]:
    """Return new running reactors, by id, each with parameters, views and state.

    ``setup()`` of all runs last, parents before children, when every instance is
    complete. No tag exists yet. They are put ``into`` a list before anything of the
    user's runs, so that a caller can tear them down if a ``setup()`` fails.

    Likewise native states, into ``native_states``. In a federation, reactors outside of
    ``part`` stay bare: they have parameters only.
    """
    instances = [] if into is None else into
    with gc_paused():
        instances.extend(_bare(node, factory) for node in program.reactors)
        own = [i for i in instances if part is None or part.runs(i._node.id)]
        _show_own(program, factory, instances, part)
        _show_children(program, factory, instances, part)
        for instance in own:
            for state in type(instance).__reactor__.states:
                value = state.initial(instance)
                setattr(instance, state.name, value)
                if state.native and native_states is not None:
                    native_states.append(value)  # type: ignore[arg-type]
    for instance in own:
        type(instance).setup(instance)  # an element may be named so
    return instances


def _show_own(
    program: Program,
    factory: ViewFactory,
    instances: list[Reactor],
    part: Part | None,
) -> None:
    """Give each reactor its own ports, actions, modes and watchdogs."""

    def runs(reactor: int) -> bool:
        return part is None or part.runs(reactor)

    for port in program.ports:
        if runs(port.reactor):
            view = factory.port(port.reactor, port)
            setattr(instances[port.reactor], port.name, view)
    for action in program.actions:
        if runs(action.reactor):
            setattr(instances[action.reactor], action.name, factory.action(action))
    for mode in program.modes:
        if runs(mode.reactor):
            setattr(instances[mode.reactor], mode.name, factory.mode(mode))
    for dog in program.watchdogs:
        if runs(dog.reactor):
            setattr(instances[dog.reactor], dog.name, factory.watchdog(dog))


def _bare(node: ReactorNode, factory: ViewFactory) -> Reactor:
    instance = prototype(node.cls, node.params, bank_index=node.bank_index)
    instance._node = node
    instance._context = factory.context(node)
    return instance


def restore_reset_state(instance: Reactor, names: Iterable[str]) -> None:
    """Give the named state variables of ``instance`` fresh initial values."""
    elements: Any = type(instance).__reactor__.elements
    for name in names:
        setattr(instance, name, elements[name].initial(instance))


# -- contained reactors -------------------------------------------------------------


def _listed_ports(reaction: ReactionNode) -> Iterator[int]:
    yield from reaction.trigger_ports
    yield from reaction.source_ports
    yield from reaction.effect_ports


def _show_children(
    program: Program,
    factory: ViewFactory,
    instances: list[Reactor],
    part: Part | None,
) -> None:
    """Give each reactor those contained ports that its reactions list."""
    views: dict[int, ChildView] = {}  # child's id -> its view in its parent
    for reaction in program.reactions:
        if reaction.kind != "body":
            continue
        if part is not None and not part.runs(reaction.reactor):
            continue
        for identity in _listed_ports(reaction):
            port = program.ports[identity]
            if port.reactor == reaction.reactor:
                continue
            view = views.get(port.reactor)
            if view is None:
                view = _show(program.reactors[port.reactor], instances, views)
            if not hasattr(view, port.name):
                setattr(view, port.name, factory.port(reaction.reactor, port))
    banks = {
        node.id - (node.bank_index or 0): node
        for node in (program.reactors[child] for child in views)
        if node.bank_index is not None
    }
    for node in banks.values():
        _show_tuples(instances[node.parent].__dict__[_base_name(node)])
    _show_empty_banks(program, instances)


def _show_empty_banks(program: Program, instances: list[Reactor]) -> None:
    """Give reactors their banks of width 0, which have no member to be seen by."""
    banks = {
        node.cls: tuple(
            child.name
            for child in node.cls.__reactor__.children
            if child.width is not None
        )
        for node in program.reactors
    }
    if not any(banks.values()):
        return
    inhabited = {
        (node.parent, _base_name(node))
        for node in program.reactors
        if node.bank_index is not None
    }
    for node, instance in zip(program.reactors, instances, strict=True):
        for name in banks[node.cls]:
            if (node.id, name) not in inhabited:
                setattr(instance, name, BankView(name, ()))


def _base_name(node: ReactorNode) -> str:
    """Return the name under which a parent declares ``node``, alone or as a bank."""
    return node.name if node.bank_index is None else node.name.rpartition("[")[0]


def _show(
    node: ReactorNode, instances: list[Reactor], views: dict[int, ChildView]
) -> ChildView:
    """Put the view of a contained reactor, with its whole bank, into its parent."""
    name = _base_name(node)
    if node.bank_index is None or node.bank_width is None:
        views[node.id] = view = ChildView(name)
        setattr(instances[node.parent], name, view)
        return view
    first = node.id - node.bank_index  # members have ids in a row
    members = tuple(ChildView(name) for _ in range(node.bank_width))
    views.update(enumerate(members, first))
    setattr(instances[node.parent], name, BankView(name, members))
    return members[node.bank_index]


def _show_tuples(bank: BankView) -> None:
    common: set[str] | None = None
    for member in bank:
        names = {name for name in vars(member) if not name.startswith("_")}
        common = names if common is None else common & names
    for name in sorted(common or ()):
        setattr(bank, name, tuple(getattr(member, name) for member in bank))


# -- accesses that no signature declares ---------------------------------------------


def explain_missing(
    error: AttributeError, reaction: ReactionNode, program: Program
) -> AccessError | None:
    """Return the error behind an AttributeError in a body, if a signature lacks a name.

    Ports of contained reactors that no signature lists do not exist in bodies, which
    costs nothing in legal programs. This finds the port after the fact.
    """
    node = program.reactors[reaction.reactor]
    owner, missing = error.obj, error.name or ""
    if isinstance(owner, ChildView | BankView):
        is_view, name = True, owner._name
    elif isinstance(owner, node.cls):
        is_view, name = False, missing
    else:
        return None
    child = _child(program, node.id, name)
    if child is None:
        return None
    ports = [port.name for port in child.cls.__reactor__.ports]
    if is_view and missing not in ports:
        return None
    listed = f"{name}.{missing}" if is_view else f"{name}.{(*ports, 'port')[0]}"
    element = f"{node.path}.{listed if is_view else name}"
    return AccessError(
        program.reaction_name(reaction.id),
        element,
        reaction.where,
        "uses",
        "list what it reads in sources and what it sets in effects, for example",
        f"@reaction(..., sources=[{listed}])",
    )


def _child(program: Program, parent: int, name: str) -> ReactorNode | None:
    for node in program.reactors:
        if node.parent == parent and _base_name(node) == name:
            return node
    return None
