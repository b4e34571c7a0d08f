# SPDX-License-Identifier: Apache-2.0
"""A run whose environment cannot be restored is trained, and says so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from reactorl.rl import QLearning, Trainer, read_checkpoint
from tests.rl.drifting import Drifting

if TYPE_CHECKING:
    from pathlib import Path

OPTIONS: Any = {"progress": False, "final_episodes": 0}


class Stop:
    """Stops after the first iterations."""

    def __getattr__(self, name: str) -> Any:
        return lambda session, *_: (
            name == "on_iteration"
            and (session.iteration == 2 and session.stop("enough"))
        )


@pytest.mark.parametrize("placement", ["thread", "process"])
def test_environment_that_cannot_be_restored_is_reported(
    placement: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    task = QLearning(num_envs=4, num_steps=5, total_timesteps=80).task(
        Drifting, rollouts=2, eval_every=0, placement=placement
    )
    run = tmp_path / "run"

    stopped = Trainer(task, run, callbacks=[Stop()], **OPTIONS).fit()  # type: ignore[list-item]

    (sentence,) = stopped.not_exact
    assert sentence.startswith("4 environments of Drifting cannot be resumed exactly")
    assert "repeating its 10 recorded actions gave other" in sentence
    assert sentence in caplog.text
    assert sentence in stopped.summary()
    assert sentence in (run / "report.html").read_text()
    (about,) = read_checkpoint(run / "checkpoint", task).about["not_exact"]
    assert (about["env"], about["count"]) == ("Drifting", 4)

    caplog.clear()
    result = Trainer(task, run, resume=True, **OPTIONS).fit()

    assert "cannot be resumed exactly and begin a new episode" in caplog.text
    assert result.steps == 80
    assert not result.stopped
