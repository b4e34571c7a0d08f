# SPDX-License-Identifier: Apache-2.0
"""Names that a body can use only if its signature declares them.

Names that Python, LF or a preamble defines are excluded, because then the use may be
correct.
"""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from reactorl.lf.link.scope import Scope, Scopes, Symbol

ALWAYS: Final = frozenset(
    [
        "lf",
        "request_stop",
        "Tag",
        "os",
        "sys",
        "copy",
        "FOREVER",
        "NEVER",
        "BILLION",
        "instant_t",
        "interval_t",
        "NSEC",
        "NSECS",
        "USEC",
        "USECS",
        "MSEC",
        "MSECS",
        "SEC",
        "SECS",
        "SECOND",
        "SECONDS",
        "MINUTE",
        "MINUTES",
        "MINS",
        "HOUR",
        "HOURS",
        "DAY",
        "DAYS",
        "WEEK",
        "WEEKS",
        "get_fed_maxwait",
        "set_fed_maxwait",
    ]
)
"""Names that every body can use without an import."""


def hidden_names(scope: Scope, scopes: Scopes) -> dict[str, tuple[str, str]]:
    """Return each name with the error for a signature that lacks it, and the remedy."""
    found: dict[str, tuple[str, str]] = {}
    for name, symbol in scope.declared.items():
        if symbol.kind == "contained reactor":
            child = scopes.child(scope.unit, name)
            found.update(_of_child(name, scope, child))
        elif symbol.kind == "timer":
            what = f"timer '{name}' cannot be used in a body: it has no value"
            found[name] = (what, "A timer can only be a trigger.")
        else:
            what = f"the signature of this reaction lacks {symbol.kind} '{name}'"
            found[name] = (what, _where_to_add(name, symbol))
    given = ALWAYS | vars(builtins).keys()
    return {name: error for name, error in found.items() if name not in given}


def _of_child(
    name: str, scope: Scope, child: Scope | None
) -> dict[str, tuple[str, str]]:
    found: dict[str, tuple[str, str]] = {}
    ports = child.names("input", "output") if child is not None else []
    what = f"the signature of this reaction names no port of '{name}'"
    example = f", for example '{name}.{ports[0]}'" if ports else ""
    found[name] = (what, f"Add the port you need{example}.")
    for port in ports:
        flat = f"{name}_{port}"
        if flat in scope.declared or child is None:
            continue
        found[flat] = lacks_port(name, port, child.declared[port])
    return found


def lacks_port(child: str, port: str, symbol: Symbol) -> tuple[str, str]:
    """Return the error for a signature that lacks a port of a contained reactor."""
    role = "effects, after '->'" if symbol.kind == "input" else "triggers or sources"
    what = f"the signature of this reaction lacks '{child}.{port}'"
    return what, f"Add '{child}.{port}' to the {role}."


def _where_to_add(name: str, symbol: Symbol) -> str:
    match symbol.kind:
        case "input":
            return f"Add '{name}' to the triggers or sources."
        case "mode":
            return f"Add 'reset({name})' or 'history({name})' to the effects."
        case _:
            return f"Add '{name}' to the effects, after '->'."
