# SPDX-License-Identifier: Apache-2.0
"""Generated programs, cut at random and simulated."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

from reactorl._program.cut import analyze_cut
from reactorl._program.placement import Federation
from reactorl._runtime.recording import Recording
from tests.federation.simulation import Simulation

if TYPE_CHECKING:
    from reactorl._program.cut import Cut
    from reactorl.testing.generated import GeneratedProgram


def random_cut(
    generated: GeneratedProgram, seed: int, most: int = 4, tries: int = 20
) -> Cut | None:
    """Place the reactors of a program at random; None if nothing was found to cut."""
    random = Random(seed)
    program = generated.program
    for _ in range(tries):
        names = [f"f{index}" for index in range(random.randint(2, most))]
        placement = {
            node.path: random.choice(names)
            for node in program.reactors
            if node.scope < 0 and random.random() < 0.7
        }
        found = analyze_cut(program, Federation(placement, rest=random.choice(names)))
        if found.cut is not None and len(found.cut.names) > 1:
            return found.cut
    return None


def simulate(
    generated: GeneratedProgram,
    cut: Cut,
    *,
    seed: int,
    **options: Any,
) -> Simulation:
    """Return the simulation of a generated program, with its options."""
    recording = None
    if generated.physical_events:
        recording = Recording(events=list(generated.physical_events), missed=[])
    return Simulation(
        generated.program,
        cut,
        seed=seed,
        recording=recording,
        timeout=generated.timeout,
        run_seed=generated.seed,
        **options,
    )
