# SPDX-License-Identifier: Apache-2.0
"""Pipelined training: rollouts and learner side by side, and still the same bits.

With ``lag=0`` the learner learns from what was collected in the same round, so it waits
for the rollouts, and they wait for its weights: turns. With ``lag=1`` everybody works
with what the round before gave; nobody waits for anybody within a round, and both work
at the same time. How old the weights are is a number in the program, not a matter of
who was faster. So asynchronous training, too, can be repeated bit for bit, on any
number of workers. Notice that the lag changes what is learned, and workers do not.

Run it: ``python examples/pipelined_training.py`` (needs ``reactorl[train]``)
"""

import jax
import numpy as np

from reactorl import Program
from reactorl.rl import IMPALA, Flow

ALGORITHM = IMPALA(hidden=(32,))  # makes up for weights that are older


def flow(lag: int) -> Flow:
    """Return a training with weights that are so many rounds older than necessary."""
    return Flow(
        "CartPole-v1",
        ALGORITHM,
        num_envs=8,
        rollouts=4,
        steps=16,
        rounds=6,
        lag=lag,
        seed=3,
    )


def waits(program: Program, reactor: str, other: str) -> bool:
    """Return whether a reactor has to wait for another within a tag."""
    paths = [program.reactors[r.reactor].path for r in program.reactions]
    before = program.order.upstream
    reached = [r.id for r in program.reactions if paths[r.id].startswith(reactor)]
    for reaction in reached:  # grows while we walk upstream
        reached += [up for up in before[reaction] if up not in reached]
    return any(paths[reaction].startswith(other) for reaction in reached)


def same(ours: object, theirs: object) -> bool:
    """Return whether two sets of weights are the same, bit for bit."""
    pairs = zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True)
    return all(np.array_equal(a, b) for a, b in pairs)


def main() -> None:
    """Train with and without a lag, on one worker and on two."""
    learned = {}
    for lag in (0, 1):
        program = flow(lag).program()
        turns = waits(program, "main.learner", "main.rollout")
        print(f"lag {lag}: in a round, the learner waits for rollouts: {turns}")
        one, two = (flow(lag).run(workers=workers) for workers in (1, 2))
        print(f"  same weights with 1 and 2 workers: {same(one, two)}")
        learned[lag] = one
    print(f"lag 0 and lag 1 learn the same: {same(learned[0], learned[1])}")


if __name__ == "__main__":
    main()
