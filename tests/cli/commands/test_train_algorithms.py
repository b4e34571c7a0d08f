# SPDX-License-Identifier: Apache-2.0
"""Every registered algorithm can be trained and evaluated."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from reactorl.cli.main import main
from reactorl.rl.algorithms.registry import ALGORITHMS

if TYPE_CHECKING:
    from pathlib import Path

TINY = [
    "--num-envs=4",
    "--num-steps=8",
    "--total-timesteps=96",
    "--eval-every=0",
    "--final-episodes=2",
    "--workers=2",
]
OWN = {
    "dqn": ["--learning-starts=32"],
    "ippo": ["--env-id=tests.rl.meeting"],  # what it has by default, not everybody has
    "sac": ["--learning-starts=32"],
    "td3": ["--learning-starts=32"],
}


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_algorithm_trains_and_can_be_evaluated(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = [*TINY, *OWN.get(name, []), f"--runs-dir={tmp_path}"]

    assert main(["train", name, *flags]) == 0

    (run,) = tmp_path.iterdir()
    assert f"__{name}__1__" in run.name
    assert (run / "checkpoint").is_file()
    assert main(["eval", str(run), "--episodes=2"]) == 0
    assert "2 episodes" in capsys.readouterr().out
