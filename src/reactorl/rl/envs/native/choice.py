# SPDX-License-Identifier: Apache-2.0
"""Which environments are stepped in native code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reactorl.rl._public import public
from reactorl.rl.envs.factory import Recipe
from reactorl.rl.envs.native.classic_control import CLASSIC_CONTROL
from reactorl.rl.envs.native.foreign import ForeignError
from reactorl.rl.envs.native.layers import Layers
from reactorl.rl.envs.native.self_check import self_check
from reactorl.rl.envs.native.sources import unknown_source
from reactorl.rl.envs.native.toy_text import TOY_TEXT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reactorl.rl.envs.native.kind import Kind
    from reactorl.rl.envs.rules import NativeOption

KINDS: Final[dict[str, type[Kind]]] = {
    kind.entry: kind for kind in (*CLASSIC_CONTROL, *TOY_TEXT)
}
"""By entry point."""


def unavailable(kind: type[Kind]) -> str:
    """Return why a body cannot be used here; empty if it can."""
    differs = self_check()
    if differs:
        return f"{differs} differs from Python's on this machine"
    return unknown_source(kind.sources)


@public
def native_environments() -> dict[str, str]:
    """Return which of Gymnasium's classes are stepped in native code.

    Returns:
        By class, an empty text; or why its environments are stepped in Python.
    """
    return {
        entry.rpartition(":")[2]: unavailable(kind) for entry, kind in KINDS.items()
    }


def expected_kind(maker: Callable[[], Any]) -> type[Kind] | None:
    """Return the body of the environments of an id, as far as its spec shows it.

    A function that makes environments may keep them, and look at their state between
    two steps. Environments of an id belong to the vector alone.
    """
    if not isinstance(maker, Recipe):
        return None
    spec = maker.spec
    kind = KINDS.get(spec.entry_point) if isinstance(spec.entry_point, str) else None
    if kind is None or maker.wrappers or spec.additional_wrappers:
        return None
    mode = maker.kwargs.get("render_mode", spec.kwargs.get("render_mode"))
    if mode not in (None, "rgb_array", "ansi") or unavailable(kind):
        return None
    return kind


def are_native(makers: Sequence[Callable[[], Any]], native: NativeOption) -> bool:
    """Return whether environments are expected to be stepped in native code."""
    if native is False or not makers:
        return False
    distinct = {id(maker): maker for maker in makers}
    kinds = {expected_kind(maker) for maker in distinct.values()}
    return len(kinds) == 1 and None not in kinds


def kind_of(env: Any) -> type[Kind]:  # noqa: ANN401
    """Return the body of an environment, whether it is available here or not.

    Raises:
        ForeignError: It has none; the text says why.
    """
    core = Layers.of(env).core
    entry = f"{type(core).__module__}:{type(core).__qualname__}"
    kind = KINDS.get(entry)
    if kind is None:
        msg = f"there is no native {type(core).__qualname__}"
        raise ForeignError(msg)
    return kind
