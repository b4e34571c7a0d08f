# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN401
"""``reactorl train ippo``: the same features as for other algorithms."""

from __future__ import annotations

import os
import re
import signal
import sys
from html.parser import HTMLParser
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from reactorl.cli.main import main
from reactorl.rl import read_checkpoint
from reactorl.rl.flow.multi_agent import MultiAgentRun
from reactorl.rl.runs.metrics import read_metrics

if TYPE_CHECKING:
    from pathlib import Path

    Capture = pytest.CaptureFixture[str]

SMALL = [
    *("--num-envs=3", "--num-steps=10", "--total-timesteps=240", "--hidden=8"),
    *("--num-minibatches=2", "--update-epochs=2", "--checkpoint-every=60"),
    *("--eval-every=60", "--eval-episodes=3", "--final-episodes=5"),
]
ROUNDS = 8
NEEDS_MPE2 = "mpe2 needs pygame, which has no wheel for 3.14t"


def train(runs: Path, *flags: str, env: str = "tests.rl.meeting") -> int:
    line = ["train", "ippo", *SMALL, f"--env-id={env}", f"--runs-dir={runs}", *flags]
    return main(line)


def only(runs: Path) -> Path:
    (found,) = runs.iterdir()
    return found


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that was trained to its end, by one worker."""
    runs = tmp_path_factory.mktemp("trained")
    assert train(runs, "--workers=1") == 0
    return only(runs)


def rows(run: Path) -> list[tuple[int, str, float]]:
    """All numbers of a run but how fast it was."""
    found = read_metrics(run / "metrics.csv")
    return [(step, key, v) for step, _, key, v in found if key != "charts/SPS"]


def values(run: Path, key: str) -> list[float]:
    return [v for _, k, v in rows(run) if k == key]


def learned(run: Path, rounds: int = ROUNDS) -> dict[str, bytes]:
    """What each agent and each environment ends with, as bits."""
    data = read_checkpoint(run / "checkpoint").data
    assert data["round"] == rounds
    return {name: _bits(part) for name, part in data["parts"].items()}


def _bits(data: Any) -> bytes:
    if isinstance(data, np.ndarray):
        return data.tobytes()
    if isinstance(data, dict):
        return b"".join(_bits(k) + _bits(v) for k, v in data.items())
    if isinstance(data, list | tuple):
        return b"(" + b",".join(map(_bits, data)) + b")"
    return repr(data).encode()


# -- a whole training -----------------------------------------------------------------


def test_metrics_have_the_keys_of_cleanrl_and_of_each_agent(run: Path) -> None:
    found = rows(run)

    assert {key for _, key, _ in found} >= {
        "charts/episodic_return",
        "charts/episodic_return-left",
        "charts/episodic_return-right",
        "charts/episodic_length",
        "charts/learning_rate",
        "losses/policy_loss",
        "losses/policy_loss-left",
        "losses/value_loss-right",
        "eval/mean_return",
        "eval/final_return",
    }
    assert [step for step, _, _ in found] == sorted(step for step, _, _ in found)
    both = [values(run, f"charts/episodic_return-{a}") for a in ("left", "right")]
    means = [sum(each) / 2 for each in zip(*both, strict=True)]
    assert values(run, "charts/episodic_return") == means
    each = [values(run, f"losses/value_loss-{agent}") for agent in ("left", "right")]
    assert values(run, "losses/value_loss") == [
        sum(pair) / 2 for pair in zip(*each, strict=True)
    ]
    # A turn costs 0.1, and a meeting gives 1; or nobody meets, and 20 turns are over.
    lengths = values(run, "charts/episodic_length")
    assert values(run, "charts/episodic_return-left") == [
        pytest.approx(1 - 0.1 * (n - 1) if r > -1.99 else -2.0)
        for n, r in zip(lengths, means, strict=True)
    ]
    (events,) = run.glob("events.out.tfevents.*")
    assert b"charts/episodic_return-left" in events.read_bytes()


def test_evaluations_are_as_frequent_as_requested(run: Path) -> None:
    found = [step for step, key, _ in rows(run) if key == "eval/mean_return"]

    # Three episodes of up to 20 turns, in three environments, 10 turns in a round.
    assert len(found) >= 2
    assert all(later - one >= 60 for one, later in pairwise(found))


class _Headings(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._tag = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self._tag = tag

    def handle_data(self, data: str) -> None:
        if self._tag in ("h1", "h2") and data.strip():
            self.found.append(data.strip())


def test_run_directory_has_report_curves_and_the_dataflow(run: Path) -> None:
    headings = _Headings()
    headings.feed((run / "report.html").read_text())

    assert headings.found[0] == "IPPO on tests.rl.meeting"
    assert {"return of left", "return of right", "policy loss"} <= {*headings.found}
    assert not any("-left" in heading for heading in headings.found)
    assert (run / "curve.png").read_bytes().startswith(b"\x89PNG")
    dataflow = (run / "dataflow.md").read_text()
    assert all(part in dataflow for part in ("world \u00d73", "pupil \u00d72", "evalu"))
    assert not list(run.glob(".*"))


def test_summary_and_progress_are_printed(tmp_path: Path, capsys: Capture) -> None:
    assert train(tmp_path, "--total-timesteps=60") == 0

    out, err = capsys.readouterr()
    assert out.startswith("IPPO on tests.rl.meeting: done\n")
    assert "mean of 5 episodes" in out
    assert err.splitlines()[-1].startswith("steps 60 of 60")


def test_a_terminal_gets_a_live_display(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")

    assert train(tmp_path, "--total-timesteps=60") == 0

    assert "IPPO on tests.rl.meeting" in capsys.readouterr().err


def test_help_explains_every_flag(capsys: Capture) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(["train", "ippo", "--help"])

    assert exit_.value.code == 0
    shown = capsys.readouterr().out
    for flag in (
        "--env-id", "--total-timesteps", "--num-envs", "--num-steps", "--seed",
        "--workers", "--learning-rate", "--anneal-lr", "--gamma", "--gae-lambda",
        "--num-minibatches", "--update-epochs", "--norm-adv", "--clip-coef",
        "--clip-vloss", "--ent-coef", "--vf-coef", "--max-grad-norm", "--track",
        "--resume", "--eval-every",
    ):  # fmt: skip
        assert flag in shown
    assert "parallel_env" in shown
    assert "--rollouts" not in shown  # every environment is a reactor
    assert "--lag" not in shown  # agents learn as soon as they can


def stop_after(rounds: int, patch: pytest.MonkeyPatch, number: int) -> None:
    """Let a signal arrive before a round."""
    step = MultiAgentRun.step

    def stepped(self: MultiAgentRun) -> Any:
        if self.done + 1 == rounds:
            os.kill(os.getpid(), number)
        return step(self)

    patch.setattr(MultiAgentRun, "step", stepped)


@pytest.mark.parametrize(
    ("number", "status", "rounds"), [(signal.SIGINT, 130, 3), (signal.SIGTERM, 143, 5)]
)
def test_ctrl_c_writes_a_checkpoint_and_resume_ends_with_the_same_bits(
    number: int,
    status: int,
    rounds: int,
    run: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Capture,
) -> None:
    with monkeypatch.context() as patch:
        stop_after(rounds, patch, number)
        assert train(tmp_path, "--workers=2") == status
    path = only(tmp_path)
    said = capsys.readouterr().out
    assert "IPPO on tests.rl.meeting: stopped" in said
    assert f"reactorl train ippo --resume {path}" in said
    assert learned(path, rounds)
    assert "stopped" in (path / "report.html").read_text()

    assert main(["train", "ippo", "--resume", str(path), "--final-episodes=5"]) == 0

    assert learned(path) == learned(run)
    assert rows(path) == rows(run)


def test_resumed_particle_environments_end_with_the_same_bits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("mpe2", reason=NEEDS_MPE2)
    env = "mpe2.simple_spread_v3"
    assert train(tmp_path / "whole", "--workers=1", env=env) == 0
    with monkeypatch.context() as patch:
        stop_after(4, patch, signal.SIGINT)  # turn 40: in the middle of an episode
        assert train(tmp_path / "parts", "--workers=2", env=env) == 130
    whole, parts = only(tmp_path / "whole"), only(tmp_path / "parts")

    assert main(["train", "ippo", "--resume", str(parts), "--final-episodes=5"]) == 0

    assert parts.name.startswith("mpe2.simple_spread_v3__ippo__1__")
    assert learned(parts) == learned(whole)
    assert rows(parts) == rows(whole)


def test_resume_with_other_settings_fails(run: Path, capsys: Capture) -> None:
    assert main(["train", "ippo", "--resume", str(run), "--gamma", "0.5"]) == 2
    said = capsys.readouterr().err
    assert "the checkpoint is of another task: algorithm.gamma is 0.5 here" in said
    assert main(["train", "ppo", "--resume", str(run)]) == 2
    assert "this is a run of ippo, not of ppo" in capsys.readouterr().err


# -- what cannot be done --------------------------------------------------------------


@pytest.mark.parametrize(
    ("env", "match"),
    [
        (
            "nowhere.simple_v3",
            "there is no module 'nowhere' for nowhere.simple_v3\n"
            "  help: Install the package that has the environment.",
        ),
        (
            "tests.rl.meting",
            "there is no environment 'meting' in tests.rl\n  help: It has: meeting,",
        ),
        ("tests.rl.trained", "module 'tests.rl.trained' has no parallel_env\n"),
        ("CartPole-v1", "'CartPole-v1' is not the name of a module\n"),
        (
            "tests.rl.meeting:none",
            "'tests.rl.meeting' has no 'none' that can be called",
        ),
        (
            "tests.rl.meeting:broken",
            "tests.rl.meeting:broken cannot be made with (): no table is free\n",
        ),
        (
            "tests.rl.meeting:Switches",
            "agent 'left': action space must be Discrete, Box, MultiDiscrete or "
            "MultiBinary, or a Dict or Tuple of these for IPPO, got Text(",
        ),
        (
            "tests.rl.meeting:Wordy",
            "or a Dict or Tuple of these, got Sequence(Text(1, 8",
        ),
    ],
)
def test_unusable_environments_give_one_message(
    env: str, match: str, tmp_path: Path, capsys: Capture
) -> None:
    assert train(tmp_path, env=env) == 2

    out, err = capsys.readouterr()
    assert match in err
    assert re.fullmatch(r"reactorl: error: .+\n(  help: .+\n)?", err)
    assert out == ""
    assert list(tmp_path.iterdir()) == []


def test_missing_modules_of_an_environment_are_named(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lacking_game.py").write_text("import some_drawing_library\n")
    (tmp_path / "turns_game.py").write_text("def env(): ...\n")
    (tmp_path / "odd_game.py").write_text("raise RuntimeError('not today')\n")
    monkeypatch.syspath_prepend(tmp_path)
    for env, match in (
        ("lacking_game", "lacking_game needs some_drawing_library, which is not inst"),
        (
            "turns_game",
            "module 'turns_game' has no parallel_env: its agents take turns",
        ),
        ("odd_game", "odd_game cannot be imported: not today"),
    ):
        assert train(tmp_path / "runs", env=env) == 2
        assert match in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


def test_an_environment_may_be_in_the_current_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = "from tests.rl.meeting import Meeting as parallel_env\n"
    (tmp_path / "game_of_mine.py").write_text(game)
    monkeypatch.setattr(sys, "path", [p for p in sys.path if p])
    monkeypatch.chdir(tmp_path)
    few = ("--total-timesteps=30", "--final-episodes=0")

    assert train(tmp_path / "runs", *few, env="game_of_mine") == 0

    del sys.modules["game_of_mine"]
    monkeypatch.setattr(sys, "path", [p for p in sys.path if p != str(tmp_path)])
    assert main(["eval", str(only(tmp_path / "runs")), "--episodes=1"]) == 0


@pytest.mark.parametrize(
    ("flag", "match"),
    [
        ("--num-envs=0", "num_envs must be at least 1, got 0"),
        ("--num-steps=0", "num_steps must be at least 1, got 0"),
        (
            "--num-minibatches=99",
            "must be at most num_envs * num_steps = 30",
        ),
        ("--workers=0", "workers must be from 1 to 1024, got 0"),
    ],
)
def test_invalid_flags_give_one_message(
    flag: str, match: str, tmp_path: Path, capsys: Capture
) -> None:
    assert train(tmp_path, flag) == 2

    assert match in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_failing_environment_ends_the_training(
    tmp_path: Path, capsys: Capture
) -> None:
    assert train(tmp_path, env="tests.rl.meeting:Torn") == 1

    said = capsys.readouterr().err
    assert "the line is torn" in said
    assert "the training failed. There is no checkpoint yet." in said
    assert "failed" in (only(tmp_path) / "report.html").read_text()


# -- eval, runs, plot, graph, diff ----------------------------------------------------


def test_eval_prints_the_return_of_each_agent(run: Path, capsys: Capture) -> None:
    assert main(["eval", str(run), "--episodes", "30"]) == 0
    first = capsys.readouterr().out
    assert main(["eval", str(run), "--episodes", "30"]) == 0

    assert capsys.readouterr().out == first
    assert f"{run} after 240 steps: 30 episodes" in first
    means = re.findall(r"^ +(\S+) +mean (\S+),", first, re.MULTILINE)
    assert [name for name, _ in means] == ["return", "left", "right"]
    assert means[0][1] == means[1][1] == means[2][1]  # both get the same


def test_eval_makes_videos(run: Path, capsys: Capture) -> None:
    from PIL import Image

    assert main(["eval", str(run), "--episodes", "2", "--capture-video"]) == 0

    said = capsys.readouterr().out
    length = float(re.findall(r"length  mean (\S+)", said)[0])
    videos = sorted((run / "videos").iterdir())
    assert [video.name for video in videos] == ["episode-000.gif", "episode-001.gif"]
    frames: list[int] = []
    for video in videos:
        with Image.open(video) as picture:
            assert picture.size == (70, 10)
            frames.append(picture.n_frames)  # pictures that are the same are one
    assert max(frames) > 1
    assert max(frames) <= 21
    assert length <= 20


def test_eval_reports_an_environment_that_cannot_be_rendered(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = (
        "from tests.rl.meeting import Meeting\n"
        "class parallel_env(Meeting):\n"
        "    def __init__(self) -> None: super().__init__()\n"
    )
    (tmp_path / "plain_game.py").write_text(game)
    monkeypatch.syspath_prepend(tmp_path)
    assert train(tmp_path / "runs", "--total-timesteps=60", env="plain_game") == 0
    path = only(tmp_path / "runs")
    capsys.readouterr()

    assert main(["eval", str(path), "--capture-video"]) == 2

    said = capsys.readouterr().err
    assert "plain_game cannot be made with (render_mode='rgb_array')" in said
    assert not (path / "videos").exists()


def test_runs_plot_and_graph_accept_the_run(
    run: Path, tmp_path: Path, capsys: Capture
) -> None:
    assert main(["runs", "--runs-dir", str(run.parent)]) == 0
    line = capsys.readouterr().out.splitlines()[1].split()
    (final,) = values(run, "eval/final_return")
    assert (line[0], line[3], line[5]) == (run.name, "240", f"{final:.1f}")

    assert main(["plot", str(run), "-o", str(tmp_path / "x.svg")]) == 0
    assert "tests.rl.meeting" in (tmp_path / "x.svg").read_text()

    assert main(["graph", str(run), "-o", str(tmp_path / "x.mmd")]) == 0
    assert "pupil" in (tmp_path / "x.mmd").read_text()


def test_runs_are_compared_by_their_traces(tmp_path: Path, capsys: Capture) -> None:
    few = ("--total-timesteps=90", "--final-episodes=0", "--trace")
    paths = []
    for place, flags in enumerate((["--workers=1"], ["--workers=2"], ["--gamma=0.5"])):
        assert train(tmp_path / f"{place}", *few, *flags) == 0
        paths.append(str(only(tmp_path / f"{place}")))
    capsys.readouterr()

    assert main(["diff", paths[0], paths[1]]) == 0
    assert "and traces" in capsys.readouterr().out
    assert main(["diff", paths[0], paths[2]]) == 1
    said = capsys.readouterr().out
    assert re.match(
        r"the runs diverge at tag \(10000000, 0\), in main\.pupil\[0\]", said
    )


# -- learning -------------------------------------------------------------------------


@pytest.mark.slow
def test_agents_learn_to_spread(tmp_path: Path, capsys: Capture) -> None:
    """Three agents are to cover three landmarks; mean of 100 episodes, each agent's."""
    pytest.importorskip("mpe2", reason=NEEDS_MPE2)
    env = "--env-id=mpe2.simple_spread_v3"
    few = ["--total-timesteps=800", "--learning-rate=0", f"--runs-dir={tmp_path / 'a'}"]
    assert main(["train", "ippo", env, "--seed=1", *few]) == 0
    line = [env, "--num-envs=8", "--seed=1", "--workers=2", "--eval-every=0"]

    assert main(["train", "ippo", *line, f"--runs-dir={tmp_path / 'b'}"]) == 0

    (untrained,) = values(only(tmp_path / "a"), "eval/final_return")
    (trained,) = values(only(tmp_path / "b"), "eval/final_return")
    assert untrained <= -25
    assert trained >= -19, trained
