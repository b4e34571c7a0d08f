"""Every example does what its stored output says, byte for byte."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
STORED = sorted(EXAMPLES.glob("*.out"))
WITHOUT_STORED_OUTPUT = {"cartpole_rollouts"}  # it prints times


def _environment(**changes: str) -> dict[str, str]:
    """Return this process's environment without what changes a program's output."""
    kept = {k: v for k, v in os.environ.items() if k not in ("FORCE_COLOR", "NO_COLOR")}
    return {**kept, "COLUMNS": "80", "PYTHONIOENCODING": "utf-8", **changes}


def _run(name: str, *arguments: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", EXAMPLES / f"{name}.py", *arguments],
        capture_output=True,
        check=False,
        env=_environment(**environment),
        timeout=120,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert done.stderr == b""
    return done.stdout.decode()


@pytest.mark.parametrize("stored", STORED, ids=lambda stored: stored.stem)
def test_an_example_prints_what_is_stored(stored: Path) -> None:
    assert _run(stored.stem) == stored.read_text(encoding="utf-8")


def test_every_example_has_a_test() -> None:
    programs = {path.stem for path in EXAMPLES.glob("*.py")}

    assert programs == {path.stem for path in STORED} | WITHOUT_STORED_OUTPUT


def _short_training(*arguments: str, **environment: str) -> str:
    pytest.importorskip("gymnasium")
    pytest.importorskip("rich")
    return _run(
        "cartpole_rollouts", "--total-timesteps", "4000", *arguments, **environment
    )


def _digest(output: str) -> str:
    found = re.search(r"weights digest\W+([0-9a-f]{32})\b", output)
    assert found is not None, output
    return found[1]


def test_training_ends_with_the_same_weights_for_any_number_of_workers() -> None:
    digests = {_digest(_short_training("--workers", w)) for w in ("1", "2", "4")}

    assert len(digests) == 1


def test_training_depends_on_the_seed_and_not_on_hashing() -> None:
    first = _digest(_short_training("--seed", "5", PYTHONHASHSEED="1"))
    same = _digest(_short_training("--seed", "5", PYTHONHASHSEED="2"))
    other = _digest(_short_training("--seed", "6"))

    assert first == same
    assert first != other


def test_training_without_a_terminal_prints_few_lines_and_a_table() -> None:
    output = _short_training("--num-envs", "5")

    assert 2 <= output.count("steps/s  ") <= 6
    assert "\x1b" not in output
    for row in ("Python", "cores", "workers", "env steps", "best return", "evaluation"):
        assert row in output
    assert "The same seed gives this digest on any number of workers." in output


HIDE_CURSOR, SHOW_CURSOR = "\x1b[?25l", "\x1b[?25h"


def _on_a_terminal(*arguments: str, interrupt: bool) -> tuple[str, str, int]:
    """Run the training on a terminal; return screen, standard error, exit status."""
    pytest.importorskip("gymnasium")
    pytest.importorskip("rich")
    ours, theirs = os.openpty()
    with subprocess.Popen(
        [sys.executable, EXAMPLES / "cartpole_rollouts.py", *arguments],
        stdout=theirs,
        stderr=subprocess.PIPE,
        env=_environment(TERM="xterm"),
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        os.close(theirs)
        screen = b""
        with contextlib.suppress(OSError):  # how the end is told on a terminal
            while chunk := os.read(ours, 65536):
                screen += chunk
                if interrupt and b"round   1" in screen:
                    interrupt = False
                    process.send_signal(signal.SIGINT)
        os.close(ours)
        assert process.stderr is not None
        errors = process.stderr.read().decode()
    return screen.decode(errors="replace"), errors, process.returncode


def test_on_a_terminal_one_line_shows_the_progress() -> None:
    screen, errors, status = _on_a_terminal(
        "--total-timesteps", "4000", interrupt=False
    )

    assert (status, errors) == (0, "")
    assert re.search(r"round +1.*return.*best.*steps/s.* s left", screen)
    assert screen.rindex(SHOW_CURSOR) > screen.rindex(HIDE_CURSOR)
    assert screen.index("weights digest") > screen.rindex(SHOW_CURSOR)


def test_ctrl_c_ends_the_training_and_gives_the_terminal_back() -> None:
    screen, errors, status = _on_a_terminal(interrupt=True)

    assert (status, errors) == (1, "interrupted\n")
    assert screen.rindex(SHOW_CURSOR) > screen.rindex(HIDE_CURSOR)
    assert "weights digest" not in screen


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--num-envs", "3"], "--num-envs: must be from 4 to 4,096, not 3"),
        (["--workers", "0"], "--workers: must be from 1 to 1,024, not 0"),
        (["--workers", "two"], "--workers: invalid int value: 'two'"),
        (["--total-timesteps", "0"], "--total-timesteps: must be from 1"),
        (["--env-id", "CartPool-v1"], "--env-id: Environment `CartPool` doesn't exist"),
        (["--env-id", "Pendulum-v1"], "this example needs Discrete(n)"),
        (["--env-id", "FrozenLake-v1"], "this example needs a flat Box"),
    ],
)
def test_bad_arguments_of_the_training_are_refused_with_a_reason(
    arguments: list[str], message: str
) -> None:
    pytest.importorskip("gymnasium")
    pytest.importorskip("rich")

    done = subprocess.run(
        [sys.executable, EXAMPLES / "cartpole_rollouts.py", *arguments],
        capture_output=True,
        check=False,
        text=True,
        timeout=120,
    )

    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
