# SPDX-License-Identifier: Apache-2.0
"""DQN as a reactor program: rollouts, replay, learner and evaluation are reactors.

A ``Flow`` describes what is trained; the reactor program follows from it. This example
prints the reactors and the iterations. The weights are bit-identical with one worker
and with two, and for a run that was stopped, saved, and resumed.

Run it: ``python examples/dqn_flow.py`` (needs ``reactorl[train]``)
"""

import jax
import numpy as np

from reactorl.rl import DQN, Flow

FLOW = Flow(
    "CartPole-v1",
    DQN(
        total_timesteps=1_024,
        num_envs=8,
        num_steps=16,
        hidden=(32,),
        buffer_size=2_000,
        batch_size=32,
        learning_starts=200,
        train_frequency=32,
    ),
    eval_every=512,
    eval_episodes=2,
    seed=1,
)


def same(one: object, other: object) -> bool:
    """Return whether two sets of weights are bit-identical."""
    pairs = zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True)
    return all(np.array_equal(a, b) for a, b in pairs)


def main() -> None:
    """Print the program; train in three ways; compare."""
    for reactor in FLOW.program().reactors:
        print(f"{reactor.path}: {reactor.cls.__name__}")

    with FLOW.start(workers=1) as run:
        for iteration in run.iterations():
            learned = "learned" if iteration.metrics else "collected"
            played = ", evaluated" if iteration.evaluation else ""
            number, steps = iteration.number, iteration.steps
            print(f"iteration {number}: {steps} steps, {learned}{played}")
        weights = run.weights

    print(f"2 workers: same weights: {same(FLOW.run(workers=2), weights)}")

    with FLOW.start(workers=2) as first:
        for _ in range(3):
            first.step()
        saved = first.save()
    with FLOW.start(workers=1, saved=saved) as second:
        for _ in second.iterations():
            pass
        print(
            f"stopped after 3 iterations: same weights: {same(second.weights, weights)}"
        )


if __name__ == "__main__":
    main()
