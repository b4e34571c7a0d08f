# SPDX-License-Identifier: Apache-2.0
"""rlox."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.results.referee import played

if TYPE_CHECKING:
    from benchmarks.results.referee import Referee


def run(request: dict[str, Any], referee: Referee) -> dict[str, Any]:
    """Train until the referee ends it."""
    import numpy as np
    from rlox import Trainer
    from rlox.callbacks import Callback

    env_id, settings = request["task"]["env_id"], dict(request["settings"])
    total = int(settings.pop("total_timesteps"))
    per_call = int(settings.pop("steps_per_call", 1))

    def play(episodes: int, seed: int) -> list[float]:
        return played(env_id, act, episodes, seed)

    def act(observations: Any) -> Any:  # noqa: ANN401
        normalized = getattr(trainer.algo, "vec_normalize", None)
        if normalized is not None:
            observations = normalized.normalize_obs(observations)
        return [
            np.asarray(trainer.predict(one, deterministic=True))
            for one in observations.astype(np.float32)
        ]

    class Evaluation(Callback):
        calls = 0

        def on_step(self, **_: Any) -> bool:  # noqa: ANN401
            self.calls += 1
            steps = self.calls * per_call
            return not (referee.due(steps) and referee.evaluate(steps, play))

    evaluation = Evaluation()
    trainer = Trainer(
        request["algorithm"],
        env=env_id,
        seed=request["seed"],
        callbacks=[evaluation],
        config=settings,
    )
    trainer.train(total_timesteps=request["task"]["total"] or total)
    if referee.steps < evaluation.calls * per_call:
        referee.evaluate(evaluation.calls * per_call, play)
    return {}
