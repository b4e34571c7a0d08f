# SPDX-License-Identifier: Apache-2.0
"""Federates of ours: a program that is driven, twenty exchanges at a time."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from benchmarks.harness.seen import Seen
from benchmarks.workloads.federates import ENVS, EXCHANGES, STEPS
from benchmarks.workloads.federates.parts import answer, message
from reactorl import (
    Federation,
    Input,
    MultiInput,
    Output,
    Reactor,
    Timer,
    bank,
    drive,
    param,
    reaction,
    usec,
)

if TYPE_CHECKING:
    from benchmarks.harness.engine import Engine


RECEIVED: list[Any] = []
"""The last answers, in the process that drives the program."""


class Asks(Reactor):
    """Sends the same value again and again."""

    question = Output[Any]()
    answers = MultiInput[Any]()
    size: int = param()
    timer = Timer(usec(1), usec(1))

    def setup(self) -> None:
        """Make the value."""
        self.message = message(self.size)

    @reaction(timer, effects=[question])
    def ask(self) -> None:
        """Send it."""
        self.question.set(self.message)

    @reaction(answers)
    def hear(self) -> None:
        """Keep the answers."""
        RECEIVED[:] = self.answers.values()


class Answers(Reactor):
    """Answers at the same tag."""

    question = Input[Any]()
    answer = Output[Any]()

    @reaction(question, effects=[answer])
    def work(self) -> None:
        """Answer."""
        self.answer.set(answer(self.question.value))


class Exchange(Reactor):
    """One that asks, and others that answer."""

    size: int = param()
    receivers: int = param()

    asks = Asks(size=size)
    answers = bank(Answers, width=receivers)

    def build(self) -> None:
        """Connect them."""
        self.connect(self.asks.question, self.answers.question, broadcast=True)
        self.connect(self.answers.answer, self.asks.answers)


def run(params: dict[str, Any], watch: Any, engine: Engine) -> dict[str, Any] | None:  # noqa: ANN401
    """Exchange values, or train."""
    if params["federates"]:
        train(params, watch)
        return None
    receivers = params["receivers"]
    main = Exchange(size=params["size"], receivers=receivers)
    placement = {f"main.answers[{n}]": f"process-{n}" for n in range(receivers)}
    seen = Seen(watch)
    with drive(main, workers=1, federation=Federation(placement)) as program:
        program.step(after=usec(EXCHANGES))
        while watch.tick(seen):
            program.step(after=usec(EXCHANGES))
            seen.add(RECEIVED)
    del engine
    return {"tags": program.result.tags}


def train(params: dict[str, Any], watch: Any) -> None:  # noqa: ANN401
    """Train until the watch has enough slices."""
    from benchmarks.workloads.gym.busy import Busy
    from benchmarks.workloads.train_placement.ours import EPISODE, FOREVER, Weights
    from reactorl.rl import DQN, Flow

    turns = round(params["us"] * params["turns_per_us"])
    steps = ENVS * STEPS
    algorithm = DQN(
        total_timesteps=FOREVER * steps,
        num_envs=ENVS,
        num_steps=STEPS,
        hidden=(64,),
        anneal_lr=False,
        buffer_size=10_000,
        learning_starts=64,
        train_frequency=steps,
        target_network_frequency=128 * steps,
    )
    flow = Flow(
        partial(Busy, turns, EPISODE),
        algorithm,
        rollouts=2,
        eval_every=0,
        placement="thread",
    )
    federates = params["federates"]
    federation = None if federates == 1 else federates
    with flow.start(workers=1, federation=federation) as training:
        weights = Weights(training)
        training.step()
        while watch.tick(weights):
            training.step()
