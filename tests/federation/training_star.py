# SPDX-License-Identifier: Apache-2.0
"""A program with the shape of a training, and a simulation that counts its messages.

A replicated clock, rollouts that are distributed, a learner at the head whose weights
come back later: the cut is that of ``rl/flow/federates.py``.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from reactorl import (
    Federation,
    Input,
    MultiInput,
    MultiOutput,
    Output,
    Reactor,
    elaborate,
    param,
    reaction,
)
from reactorl._federation.codec import encode
from reactorl._federation.messages import Message
from reactorl._federation.wire_format import pack
from reactorl._program.cut import cut_program
from reactorl.tag import MAX_MICROSTEP, Tag
from tests.federation.driven_programs import PERIOD, Clock
from tests.federation.simulation import COORDINATOR, Simulation

if TYPE_CHECKING:
    from reactorl._federation.messages import Report
    from tests.federation.deliveries import Delivery


class Rollout(Reactor):
    """Sends a trajectory at each tag of the clock."""

    count = Input[int]()
    weights = Input[Any]()
    trajectory = Output[Any]()
    size = param(0)

    @reaction(weights)
    def take(self) -> None:
        pass

    @reaction(count, effects=[trajectory])
    def collect(self) -> None:
        self.trajectory.set(np.full(self.size, self.count.value, np.uint8))


class Learner(Reactor):
    """Sends weights when it has the trajectories of all."""

    trajectories = MultiInput[Any]()
    weights = Output[Any]()
    size = param(0)

    @reaction(trajectories, effects=[weights])
    def learn(self) -> None:
        total = sum(int(each[0]) for each in self.trajectories.values())
        self.weights.set(np.full(self.size, total % 256, np.uint8))


class Star(Reactor):
    """Rollouts and a learner."""

    shown = MultiOutput[Any](lambda self: self.nodes)
    nodes = param(1)
    behind = param(0)
    trajectory = param(1_000)
    weights = param(3_000)

    def build(self) -> None:
        clock = self.add("clock", Clock)
        rollouts = self.add_bank(
            "rollout", Rollout(size=self.trajectory), width=self.nodes
        )
        learner = self.add("learner", Learner, size=self.weights)
        after = PERIOD if self.behind else None
        later = max(self.behind, 1) * PERIOD
        self.connect(clock.count, rollouts.count, broadcast=True)
        self.connect(rollouts.trajectory, learner.trajectories, after=after)
        self.connect(learner.weights, rollouts.weights, after=later, broadcast=True)
        self.connect(rollouts.trajectory, self.shown)


class CountedSteps(Simulation):
    """A driven run: the next iteration may begin when all wait for it.

    Attributes:
        iterations: What was sent in each one: messages and bytes, by
            (who, to whom, what).
    """

    def __init__(self, star: Star, nodes: int, steps: int, **options: Any) -> None:
        program = elaborate(star)
        placement = {f"main.rollout[{k}]": f"node{k}" for k in range(nodes)}
        cut = cut_program(program, Federation(placement, replicas=["main.clock"]))
        limit = steps * PERIOD + PERIOD // 2
        super().__init__(program, cut, seed=1, timeout=limit, **options)
        self.iterations: list[tuple[Counter[Any], Counter[Any]]] = []
        self._steps = steps
        begin = Tag(0, MAX_MICROSTEP)
        object.__setattr__(
            self.coordinator, "begin", lambda _: self.coordinator.advance(begin, -1)
        )

    def advance(self) -> bool:
        """Let the next iteration begin. The lock is held."""
        if len(self.iterations) > self._steps:
            return False
        self.iterations.append((Counter(), Counter()))
        tag = Tag(len(self.iterations) * PERIOD, MAX_MICROSTEP)
        for to, order in self.coordinator.advance(tag, -1):
            self._post(COORDINATOR, to, (0, 0), order)
        return True

    def _arrive(self, delivery: Delivery) -> None:
        if self.iterations:
            what = delivery.what
            place = (self._role(delivery.source), self._role(delivery.target))
            name = what.kind.name if isinstance(what, Message) else "REPORT"
            messages, size = self.iterations[-1]
            messages[*place, name] += 1
            size[*place, name] += frame_bytes(what)
        super()._arrive(delivery)

    @staticmethod
    def _role(federate: int) -> str:
        if federate == COORDINATOR:
            return "coordinator"
        return "head" if federate == 0 else "node"


def frame_bytes(what: Message | Report) -> int:
    """Return the size of a message on the wire."""
    if isinstance(what, Message) and what.number:
        what = what._replace(value=encode(what.value))
    return sum(memoryview(piece).nbytes for piece in pack(what))
