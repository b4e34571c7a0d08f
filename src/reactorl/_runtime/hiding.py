# SPDX-License-Identifier: Apache-2.0
"""Finding reactors that assigned to one of their ports, actions or modes."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reactorl._decl.reactor import Reactor


def hidden_view(instance: Reactor) -> str:
    """Return the name of a port, action or mode that was assigned to, or nothing."""
    content = instance.__dict__
    for name in _view_names(type(instance)):
        if type(content.get(name)).__module__ not in _VIEW_MODULES:
            return name
    return ""


@cache
def _view_names(cls: type[Reactor]) -> tuple[str, ...]:
    decl = cls.__reactor__
    return tuple(
        element.name
        for element in (*decl.ports, *decl.actions, *decl.modes, *decl.watchdogs)
    )


_VIEW_MODULES = frozenset(
    {"reactorl._core", "reactorl._runtime.views", "reactorl._runtime.watchdogs"}
)
