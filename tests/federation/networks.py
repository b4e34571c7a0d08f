# SPDX-License-Identifier: Apache-2.0
"""Generated networks with much traffic between reactors, at one tag and later.

All reactions of a network are in one sequence, and each belongs to some node; without a
delay, values go from earlier to later reactions. So nodes depend on each other in both
directions within a tag, which is the hardest case for federates.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from types import new_class
from typing import TYPE_CHECKING, Any

from reactorl import (
    Input,
    LogicalAction,
    Output,
    Reactor,
    Timer,
    elaborate,
    reaction,
    state,
)
from reactorl._program.cut import Cut, cut_program
from reactorl._program.placement import Federation
from reactorl.testing.bodies import Stir

if TYPE_CHECKING:
    from collections.abc import Callable, MutableMapping

    from reactorl import Program


@dataclass(frozen=True)
class Step:
    """One reaction: its node, what it reads, and what it may do."""

    node: int
    inputs: tuple[tuple[int, int | None], ...]  # source reaction, delay
    sources: tuple[bool, ...]  # per input: read without being triggered
    timer: bool
    action: int | None  # delay
    salt: int
    budget: int
    stops: bool


@dataclass(frozen=True)
class Network:
    """A network as data."""

    seed: int
    nodes: int
    timers: tuple[tuple[int, int], ...]
    steps: tuple[Step, ...]
    timeout: int | None
    flat: bool


def draw_network(seed: int) -> Network:
    """Return one of endlessly many networks."""
    random = Random(seed)
    flat = random.random() < 0.3
    nodes = random.randint(2, 6)
    delays = (1, 1, 2, 4) if flat else (0, 0, 1, 2, 4)
    count = random.randint(nodes, 3 * nodes)
    steps = []
    for number in range(count):
        inputs = []
        for _ in range(random.randint(0, 3)):
            source = random.randrange(count)
            late = source >= number or random.random() < 0.3
            inputs.append((source, random.choice(delays) if late else None))
        steps.append(
            Step(
                node=number if number < nodes else random.randrange(nodes),
                inputs=tuple(inputs),
                sources=tuple(random.random() < 0.2 for _ in inputs),
                timer=not inputs or random.random() < 0.3,
                action=None
                if flat or random.random() < 0.7
                else random.choice((0, 1, 3)),
                salt=random.randrange(1000),
                budget=random.randint(4, 30),
                stops=not flat and random.random() < 0.03,
            )
        )
    timers = tuple((random.randint(0, 3), random.randint(1, 5)) for _ in range(nodes))
    ends = random.random() < 0.2
    if ends:  # without periodic timers it starves
        timers = tuple((offset, 0) for offset, _ in timers)
    timeout = None if ends else random.randint(3, 20)
    return Network(seed, nodes, timers, tuple(steps), timeout, flat)


def main_of(network: Network) -> type[Reactor]:
    """Return the main reactor's class."""
    classes = [_node(network, node) for node in range(network.nodes)]

    def fill(namespace: MutableMapping[str, Any]) -> None:
        for node, cls in enumerate(classes):
            namespace[f"n{node}"] = cls()

        def build(self: Any) -> None:
            for number, step in enumerate(network.steps):
                target = getattr(self, f"n{step.node}")
                for place, (source, delay) in enumerate(step.inputs):
                    origin = getattr(self, f"n{network.steps[source].node}")
                    self.connect(
                        getattr(origin, f"o{source}"),
                        getattr(target, f"i{number}_{place}"),
                        after=delay,
                    )

        namespace["build"] = build

    return new_class(f"Network{network.seed}", (Reactor,), {}, fill)


def program_of(network: Network) -> Program:
    """Return the network as a program."""
    return elaborate(main_of(network))


def _node(network: Network, node: int) -> type[Reactor]:
    def fill(namespace: MutableMapping[str, Any]) -> None:
        namespace["memory"] = state(0)
        namespace["timer"] = Timer(*network.timers[node])
        namespace["runs"] = state(factory=dict)
        for number, step in enumerate(network.steps):
            if step.node != node:
                continue
            namespace[f"o{number}"] = Output[Any]()
            for place in range(len(step.inputs)):
                namespace[f"i{number}_{place}"] = Input[Any]()
            if step.action is not None:
                namespace[f"a{number}"] = LogicalAction[Any](step.action)
            namespace[f"r{number}"] = _reaction(number, step)

    return new_class(f"Node{network.seed}_{node}", (Reactor,), {}, fill)


def _reaction(number: int, step: Step) -> object:
    names = [f"i{number}_{place}" for place in range(len(step.inputs))]
    read = [name for name, only in zip(names, step.sources, strict=True) if only]
    triggers: list[Any] = [name for name in names if name not in read]
    effects: list[Any] = [f"o{number}"]
    if step.action is not None:
        triggers.append(f"a{number}")
        effects.append(f"a{number}")
    if step.timer or not triggers:
        triggers.append("timer")
    body = _body(number, step, names)
    return reaction(*triggers, sources=read, effects=effects, stops=step.stops)(body)


def _body(number: int, step: Step, names: list[str]) -> Callable[[Any], None]:
    def react(self: Any) -> None:
        stir = Stir(step.salt)
        stir.add(self.elapsed)
        stir.add(self.tag.microstep)
        stir.add(self.memory)
        for name in names:
            port = getattr(self, name)
            stir.add(port.is_present)
            stir.add(port.value)
        runs = self.runs[number] = self.runs.get(number, 0) + 1
        self.memory = stir.pick(1 << 20)
        if runs > step.budget:
            return
        if stir.pick(4) > 0:
            getattr(self, f"o{number}").set(stir.pick(1000))
        if step.action is not None and stir.pick(3) == 0:
            getattr(self, f"a{number}").schedule(0, stir.pick(1000))
        if step.stops and stir.pick(6) == 0:
            self.request_stop()

    return react


def cut_network(network: Network, program: Program, seed: int) -> Cut:
    """Place the nodes of a network at random on two to four federates."""
    random = Random(seed)
    count = random.randint(2, min(4, network.nodes))
    where = [random.randrange(count) for _ in range(network.nodes)]
    for federate in range(count):
        where[random.randrange(network.nodes)] = federate
    placement = {f"main.n{node}": f"f{f}" for node, f in enumerate(where)}
    return cut_program(program, Federation(placement, rest="f0"))
