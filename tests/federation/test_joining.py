# SPDX-License-Identifier: Apache-2.0
"""``reactorl run --federated --listen`` and ``reactorl federate``, as processes."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from reactorl import FederationError, elaborate, join_federation, run
from reactorl._federation.launch.job import source_of
from reactorl._federation.launch.joining import Gather, run_joining
from reactorl._federation.secret import RunSecret
from reactorl._program.cut import cut_program
from reactorl._program.placement import Federation
from reactorl.trace import digest, load
from tests.federation.networked import ALL
from tests.federation.pairs import HANG

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parents[2]
PROGRAM = """
target Python { fast: true, timeout: TIMEOUT }
reactor Source {
  output y
  state count = 0
  timer t(0, 1 s)
  reaction(t) -> y {=
    self.count += 1
    y.set(self.count)
  =}
}
reactor Sink {
  input x
  reaction(x) {= print("got", x.value) if x.value < 4 else None =}
}
federated reactor {
  source = new Source()
  sink = new Sink()
  source.y -> sink.x
}
"""
FOREVER = "1000000 weeks"


class Command:
    """A command of ``reactorl`` as a process; its stderr is read line by line."""

    def __init__(self, directory: Path, *args: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "reactorl", *args],
            cwd=directory,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stderr is not None
        self._errors = self.process.stderr
        self.seen = ""

    def until(self, pattern: str) -> re.Match[str]:
        """Read lines of stderr up to one that matches."""
        for line in self._errors:
            self.seen += line
            if found := re.search(pattern, line):
                return found
        pytest.fail(f"{pattern} did not come: {self.seen}")

    def end(self) -> tuple[int, str]:
        """Wait for the end; return the exit status and the output."""
        out, err = self.process.communicate(timeout=HANG)
        self.seen += err
        return self.process.returncode, out


class Gathering:
    """A run that waits for federates."""

    def __init__(self, directory: Path, timeout: str, *options: str) -> None:
        self.directory = directory
        (directory / "Main.lf").write_text(PROGRAM.replace("TIMEOUT", timeout))
        self.commands: list[Command] = []
        self.run = self.command(
            "run", "--federated", "--listen", "127.0.0.1:0", "--token-file", "token",
            *options, "Main.lf",
        )  # fmt: skip
        self.address = self.run.until(r"--join (\S+)")[1]

    def command(self, *args: str) -> Command:
        self.commands.append(Command(self.directory, *args))
        return self.commands[-1]

    def federate(self, *options: str, token: str = "token") -> Command:
        return self.command(
            "federate", "--join", self.address, "--token-file", token, *options
        )

    def close(self) -> None:
        for each in self.commands:
            each.process.kill()
            each.process.communicate()


@pytest.fixture
def gather(tmp_path: Path) -> Iterator[Callable[..., Gathering]]:
    made: list[Gathering] = []

    def make(timeout: str = "5 s", *options: str) -> Gathering:
        made.append(Gathering(tmp_path, timeout, *options))
        return made[-1]

    yield make
    for each in made:
        each.close()


def test_processes_that_join_give_the_trace_of_one_process(
    gather: Any, tmp_path: Path
) -> None:
    found = gather("5 s", "--trace", "parts.trace")
    one, other = found.federate("--name", "sink"), found.federate()

    assert one.end() == (0, "got 1\ngot 2\ngot 3\n")
    assert other.end() == (0, "")
    assert found.run.end() == (0, "")
    assert "sink has joined from 127.0.0.1" in found.run.seen
    alone = Command(tmp_path, "run", "--trace", "one.trace", "Main.lf")
    assert alone.end()[0] == 0
    traces = [load(tmp_path / name).trace for name in ("parts.trace", "one.trace")]
    assert digest(traces[0]) == digest(traces[1])


def test_file_of_the_secret_is_private_and_removed(gather: Any, tmp_path: Path) -> None:
    found = gather()
    assert (tmp_path / "token").stat().st_mode & 0o777 == 0o600
    for command in (found.federate(), found.federate(), found.run):
        assert command.end()[0] == 0

    assert not (tmp_path / "token").exists()


def test_secret_that_exists_is_used_and_stays(gather: Any, tmp_path: Path) -> None:
    RunSecret.generate().save(tmp_path / "token")
    content = (tmp_path / "token").read_bytes()
    found = gather()
    for command in (found.federate(), found.federate(), found.run):
        assert command.end()[0] == 0

    assert (tmp_path / "token").read_bytes() == content


def test_who_does_not_know_the_secret_is_refused(gather: Any, tmp_path: Path) -> None:
    found = gather()
    RunSecret.generate().save(tmp_path / "other")
    stranger = found.federate("--patience", "0", token="other")

    assert stranger.end()[0] == 2
    assert "the secrets of the two processes differ" in stranger.seen
    for command in (found.federate(), found.federate(), found.run):
        assert command.end()[0] == 0  # the others are not impressed


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("nobody", "the run has no federate nobody; it has source, sink"),
        ("source", "source has joined already"),
    ],
)
def test_name_must_be_free(name: str, why: str, gather: Any) -> None:
    found = gather()
    first = found.federate("--name", "source")
    found.run.until("source has joined")
    second = found.federate("--name", name)

    assert second.end()[0] == 2
    assert why in second.seen
    for command in (found.federate(), first, found.run):
        assert command.end()[0] == 0


def test_process_that_is_too_many_is_refused(gather: Any) -> None:
    found = gather(FOREVER)
    both = [found.federate(), found.federate()]
    found.run.until("sink has joined")
    third = found.federate()

    assert third.end()[0] == 2
    assert "all have joined: source, sink" in third.seen
    assert both[0].process.poll() is None


@pytest.mark.parametrize("when", ["before", "while"])
def test_killed_process_ends_the_run_and_is_named(when: str, gather: Any) -> None:
    found = gather(FOREVER)
    sink = found.federate("--name", "sink")
    found.run.until("sink has joined")
    commands = [found.run]
    if when == "while":
        source = found.federate()
        commands.append(source)
        assert sink.process.stdout is not None
        assert sink.process.stdout.readline() == "got 1\n"

    sink.process.kill()

    assert found.run.end()[0] == 1
    assert "federate sink was lost" in found.run.seen
    if when == "while":
        assert source.end()[0] in (1, 3)


def test_processes_end_with_the_run(gather: Any) -> None:
    found = gather(FOREVER)
    both = [found.federate("--name", "sink"), found.federate()]
    assert both[0].process.stdout is not None
    assert both[0].process.stdout.readline() == "got 1\n"

    found.run.process.kill()

    for command in both:
        assert command.end()[0] == 1
        assert "the coordinator was lost" in command.seen


def test_interrupted_run_ends_the_processes_that_have_joined(gather: Any) -> None:
    found = gather(FOREVER)
    waiting = found.federate()
    found.run.until("source has joined")

    os.kill(found.run.process.pid, signal.SIGINT)

    assert found.run.end()[0] == 130
    assert waiting.end()[0] in (1, 3)


def test_nobody_there_is_an_error(tmp_path: Path) -> None:
    RunSecret.generate().save(tmp_path / "token")
    alone = Command(
        tmp_path, "federate", "--join", "127.0.0.1:1", "--token-file", "token",
        "--patience", "0",
    )  # fmt: skip

    assert alone.end()[0] == 2
    assert "connecting to the run at 127.0.0.1:1 failed" in alone.seen


def test_missing_secret_is_an_error(tmp_path: Path) -> None:
    alone = Command(
        tmp_path, "federate", "--join", "127.0.0.1:1", "--token-file", "token",
        "--patience", "0.3",
    )  # fmt: skip

    assert alone.end()[0] == 2
    assert "reading the run's secret from token failed: No such file" in alone.seen


@pytest.mark.parametrize("address", ["0.0.0.0:0", "unix:/tmp/x", "nonsense", ":5"])
def test_address_must_be_one_that_others_can_use(address: str, tmp_path: Path) -> None:
    (tmp_path / "Main.lf").write_text(PROGRAM.replace("TIMEOUT", "1 s"))
    command = Command(
        tmp_path, "run", "--federated", "--listen", address, "--token-file", "token",
        "Main.lf",
    )  # fmt: skip

    assert command.end()[0] == 1
    assert "address" in command.seen
    assert not (tmp_path / "token").exists()


JOIN = """
import sys
sys.path.insert(0, {root!r})
from reactorl import join_federation
sys.exit(join_federation({address!r}, {token!r}, encrypt={encrypt}))
"""


@pytest.mark.parametrize("encrypt", [True, False])
def test_python_programs_can_be_joined(encrypt: bool, tmp_path: Path) -> None:  # noqa: FBT001
    case = ALL["fan-out"]
    program, _, options = case.parts()
    federation = Federation(case.placement)
    token = tmp_path / "token"
    processes: list[subprocess.Popen[str]] = []

    def start(address: str, names: tuple[str, ...]) -> None:
        code = JOIN.format(
            root=str(ROOT), address=address, token=str(token), encrypt=encrypt
        )
        command = [sys.executable, "-c", code]
        processes.extend(subprocess.Popen(command, text=True) for _ in names)

    gather = Gather("127.0.0.1:0", token, encrypt, start, lambda *_: None)
    result, _ = run_joining(
        source_of(case.main),
        program,
        federation,
        cut_program(program, federation),
        options,
        gather,
    )

    assert [process.wait(HANG) for process in processes] == [0, 0, 0]
    given: dict[str, Any] = {"seed": 5, "fast": True, "trace": True, **case.options}
    assert result.digest == run(case.main, **given).digest


def test_encryption_must_be_that_of_the_run(tmp_path: Path) -> None:
    case = ALL["fan-out"]
    program = elaborate(case.main)
    federation = Federation(case.placement)
    found: list[str] = []
    ready = threading.Event()

    def waiting(address: str, _: tuple[str, ...]) -> None:
        found.append(address)
        ready.set()
        raise KeyboardInterrupt

    gather = Gather(
        "127.0.0.1:0", tmp_path / "token", encrypt=True, waiting=waiting, joined=print
    )
    with pytest.raises(KeyboardInterrupt):
        run_joining(
            source_of(case.main),
            program,
            federation,
            cut_program(program, federation),
            case.parts()[2],
            gather,
        )
    with pytest.raises(FederationError):
        join_federation(found[0], tmp_path / "token", encrypt=False, patience=0)
