# SPDX-License-Identifier: Apache-2.0
"""How many messages and bytes a training over many nodes takes, on paper.

Prints the tables of docs/scaling.md. The counts are those of the coordination of one
iteration; `tests/federation/test_scaling.py` compares them with a simulated run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

CONTROL: Final = 64
"""Bytes of a horizon or a floor: a header, two tags and a few numbers."""
SIZES: Final = (10, 100, 1_000)


@dataclass(frozen=True)
class Training:
    """What is exchanged in an iteration, in bytes.

    Attributes:
        name: As in tables.
        trajectory: What a node sends: one rollout reactor.
        weights: What each node gets.
    """

    name: str
    trajectory: int
    weights: int


# A rollout of 8 environments and 128 steps per iteration; counted with the codec.
CART_POLE: Final = Training("PPO, CartPole", 68_300, 18_900)
ATARI: Final = Training("PPO, Atari, NatureCNN", 58_100_000, 6_750_000)


def report(nodes: int) -> int:
    """Return the bytes of a report: it has two counts for each federate."""
    return 96 + 16 * (nodes + 1)


def messages(nodes: int) -> dict[tuple[str, str, str], int]:
    """Return the messages of an iteration, by sender, receiver and kind.

    The head has the learner; each node has rollouts.
    """
    return {
        ("node", "head", "trajectory"): nodes,
        ("head", "node", "weights"): nodes,
        ("node", "coordinator", "REPORT"): 2 * nodes,
        ("head", "coordinator", "REPORT"): nodes + 1,
        ("coordinator", "node", "HORIZON"): nodes,
        ("coordinator", "head", "HORIZON"): 1,
        ("coordinator", "node", "FLOOR"): nodes,
        ("coordinator", "head", "FLOOR"): 1,
    }


def size(kind: str, nodes: int, training: Training) -> int:
    """Return the bytes of one message."""
    values = {"trajectory": training.trajectory, "weights": training.weights}
    return values.get(kind, report(nodes) if kind == "REPORT" else CONTROL)


def head_bytes(nodes: int, training: Training) -> tuple[int, int]:
    """Return the bytes that enter and leave the head's machine in an iteration.

    The coordinator is there, too.
    """
    into = out = 0
    for (source, target, kind), count in messages(nodes).items():
        total = count * size(kind, nodes, training)
        into += total if source == "node" else 0
        out += total if target == "node" else 0
    return into, out


def most_nodes(training: Training, gigabits: float, seconds: float) -> tuple[int, int]:
    """Return for how many nodes trajectories, and weights, fit into an iteration.

    Args:
        training: What is exchanged.
        gigabits: Of the head's network, per second and direction.
        seconds: Of an iteration. A policy lag hides the transfer, if it is shorter.
    """
    room = gigabits * 1e9 / 8 * seconds
    return int(room / training.trajectory), int(room / training.weights)


def tree_seconds(
    nodes: int, fan_out: int, training: Training, gigabits: float
) -> float:
    """Return how long weights take to all nodes, when each node passes them on."""
    hops, reached = 0, 1
    while reached < nodes + 1:
        reached += fan_out ** (hops + 1)
        hops += 1
    return hops * fan_out * training.weights * 8 / (gigabits * 1e9)


def tables() -> str:
    """Return the tables of the page."""
    lines = [
        "| nodes | messages per iteration | training | into the head | out of the head "
        "| 1 Gbit/s | 10 Gbit/s | 100 Gbit/s |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for nodes in SIZES:
        for training in (CART_POLE, ATARI):
            into, out = head_bytes(nodes, training)
            most = max(into, out) * 8
            times = [_seconds(most / (g * 1e9)) for g in (1, 10, 100)]
            cells = [f"{nodes:,}", f"{sum(messages(nodes).values()):,}", training.name]
            cells += [_bytes(into), _bytes(out), *times]
            lines.append(f"| {' | '.join(cells)} |")
    lines += [
        "",
        "| training | iteration | trajectories fit for | weights fit for |",
        "|---|---|---|---|",
    ]
    for training in (CART_POLE, ATARI):
        for seconds in (0.1, 1.0, 10.0):
            trajectories, weights = most_nodes(training, 10, seconds)
            lines.append(
                f"| {training.name} | {seconds:g} s | {trajectories:,} nodes "
                f"| {weights:,} nodes |"
            )
    return "\n".join(lines)


def _bytes(count: float) -> str:
    for unit in ("B", "kB", "MB"):
        if count < 1_000:
            return f"{count:.3g} {unit}"
        count /= 1_000
    return f"{count:.3g} GB"


def _seconds(count: float) -> str:
    return f"{count * 1_000:.3g} ms" if count < 1 else f"{count:.3g} s"


if __name__ == "__main__":
    print(tables())
