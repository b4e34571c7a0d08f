# SPDX-License-Identifier: Apache-2.0
"""Action masks of agents, from the info or, as in PettingZoo, from the observation.

An agent whose observation is a ``Dict`` with the key ``action_mask`` has that mask; its
policy sees the other parts of the observation, or ``observation`` if that is the only
one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from gymnasium import spaces

from reactorl.rl.flow.action_masks import KEY, MaskError, MaskReader
from reactorl.rl.flow.algorithm import Spaces

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reactorl.rl.flow.algorithm import Array
    from reactorl.rl.multi_agent.results import ByAgent

_ONLY = "observation"


class MaskedObservation(NamedTuple):
    """An encoded observation, and the action mask of the agent."""

    row: Array
    mask: Array


def without_mask(found: Spaces) -> Spaces:
    """Return the spaces of an agent without the mask in its observation."""
    observation = found.observation
    if not _has_mask(observation):
        return found
    assert isinstance(observation, spaces.Dict)
    rest = {key: part for key, part in observation.items() if key != KEY}
    inner = rest[_ONLY] if list(rest) == [_ONLY] else spaces.Dict(rest)
    return Spaces(inner, found.action)


def _has_mask(space: spaces.Space[Any]) -> bool:
    return isinstance(space, spaces.Dict) and KEY in space.spaces and len(space) > 1


class AgentMasks:
    """Splits observations of agents, and reads their masks.

    Args:
        cast: The agents with their spaces, as ``without_mask`` returns them.
    """

    def __init__(self, cast: Mapping[Any, Spaces]) -> None:
        self._spaces = cast
        self._readers = {agent: MaskReader(each.action) for agent, each in cast.items()}

    def observation(self, agent: Any, seen: Any) -> Any:  # noqa: ANN401
        """Return the observation of an agent without its mask."""
        if not self._is_masked(agent, seen):
            return seen
        rest = {key: part for key, part in seen.items() if key != KEY}
        return rest[_ONLY] if list(rest) == [_ONLY] else rest

    def read(
        self,
        observations: ByAgent,
        infos: ByAgent,
        agents: list[Any],
    ) -> ByAgent:
        """Return the masks of agents that have one.

        Raises:
            MaskError: One is invalid; the text names the agent.
        """
        found = {}
        for agent in agents:
            seen, info = observations[agent], infos.get(agent) or {}
            mask = seen[KEY] if self._is_masked(agent, seen) else info.get(KEY)
            if mask is None:
                continue
            try:
                found[agent] = self._readers[agent].read(mask)
            except MaskError as error:
                msg = f"agent {agent!r}: {error}"
                raise MaskError(msg) from None
        return found

    def _is_masked(self, agent: Any, seen: Any) -> bool:  # noqa: ANN401
        if not isinstance(seen, dict) or KEY not in seen:
            return False
        return not _has_mask(self._spaces[agent].observation)
