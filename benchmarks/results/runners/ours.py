# SPDX-License-Identifier: Apache-2.0
"""ReactoRL: the preset of the environment, or the defaults where there is none."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchmarks.results.referee import Referee


def run(request: dict[str, Any], referee: Referee) -> dict[str, Any]:
    """Train until the referee ends it."""
    from dataclasses import fields, replace

    from reactorl.rl import FlowError, preset, task_flags

    wanted, name = request["task"], request["algorithm"]
    changes: dict[str, Any] = {"seed": request["seed"], "eval_every": 0}
    task: Any
    try:
        task = preset(name, wanted["env_id"]).task(**changes)
    except FlowError:  # an environment for which the defaults were tuned
        _, _, algorithm = task_flags(name)
        task = algorithm.task(wanted["env_id"], **changes)
    if wanted["total"]:  # a smoke test
        known = {field.name for field in fields(task.algorithm)}
        short = {"total_timesteps": wanted["total"], "learning_starts": 256}
        short = {k: v for k, v in short.items() if k in known}
        task = replace(task, algorithm=replace(task.algorithm, **short))
    facts = {"preset": task.preset}
    if wanted["curve"]:
        return facts | _curve(task, request)

    def play(episodes: int, seed: int) -> list[float]:
        played = task.play(training.weights, episodes=episodes, seed=seed)
        return [float(episode.episode_return) for episode in played]

    with task.start() as training:
        for iteration in training.iterations():
            steps = iteration.number * task.steps_per_iteration
            last = iteration.number == task.iterations
            if (referee.due(steps) or last) and referee.evaluate(steps, play):
                break
    return facts


def _curve(task: Any, request: dict[str, Any]) -> dict[str, Any]:  # noqa: ANN401
    """Train in a run directory, from where an earlier call stopped."""
    from dataclasses import replace

    from reactorl.rl import Trainer

    directory = Path(request["directory"])
    task = replace(task, eval_every=50_000, eval_episodes=4)
    resume = (directory / "checkpoint").exists()
    trainer = Trainer(
        task, directory, resume=resume, checkpoint_every=50_000, progress=False
    )
    result = trainer.fit()
    return {
        "steps": result.steps,
        "total_steps": result.total_steps,
        "training_seconds": result.seconds,
        "final_returns": list(result.final_returns),
    }
