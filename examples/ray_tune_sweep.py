# SPDX-License-Identifier: Apache-2.0
"""A sweep with Ray Tune: two learning rates, with the weights of single trainings.

Each trial is a training in a process of its own, on any node of the cluster. Its result
is a function of its configuration: it does not depend on how many CPUs it has, nor on
whether Tune stopped and resumed it. Its checkpoints are directories of runs, which
``reactorl eval`` evaluates.

Run it: ``python examples/ray_tune_sweep.py`` (needs ``reactorl[tune]``)
"""

import logging
import os
import tempfile
from pathlib import Path

import numpy as np

os.environ["RAY_AIR_NEW_OUTPUT"] = "0"  # of Tune: verbose=0 is then silent
import ray
from ray import tune

from reactorl.rl import Flow, QLearning, read_checkpoint, tune_trainable


def task(config: dict[str, float]) -> Flow:
    """Return what a trial trains."""
    algorithm = QLearning(total_timesteps=8_192, num_envs=4, num_steps=16, **config)
    options = {"eval_every": 1_024, "eval_max_steps": 100}
    return Flow("CliffWalking-v1", algorithm, seed=1, **options)


def main() -> None:
    """Run the sweep, and train the best configuration once more without Tune."""
    ray.init(
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        logging_level=logging.ERROR,
    )
    with tempfile.TemporaryDirectory() as directory:
        tuner = tune.Tuner(
            tune_trainable(task, report_every=2_048),
            param_space={"learning_rate": tune.grid_search([0.05, 0.5])},
            tune_config=tune.TuneConfig(metric="eval/mean_return", mode="max"),
            run_config=tune.RunConfig(
                storage_path=directory,
                verbose=0,
                checkpoint_config=tune.CheckpointConfig(checkpoint_at_end=True),
            ),
        )
        results = tuner.fit()
        for result in results:
            rate = result.config["learning_rate"]
            steps = result.metrics["global_step"]
            mean = result.metrics["eval/mean_return"]
            print(f"learning rate {rate}: {steps} steps, mean return {mean:g}")

        best = results.get_best_result()
        print(f"best: {best.config}")
        path = Path(best.checkpoint.path) / "checkpoint"
        flow = task(best.config)
        weights = flow.trained_weights(read_checkpoint(path, flow).data)
        alone = flow.run(workers=1)
        print("same weights as without Tune:", np.array_equal(weights, alone))
    ray.shutdown()


if __name__ == "__main__":
    main()
