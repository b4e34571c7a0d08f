# SPDX-License-Identifier: Apache-2.0
"""The paper model of docs/scaling.md, against what the simulated wire counts."""

from __future__ import annotations

import pickle
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import scaling
from reactorl import drive, elaborate
from reactorl._federation.coordinator import Coordinator
from reactorl._federation.coordinator_server import CoordinatorServer
from reactorl._federation.messages import Kind, Message, Report
from reactorl._federation.network import Network
from reactorl._program.cut import cut_program
from reactorl._program.placement import Federation
from reactorl.rl import PPO, Flow
from reactorl.tag import Tag
from tests.federation.driven_programs import PERIOD
from tests.federation.training_star import CountedSteps, Star, frame_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reactorl._federation.frames import Frame

PAGE = Path(__file__).parents[2] / "docs" / "scaling.md"
NAMES = {"VALUE": "trajectory", "LATE": "weights"}
STEPS = 5


def counted(
    nodes: int, **options: object
) -> list[tuple[dict[tuple[str, str, str], int], dict[tuple[str, str, str], int]]]:
    """Return messages and bytes of the iterations in the middle of a run."""
    latencies = options.pop("latencies", (1,))
    run = CountedSteps(Star(nodes=nodes, **options), nodes, STEPS, latencies=latencies)
    run.run()
    return [
        tuple(
            {(a, b, NAMES.get(kind, kind)): n for (a, b, kind), n in each.items()}
            for each in pair
        )
        for pair in run.iterations[1 : STEPS - 1]  # without the first and the last
    ]


@pytest.mark.parametrize("behind", [0, 1])
@pytest.mark.parametrize("nodes", [1, 3, 100])
def test_counted_messages_and_bytes_are_those_of_the_model(
    nodes: int, behind: int
) -> None:
    found = counted(nodes, behind=behind, trajectory=1_000, weights=3_000)[-1]
    values = [frame_bytes(_value(_sent(size))) for size in (1_000, 3_000)]
    training = scaling.Training("star", *values)

    messages, size = found
    assert messages == scaling.messages(nodes)
    assert sum(messages.values()) == 7 * nodes + 3
    assert size == {
        (a, b, kind): count * scaling.size(kind, nodes, training)
        for (a, b, kind), count in messages.items()
    }
    into, out = scaling.head_bytes(nodes, training)
    assert into == sum(n for (a, _, _), n in size.items() if a == "node")
    assert out == sum(n for (_, b, _), n in size.items() if b == "node")


def test_uneven_latencies_change_reports_only_and_not_by_much() -> None:
    nodes = 12
    model = scaling.messages(nodes)
    for messages, _ in counted(nodes, latencies=(0, 0, 1, 5, 50)):
        for kind in ("trajectory", "weights", "HORIZON"):
            of_model = _only(model, kind)
            assert _only(messages, kind) == of_model
        reports = sum(_only(messages, "REPORT").values())
        assert reports <= 2 * sum(_only(model, "REPORT").values())
        assert sum(messages.values()) <= 2 * sum(model.values())


def test_processes_send_the_values_of_the_model_and_not_more_control_messages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    nodes, steps = 3, 20
    heard: Counter[str] = Counter()
    arrived, take = Network._arrived, CoordinatorServer._take

    def count_arrived(self: Network, peer: int, batch: Sequence[Frame]) -> None:
        for frame in batch:
            heard[frame.kind.name if isinstance(frame, Message) else "BYE"] += 1
        arrived(self, peer, batch)

    def count_taken(self: CoordinatorServer, federate: int, frame: Frame) -> None:
        if isinstance(frame, Report):
            heard["REPORT of " + ("node" if federate else "head")] += 1
        take(self, federate, frame)

    monkeypatch.setattr(Network, "_arrived", count_arrived)
    monkeypatch.setattr(CoordinatorServer, "_take", count_taken)
    placement = {f"main.rollout[{k}]": f"node{k}" for k in range(nodes)}
    with drive(
        Star(nodes=nodes),
        federation=Federation(placement, replicas=["main.clock"]),
        workers=1,
    ) as run:
        for _ in range(steps):
            run.step(after=PERIOD)

    assert heard["VALUE"] == nodes * steps
    assert heard["PROMISE"] <= nodes * (steps + 3)
    # Start and end take some more; within the run, waking early repeats reports.
    assert heard["REPORT of node"] <= 2 * (2 * nodes * steps) + 10 * nodes
    assert heard["REPORT of head"] <= 2 * (nodes + 1) * steps + 10 * nodes


def test_sizes_of_the_model_are_those_of_a_training() -> None:
    flow = Flow("CartPole-v1", PPO(total_timesteps=1_024, num_envs=8), rollouts=1)
    with flow.start(workers=1) as run:
        trajectory = run._next()["trajectories"][0]
        weights = run.weights

    model = scaling.CART_POLE
    assert frame_bytes(_value(weights)) == pytest.approx(model.weights, rel=0.01)
    found = frame_bytes(_value(trajectory))
    assert found == pytest.approx(model.trajectory, rel=0.02)  # episodes vary
    # The same columns, with observations of four frames of 84 x 84.
    small = sum(a[0, 0].nbytes for a in trajectory.columns.values())
    per_step = small - 2 * 16 + 2 * 4 * 84 * 84
    expected = scaling.ATARI.trajectory
    assert 8 * 128 * per_step + 8 * 4 * 84 * 84 == pytest.approx(expected, rel=0.01)


def test_work_of_the_coordinator_for_a_report_grows_with_links_not_with_pairs() -> None:
    work = {nodes: _operations(nodes) for nodes in (20, 40, 80)}

    # Twice as many nodes have twice as many links, and four times as many pairs.
    assert work[40] < 2.5 * work[20]
    assert work[80] < 2.5 * work[40]


def test_the_page_has_the_tables_of_the_model() -> None:
    text = PAGE.read_text("utf-8")

    for table in scaling.tables().split("\n\n"):
        assert table in text


def test_a_relay_tree_sends_weights_in_logarithmic_time() -> None:
    flat = [n * scaling.ATARI.weights * 8 / 1e10 for n in (10, 1_000)]
    tree = [scaling.tree_seconds(n, 4, scaling.ATARI, 10) for n in (10, 1_000)]

    assert tree[0] < flat[0]
    assert tree[1] < flat[1] / 30
    assert scaling.tree_seconds(4, 4, scaling.ATARI, 10) == pytest.approx(
        4 * scaling.ATARI.weights * 8 / 1e10
    )


def _sent(size: int) -> object:
    """Return an array as the simulated wire copies one that was sent."""
    array = np.zeros(size, np.uint8)
    array.flags.writeable = False
    return pickle.loads(pickle.dumps(array))


def _value(value: object) -> Message:
    promise = (Tag(1, 0), Tag(1, 0))  # rides on the only value of a tag
    return Message(Kind.VALUE, value=value, number=1, promise=promise)


def _only(
    counts: dict[tuple[str, str, str], int], kind: str
) -> dict[tuple[str, str, str], int]:
    return {key: n for key, n in counts.items() if key[2] == kind}


def _operations(nodes: int) -> int:
    """Return how many lines the coordinator runs for one report."""
    import sys

    program = elaborate(Star(nodes=nodes))
    placement = {f"main.rollout[{k}]": f"node{k}" for k in range(nodes)}
    cut = cut_program(program, Federation(placement, replicas=["main.clock"]))
    coordinator = Coordinator(cut)
    zeros = (0,) * (nodes + 1)
    tag = Tag(10, 0)
    waits = Report(
        tag, tag, Tag(0, 0), tag, inside=False, taken=0, sent=zeros, received=zeros
    )
    for federate in range(nodes + 1):
        coordinator.on_report(federate, waits)
    lines: Counter[str] = Counter()

    def trace(frame: object, event: str, _: object) -> object:
        lines[event] += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)  # type: ignore[arg-type]
    try:
        coordinator.on_report(1, waits)
    finally:
        sys.settrace(before)
    return lines["line"]
