# SPDX-License-Identifier: Apache-2.0
"""Small trainings of the matrix, and a program that is killed in the middle of them.

``python -m tests.rl.matrix.trainings DIRECTORY NAME...`` starts all trainings that are
named, waits until each has passed its checkpoint, and kills itself.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gymnasium import spaces

from reactorl.rl import DQN, IPPO, PPO, SAC, TD3, Callback, Trainer
from tests.rl.matrix.environments import make, register

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reactorl.rl import Iteration, Task, TrainingResult, TrainingSession

ITERATIONS: Final = 5
CHECKPOINT: Final = 3
"""After which iteration there is a checkpoint; the kill is one iteration later."""
SIZE: Final[dict[str, Any]] = {"num_envs": 4, "num_steps": 8, "hidden": (8,)}
REPLAY: Final = {"buffer_size": 200, "batch_size": 8, "learning_starts": 32}
STEPS: Final = ITERATIONS * 4 * 8


def task_of(name: str) -> Task:
    """Return the training with a name, ``algorithm environment``."""
    algorithm, _, env_id = name.partition(" ")
    if algorithm != "ippo":
        register(env_id)
    options: dict[str, Any] = {"seed": 3, "eval_every": 0}
    return ALGORITHMS[algorithm].task(env_id, **options)


ALGORITHMS: Final[dict[str, Any]] = {
    "ppo": PPO(**SIZE, total_timesteps=STEPS, num_minibatches=2, update_epochs=2),
    "dqn": DQN(
        **SIZE,
        **REPLAY,
        total_timesteps=STEPS,
        train_frequency=8,
        target_network_frequency=32,
    ),
    "sac": SAC(**SIZE, **REPLAY, total_timesteps=STEPS),
    "td3": TD3(**SIZE, **REPLAY, total_timesteps=STEPS),
    "ippo": IPPO(**SIZE, total_timesteps=STEPS, num_minibatches=2, update_epochs=2),
}


def algorithms_for(env_id: str) -> list[str]:
    """Return the algorithms that can act in an environment."""
    env = make(env_id)
    env.close()
    if isinstance(env.action_space, spaces.Discrete):
        return ["ppo", "dqn"]
    return ["ppo", "sac", "td3"]


def directory_of(parent: Path, name: str) -> Path:
    """Return the run directory of a training."""
    return parent / name.replace("/", "-").replace(" ", "-")


def train(name: str, directory: Path, *callbacks: Callback) -> TrainingResult:
    """Train to the end."""
    options = _options()
    return Trainer(task_of(name), directory, callbacks=callbacks, **options).fit()


def resume(name: str, directory: Path) -> TrainingResult:
    """Continue a training that was killed, with another number of workers."""
    register(name.partition(" ")[2])
    return Trainer.from_directory(directory, **_options(workers=1)).fit()


def _options(workers: int = 2) -> dict[str, Any]:
    every = CHECKPOINT * STEPS // ITERATIONS
    return {
        "workers": workers,
        "checkpoint_every": every,
        "final_episodes": 0,
        "progress": False,
    }


# -- the program that is killed --------------------------------------------------------


def kill_in_the_middle(parent: Path, names: Iterable[str]) -> None:
    """Start trainings in a process that is killed after all wrote a checkpoint.

    The failure of a training is in a file ``error`` in its directory.
    """
    done = subprocess.run(
        [sys.executable, "-m", "tests.rl.matrix.trainings", str(parent), *names],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr


class _Wait(Callback):
    """Stays in the iteration after the checkpoint for ever."""

    def __init__(self, arrived: threading.Semaphore) -> None:
        self.arrived = arrived

    def on_iteration(self, session: TrainingSession, iteration: Iteration) -> None:
        if iteration.number == CHECKPOINT + 1:
            self.arrived.release()
            threading.Event().wait()


def _start(parent: Path, name: str, arrived: threading.Semaphore) -> None:
    directory = directory_of(parent, name)
    try:
        train(name, directory, _Wait(arrived))
    except BaseException:
        directory.mkdir(parents=True, exist_ok=True)
        (directory / "error").write_text(traceback.format_exc())
        arrived.release()


if __name__ == "__main__":
    place, *all_names = sys.argv[1:]
    waiting = threading.Semaphore(0)
    for each in all_names:
        threading.Thread(target=_start, args=(Path(place), each, waiting)).start()
        waiting.acquire()  # one after the other: they would compete for the cores
    os.kill(os.getpid(), signal.SIGKILL)
