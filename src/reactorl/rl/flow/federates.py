# SPDX-License-Identifier: Apache-2.0
"""Where the reactors of a flow run in a federation: rollouts are distributed.

Everything but rollouts is in the *head*, the process of the caller: learner, replay
buffer and evaluation. Each process that has rollouts has a copy of the clock, so that
it begins an iteration by itself: what it waits for is weights, as late as the policy
lag says.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

from reactorl import Federation
from reactorl.rl.flow.algorithm import FlowError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reactorl.rl.flow.flow import Flow

CLOCK: Final = "main.clock"
ROLLOUT: Final = "main.rollout"


def rollout_blocks(rollouts: int, federates: int) -> list[int]:
    """Return how many rollouts each federate has, the head first.

    As equal as possible; the head, which learns as well, has no more than the others.

    Raises:
        FlowError: There are not enough rollouts.
    """
    if not 1 <= federates <= rollouts + 1:
        msg = (
            f"federates must be from 1 to {rollouts + 1}, one more than rollouts, got "
            f"{federates}"
        )
        remedy = "Use more rollouts; their number must divide num_envs."
        raise FlowError(msg, remedy)
    ends = [rollouts * number // federates for number in range(federates + 1)]
    return [end - begin for begin, end in pairwise(ends)]


def flow_federation(flow: Flow, wanted: Federation | int) -> Federation | None:
    """Return a placement of the reactors of a flow; None: all are in one process.

    Args:
        flow: The flow.
        wanted: A number of federates, or a placement; of a Ray cluster, perhaps.

    Raises:
        FederationError: There is no cluster, and it says how many federates there are.
        FlowError: There are not enough rollouts, or a placement moves what must stay
            with the main reactor.
    """
    if isinstance(wanted, int):
        wanted = Federation(wanted)
    wanted = wanted.sized(flow.num_rollouts + 1, here=1)
    if isinstance(wanted.placement, int):
        placement = _distributed(flow, wanted.placement, wanted.rest)
    else:
        placement = wanted.placement
        _check(flow, placement)
    if not placement:
        return None
    return wanted.with_placement(placement, replicas=[CLOCK])


def _distributed(flow: Flow, federates: int, head: str) -> dict[str, str]:
    """Return the placement of the rollouts that are not at the head."""
    blocks = rollout_blocks(flow.num_rollouts, federates)
    placement, first = {}, blocks[0]
    for number, count in enumerate(blocks[1:], 1):
        placement[f"{ROLLOUT}[{first}:{first + count}]"] = f"{head}-{number}"
        first += count
    return placement


def _check(flow: Flow, placement: Mapping[str, str]) -> None:
    movable = {ROLLOUT, "main.replay", "main.evaluation"}
    if flow.learners is not None:
        movable.add("main.learner")
    for name in placement:
        if name.partition("[")[0] not in movable:
            msg = f"placement must be of {', '.join(sorted(movable))}, got {name!r}"
            remedy = (
                "The learner stays with the main reactor, whose process returns the "
                "weights, and every process has a copy of the clock."
            )
            raise FlowError(msg, remedy)
