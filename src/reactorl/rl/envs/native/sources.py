# SPDX-License-Identifier: Apache-2.0
"""The source text that native bodies reproduce: known digests, by class and function.

A native body is used only if the installed Gymnasium says what it said when the body
was written. Docstrings, comments, blank lines and drawing do not count. A new version
that changes anything else is stepped in Python until its digest is added here, together
with the body that it describes.
"""

from __future__ import annotations

import ast
import hashlib
from functools import cache
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

COMMON: Final = (
    "gymnasium.core:Env.reset",
    "gymnasium.core:Env.np_random",
    "gymnasium.core:Wrapper.step",
    "gymnasium.core:Wrapper.reset",
    "gymnasium.wrappers.common:TimeLimit",
    "gymnasium.wrappers.common:OrderEnforcing",
    "gymnasium.wrappers.common:PassiveEnvChecker",
)
"""What all bodies reproduce."""

_GYMNASIUM_1_4: Final[dict[str, dict[str, str]]] = {
    "gymnasium.core": {
        "Env.reset": "25cddd35c4534ecf",
        "Env.np_random": "8b401cbdfdf494a2",
        "Wrapper.step": "4b544d6ec2352b54",
        "Wrapper.reset": "c17c96324a474c77",
    },
    "gymnasium.wrappers.common": {
        "TimeLimit": "b2db382e02c7f807",
        "OrderEnforcing": "dea8fc7a7513dadb",
        "PassiveEnvChecker": "a60467b83726ed59",
    },
    "gymnasium.envs.classic_control.cartpole": {
        "CartPoleEnv": "d9e1d3cd744253c2",
    },
    "gymnasium.envs.classic_control.utils": {
        "maybe_parse_reset_bounds": "eeffb97857a9462b",
    },
    "gymnasium.envs.classic_control.mountain_car": {
        "MountainCarEnv": "28e418e47092db4c",
    },
    "gymnasium.envs.classic_control.continuous_mountain_car": {
        "Continuous_MountainCarEnv": "99602789a3ad87df",
    },
    "gymnasium.envs.classic_control.pendulum": {
        "PendulumEnv": "bffd23795a013045",
        "angle_normalize": "a8c59efc68f18125",
        "DEFAULT_X": "82dc3f73a8b78a0b",
        "DEFAULT_Y": "b46a318139dff3d8",
    },
    "gymnasium.envs.classic_control.acrobot": {
        "AcrobotEnv": "bad0901c1848548f",
        "wrap": "90672a090c6b10fa",
        "bound": "03b27cc816e813da",
        "rk4": "a559b3da11111380",
    },
    "gymnasium.envs.toy_text.blackjack": {
        "BlackjackEnv": "4e43f617f05b8207",
        "_hand_sum_and_usable_ace": "d53c4e45ea464761",
        "cmp": "075dae006c842877",
        "deck": "a8649fc3580b2011",
        "draw_card": "a42e0c6b858aa3fd",
        "draw_hand": "6570a0f52b4ae1fe",
        "usable_ace": "d0c16b834e97acd1",
        "sum_hand": "bb21cb9abfe95df7",
        "is_bust": "e8a79a7d1760ff44",
        "score": "194495e0e5d9171c",
        "is_natural": "912a28823d19146f",
    },
    "gymnasium.envs.toy_text.utils": {
        "categorical_sample": "f6bf2612aab25539",
    },
    "gymnasium.envs.toy_text.frozen_lake": {
        "FrozenLakeEnv": "ce3983488ff54f7b",
    },
    "gymnasium.envs.toy_text.cliffwalking": {
        "CliffWalkingEnv": "615f986456c69858",
    },
    "gymnasium.envs.toy_text.taxi": {
        "TaxiEnv": "ae610d1af9b1fca0",
    },
}
"""Digests by module and name."""
KNOWN: Final[dict[str, frozenset[str]]] = {
    f"{module}:{name}": frozenset({digest})
    for module, names in _GYMNASIUM_1_4.items()
    for name, digest in names.items()
}
"""Digests by name: those of Gymnasium 1.4.0."""

_DRAWING: Final = ("render", "_render", "close", "_height", "get_surf_loc")
_DEFINITIONS: Final = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def unknown_source(names: Sequence[str]) -> str:
    """Return which source text is not known; empty if all is.

    Args:
        names: Classes, functions and constants, as ``module:name``.
    """
    for name in (*COMMON, *names):
        try:
            digest = digest_of(name)
        except (ImportError, OSError, SyntaxError, LookupError) as error:
            return f"the source of {name} cannot be read: {error}"
        if digest not in KNOWN.get(name, ()):
            return f"the source of {name} is not a known one (digest {digest})"
        if not _is_live(name):
            return f"{name} has been replaced since it was imported"
    return ""


@cache
def digest_of(name: str) -> str:
    """Return the digest of the source text of a class, function or constant."""
    module, _, inner = name.partition(":")
    lines, node = _found(module, inner)
    left_out = set(_left_out(node))
    kept = [
        line.rstrip()
        for number, line in enumerate(lines, 1)
        if node.lineno <= number <= (node.end_lineno or 0)
        and number not in left_out
        and line.strip()
        and not line.lstrip().startswith("#")
    ]
    return hashlib.sha256("\n".join(kept).encode()).hexdigest()[:16]


@cache
def _parsed(module: str) -> tuple[list[str], ast.Module]:
    text = Path(import_module(module).__file__ or "").read_text(encoding="utf-8")
    return text.splitlines(), ast.parse(text)


def _found(module: str, name: str) -> tuple[list[str], Any]:
    lines, tree = _parsed(module)
    node: Any = tree
    for part in name.split("."):
        node = next((each for each in node.body if _name(each) == part), None)
        if node is None:
            msg = f"it has no {name}"
            raise LookupError(msg)
    return lines, node


def _name(node: ast.stmt) -> str:
    if isinstance(node, _DEFINITIONS):
        return node.name
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id
    return ""


def _left_out(node: Any) -> Iterator[int]:  # noqa: ANN401
    """Yield the lines of docstrings and of methods that draw."""
    for each in ast.walk(node):
        if not isinstance(each, _DEFINITIONS):
            continue
        first = each.body[0]
        is_text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
        if is_text and isinstance(first.value.value, str):  # type: ignore[attr-defined]
            yield from range(first.lineno, (first.end_lineno or 0) + 1)
        if each is not node and each.name.startswith(_DRAWING):
            yield from range(each.lineno, (each.end_lineno or 0) + 1)


def _is_live(name: str) -> bool:
    """Return whether the functions in memory are those in the file."""
    module_name, _, inner = name.partition(":")
    module = import_module(module_name)
    held: Any = module
    for part in inner.split("."):
        held = vars(held).get(part)
    _, node = _found(module_name, inner)
    file = Path(module.__file__ or "").name
    functions = [held] if not isinstance(held, type) else list(vars(held).values())
    for each in functions:
        function = each.fget if isinstance(each, property) else each
        if not isinstance(function, FunctionType):
            continue
        code = function.__code__
        is_inside = node.lineno - 5 <= code.co_firstlineno <= (node.end_lineno or 0)
        if Path(code.co_filename).name != file or not is_inside:
            return False
    if isinstance(node, ast.Assign):
        try:
            return bool(held == ast.literal_eval(node.value))
        except ValueError:
            return True  # an expression, such as np.pi
    return held is not None
