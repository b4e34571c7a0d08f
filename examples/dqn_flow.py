# SPDX-License-Identifier: Apache-2.0
"""DQN as a dataflow program: rollouts, replay, learner and evaluation are reactors.

A ``Flow`` says what is trained and how its parts are synchronised; the reactor program
follows from that. Its parts can be seen below, and a round's results as they come. The
weights are the same bits with one worker as with two, and for a run that was stopped in
the middle, saved, and taken up again by another.

Run it: ``python examples/dqn_flow.py`` (needs ``reactorl[train]``)
"""

import jax
import numpy as np

from reactorl.rl import DQN, Flow, ReplayConfig, Run

FLOW = Flow(
    "CartPole-v1",
    DQN(hidden=(32,)),
    num_envs=8,
    rollouts=4,
    steps=16,
    rounds=8,
    replay=ReplayConfig(capacity=2_000, batch_size=32, updates=4, starts_at=200),
    evaluate_every=4,
    evaluation_episodes=2,
    seed=1,
)


def same(ours: object, theirs: object) -> bool:
    """Return whether two sets of weights are the same, bit for bit."""
    pairs = zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True)
    return all(np.array_equal(a, b) for a, b in pairs)


def main() -> None:
    """Look at the program; train it in three ways; compare."""
    for reactor in FLOW.program().reactors:
        print(f"{reactor.path}: {reactor.cls.__name__}")

    with Run(FLOW, workers=1) as run:
        for round in run.rounds():
            learned = "learned" if round.metrics else "collected"
            played = ", evaluated" if round.evaluation else ""
            print(f"round {round.number}: {round.steps} steps, {learned}{played}")
        weights = run.weights

    print(f"2 workers: same weights: {same(FLOW.run(workers=2), weights)}")

    with Run(FLOW, workers=2) as first:
        for _ in range(3):
            first.step()
        saved = first.save()
    with Run(FLOW, workers=1, saved=saved) as second:
        for _ in second.rounds():
            pass
        print(f"stopped after 3 rounds: same weights: {same(second.weights, weights)}")


if __name__ == "__main__":
    main()
