# SPDX-License-Identifier: Apache-2.0
"""``reactorl diff``: where two runs first diverge, as text and exit status."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from reactorl.cli.main import main

if TYPE_CHECKING:
    Capture = pytest.CaptureFixture[str]

PROGRAM = """\
target Python
reactor Count {
  timer t(0, 1 ms)
  output y
  state n = 0
  reaction(t) -> y {=
    self.n += 1
    y.set(self.n if self.n != 3 else VALUE)
  =}
}
main reactor { c = new Count() }
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def ran(name: str, value: str, *options: str) -> None:
    Path(f"{name}.lf").write_text(PROGRAM.replace("VALUE", value))
    args = ["-f", "-o", "4 ms", *(options or ("--trace", name))]
    assert main(["run", f"{name}.lf", *args]) == 0


def said(capsys: Capture, *args: str) -> tuple[int, str, str]:
    status = main(["diff", *args])
    out, err = capsys.readouterr()
    return status, out, err


def test_identical_runs(capsys: Capture) -> None:
    ran("a", "3", "--trace", "a", "--timing", "a", "-w", "1")
    ran("a", "3", "--trace", "b", "-w", "2")

    status, out, err = said(capsys, "a", "b")

    assert (status, err) == (0, "")
    assert out.startswith("the runs are identical: 5 tags, digest ")


def test_first_difference_is_shown_with_both_values(capsys: Capture) -> None:
    ran("a", "3")
    ran("b", "'x'")

    status, out, _ = said(capsys, "a", "b")

    assert status == 1
    first, *rest = out.splitlines()
    assert first == (
        "the runs diverge at tag (2000000, 0), in main.c.reaction_1: "
        "A set main.c.y to 3, B to 'x'"
    )
    assert rest[:2] == ["  A: a", "  B: b"]


def test_different_seeds_and_options_are_shown(capsys: Capture) -> None:
    ran("a", "3", "--trace", "a", "--seed", "1")
    ran("a", "4", "--trace", "b", "--seed", "2", "-k")

    _, out, _ = said(capsys, "a", "b")

    assert "A has seed 1, B has seed 2." in out
    assert "A ran with keepalive=False, B with True." in out


def test_run_that_ended_earlier_is_shown(capsys: Capture) -> None:
    ran("a", "3")
    ran("a", "3", "--trace", "b", "-o", "2 ms")

    status, out, _ = said(capsys, "a", "b")

    assert status == 1
    assert "B ended at (2000000, 0), A continued" in out


@pytest.mark.parametrize("name", ["none", "text", "cut"])
def test_unreadable_traces_are_refused(capsys: Capture, name: str) -> None:
    ran("a", "3")
    Path("text").write_text("hello\n")
    Path("cut").write_bytes(Path("a").read_bytes()[:-5])

    for pair in (("a", name), (name, "a")):
        status, out, err = said(capsys, *pair)
        assert (status, out) == (2, "")
        assert name in err


def test_files_with_times_only_cannot_be_compared(capsys: Capture) -> None:
    ran("a", "3", "--timing", "a")
    ran("b", "3")

    status, _, err = said(capsys, "a", "b")
    assert status == 2
    assert "a: the file contains times only" in err
    status, _, err = said(capsys, "a", "a")
    assert status == 2
    assert "differ from run to run" in err


# -- training runs --


def directory(
    name: str, rows: list[tuple[int, str, float]], **settings: object
) -> Path:
    path = Path(name)
    path.mkdir()
    settings = {"env_id": "CartPole-v1", "seed": 1, **settings}
    config = {"format": 1, "algorithm": "dqn", "settings": settings}
    (path / "config.json").write_text(json.dumps(config))
    lines = [
        f"{step},{k}.0,{key},{value!r}" for k, (step, key, value) in enumerate(rows)
    ]
    (path / "metrics.csv").write_text("\n".join(["head", *lines, ""]))
    return path


ROWS = [(100, "losses/loss", 0.5), (100, "charts/SPS", 7.0), (200, "losses/loss", 0.25)]
needs_training = pytest.mark.usefixtures("training")


@pytest.fixture
def training() -> None:
    pytest.importorskip("gymnasium")


@needs_training
def test_training_runs_with_equal_metrics_are_identical(capsys: Capture) -> None:
    directory("a", ROWS)
    faster = [(100, "losses/loss", 0.5), (100, "charts/SPS", 9.0), ROWS[2]]
    directory("b", faster)

    status, out, _ = said(capsys, "a", "b")

    assert status == 0
    assert out == "the runs are identical: metrics and checkpoints\n"


@needs_training
def test_first_different_metric_is_shown(capsys: Capture) -> None:
    directory("a", ROWS, rate=0.1)
    directory("b", [*ROWS[:2], (200, "losses/loss", 0.125)], rate=0.2)

    status, out, _ = said(capsys, "a", "b")

    assert status == 1
    assert out.splitlines() == [
        "the runs diverge at step 200: losses/loss is 0.25 in A, 0.125 in B",
        "  A: a",
        "  B: b",
        "  A has rate 0.1, B has 0.2.",
        "  Train both with --trace to find the tag, the reaction and the port.",
    ]


@needs_training
def test_training_run_that_ended_earlier_is_shown(capsys: Capture) -> None:
    directory("a", ROWS[:2])
    directory("b", ROWS)

    status, out, _ = said(capsys, "a", "b")

    assert status == 1
    assert "diverge after step 100: A has no more metrics" in out
    assert "B continues with step 200" in out


@needs_training
def test_traces_of_training_runs_are_compared_first(capsys: Capture) -> None:
    directory("one", ROWS)
    directory("two", ROWS)
    ran("a", "3", "--trace", "one/rounds-from-1.trace.gz")
    ran("a", "5", "--trace", "two/rounds-from-1.trace.gz")

    status, out, _ = said(capsys, "one", "two")

    assert status == 1
    assert "in main.c.reaction_1: A set main.c.y to 3, B to 5" in out


@needs_training
def test_directory_that_is_not_a_run_is_refused(capsys: Capture) -> None:
    directory("a", ROWS)
    Path("b").mkdir()

    status, _, err = said(capsys, "a", "b")

    assert status == 2
    assert "b: there is no run" in err


def test_nested_arrays_are_compared() -> None:
    np = pytest.importorskip("numpy")
    pytest.importorskip("gymnasium")
    from reactorl.rl.runs.compare import _different

    def parts(a: object, b: object) -> list[str]:
        return [f"{'.'.join(path)} {words}" for path, words in _different(a, b, ())]

    one = np.array([[1.0, 2.0], [np.nan, 4.0]])
    other = one.copy()
    assert parts({"w": [one]}, {"w": [other]}) == []
    other[1, 1] = 5.0
    assert parts({"w": [one]}, {"w": [other]}) == [
        "w.0 [1, 1] is 4.0 in A, 5.0 in B (1 of 4 numbers differ)"
    ]
    assert parts({"a": 1}, {"b": 1}) == ["a is only in A", "b is only in B"]
    assert parts([1, 2], [1]) == [" has 2 entries in A, 1 in B"]
    assert parts({"n": 1}, {"n": True}) == ["n is 1 in A, True in B"]
    assert parts(np.zeros(2), np.zeros(3)) == [" is float64[2] in A, float64[3] in B"]
    assert parts(np.zeros(1), -np.zeros(1)) == [
        " differs in its bits, not in its numbers"
    ]
    assert parts(np.array(1), np.array(2)) == [
        " [0] is 1 in A, 2 in B (1 of 1 numbers differ)"
    ]
