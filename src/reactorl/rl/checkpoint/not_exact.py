# SPDX-License-Identifier: Apache-2.0
"""Which environments of a saved run cannot be resumed exactly, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reactorl.rl.checkpoint.registry import Data


def not_exact(data: Data) -> list[dict[str, Any]]:
    """Return the environments that begin a new episode when the run is resumed.

    Args:
        data: The state of a run; see ``DrivenRun.save``.

    Returns:
        ``env``, ``count`` and ``reason`` of each kind, in order.
    """
    found: dict[tuple[str, str], int] = {}
    parts = data.get("parts", {}) if isinstance(data, dict) else {}
    for name in sorted(parts):
        for snapshot in _without_state(parts[name]):
            kind = snapshot["name"], snapshot["reason"]
            found[kind] = found.get(kind, 0) + 1
    return [
        {"env": env, "count": count, "reason": reason}
        for (env, reason), count in found.items()
    ]


def described_not_exact(found: list[dict[str, Any]]) -> list[str]:
    """Return a sentence for each kind of environment."""
    sentences = []
    for each in found:
        count = each["count"]
        which = "1 environment" if count == 1 else f"{count} environments"
        sentences.append(
            f"{which} of {each['env']} cannot be resumed exactly: {each['reason']}"
        )
    return sentences


def _without_state(data: Data) -> Iterator[dict[str, Any]]:
    if isinstance(data, list):
        for part in data:
            yield from _without_state(part)
    elif isinstance(data, dict):
        if data.get("method") == "none":
            yield data
        else:
            for key in ("envs", "env"):
                yield from _without_state(data.get(key))
