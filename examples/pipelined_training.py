# SPDX-License-Identifier: Apache-2.0
"""Pipelined training: rollouts and learner run concurrently, reproducibly.

With ``lag=0`` the learner learns from what was collected in the same iteration: it
waits for the rollouts, and they wait for its weights. With ``lag=1`` both use what the
iteration before gave: they do not depend on each other within an iteration, and run
concurrently. The lag is part of the program, not a matter of timing, so asynchronous
training gives the same bits for any number of workers. The lag changes what is learned;
the number of workers does not.

Run it: ``python examples/pipelined_training.py`` (needs ``reactorl[train]``)
"""

import jax
import numpy as np

from reactorl import Program
from reactorl.rl import IMPALA, Flow


def flow(lag: int) -> Flow:
    """Return a training task with a policy lag."""
    algorithm = IMPALA(  # corrects for the stale policy with V-trace
        total_timesteps=768, num_envs=8, num_steps=16, hidden=(32,), lag=lag
    )
    return Flow("CartPole-v1", algorithm, eval_every=0, seed=3)


def waits(program: Program, reactor: str, other: str) -> bool:
    """Return whether a reactor has to wait for another within a tag."""
    paths = [program.reactors[r.reactor].path for r in program.reactions]
    before = program.order.upstream
    reached = [r.id for r in program.reactions if paths[r.id].startswith(reactor)]
    for reaction in reached:  # grows while we walk upstream
        reached += [up for up in before[reaction] if up not in reached]
    return any(paths[reaction].startswith(other) for reaction in reached)


def same(ours: object, theirs: object) -> bool:
    """Return whether two sets of weights are bit-identical."""
    pairs = zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True)
    return all(np.array_equal(a, b) for a, b in pairs)


def main() -> None:
    """Train with and without a lag, on one worker and on two."""
    learned = {}
    for lag in (0, 1):
        program = flow(lag).program()
        waiting = waits(program, "main.learner", "main.rollout")
        print(f"lag {lag}: the learner waits for rollouts: {waiting}")
        one, two = (flow(lag).run(workers=workers) for workers in (1, 2))
        print(f"  same weights with 1 and 2 workers: {same(one, two)}")
        learned[lag] = one
    print(f"lag 0 and lag 1 learn the same: {same(learned[0], learned[1])}")


if __name__ == "__main__":
    main()
