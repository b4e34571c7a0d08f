# SPDX-License-Identifier: Apache-2.0
"""A federate that is killed begins again, alone, and the result is the same."""

from __future__ import annotations

import logging
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from reactorl import Federation, FederationError, ReactionError, elaborate, run
from reactorl._federation.launch.job import source_of
from reactorl._federation.launch.joining import Gather, run_joining
from reactorl._federation.launch.local import LocalFederates
from reactorl._federation.parts import whole_result
from reactorl._program.cut import cut_program
from tests.federation.fragile_programs import Clocked, Fragile
from tests.federation.local_programs import Sensing
from tests.federation.networked import (
    ALL,
    CASES,
    EVERYWHERE,
    Case,
    DelayedLoop,
    EndlessChain,
    FanOut,
    PingPong,
)
from tests.federation.pairs import HANG

if TYPE_CHECKING:
    from reactorl import Result

ROOT = Path(__file__).parents[2]
TWO = Federation({"main.ticker": "a", "main.reader": "b"})
LONG = {
    "chain": Case(EndlessChain, EVERYWHERE, {"timeout": 1500}, 50),
    "ping-pong": Case(PingPong, {"main.pong": "b"}, {"timeout": 1500}),
    "fan-out": Case(
        FanOut, {"main.pong": "b", "main.other": "c"}, {"timeout": 700, "workers": 2}
    ),
    "loop": Case(DelayedLoop, {"main.one": "a", "main.two": "b"}, {"timeout": 2000}),
}


def fragile(directory: Path, *deaths: str, **more: Any) -> Result:
    """Run a program whose reader dies at some counts, each once."""
    given: dict[str, Any] = {"fast": True, "timeout": 20, "trace": True, "workers": 1}
    main = Fragile(directory=str(directory), deaths=deaths)
    return run(main, **{**given, "federation": TWO, "restarts": 3, **more})


def alone(**more: Any) -> Result:
    given: dict[str, Any] = {"fast": True, "timeout": 20, "trace": True}
    return run(Fragile(directory="", deaths=()), **{**given, **more})


# -- the result ------------------------------------------------------------------------


slow = pytest.mark.slow


@pytest.mark.parametrize(
    "deaths",
    [
        ("ticker 7", "reader 7"),
        pytest.param(("reader 5",), marks=slow),
        pytest.param(("reader 0",), marks=slow),
        pytest.param(("reader 3", "reader 21"), marks=slow),
        pytest.param(("ticker end",), marks=slow),
    ],
)
def test_federate_that_dies_begins_again_with_the_same_result(
    deaths: tuple[str, ...], tmp_path: Path
) -> None:
    one = alone()

    parts = fragile(tmp_path, *deaths)

    assert sorted(each.name for each in tmp_path.iterdir()) == sorted(deaths)
    assert parts.digest == one.digest
    assert parts.final_tag == one.final_tag
    assert parts.reactions == one.reactions


def test_restart_is_logged_and_lines_are_shown_once(
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    with caplog.at_level(logging.WARNING):
        fragile(tmp_path, "reader half 5", "ticker 9")

    first, second = (record.getMessage() for record in caplog.records)
    pattern = (
        r"federate (\w) was lost: its process \d+ was killed by SIGKILL .*; "
        r"(the last tag that it reported is \(\d+, 0\)|it had not reported a tag)\. "
        r"It begins again\. Restarts left: (\d)\."
    )
    found = [re.fullmatch(pattern, text) for text in (first, second)]
    assert all(found)
    assert {each[1] for each in found if each} == {"a", "b"}  # the ticker runs ahead
    assert [each[3] for each in found if each] == ["2", "1"]
    out = capfd.readouterr().out
    assert out == "".join(f"[b] count {n}\n" for n in range(1, 22))


@slow
def test_lines_that_were_shown_are_not_shown_again(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    fragile(tmp_path, "reader 5", "reader 9", "ticker 3")

    out = capfd.readouterr().out
    assert out == "".join(f"[b] count {n}\n" for n in range(1, 22))


@pytest.mark.parametrize("error", ["fails", "exits"])
def test_error_after_a_restart_is_that_of_one_process(
    error: str, tmp_path: Path
) -> None:
    deaths = ("reader 3", f"{error} 7")
    with pytest.raises(BaseException) as one:  # noqa: PT011
        fragile(tmp_path, deaths[1], federation=None, restarts=0)

    with pytest.raises(type(one.value)) as parts:
        fragile(tmp_path, *deaths)

    assert str(parts.value) == str(one.value)
    assert (tmp_path / "reader 3").exists()


def test_federate_that_dies_after_another_has_failed_does_not_hide_that(
    tmp_path: Path,
) -> None:
    """Who has failed stays until all have come as far."""
    with pytest.raises(ReactionError) as one:
        fragile(tmp_path, "fails 5", federation=None, restarts=0)

    with pytest.raises(ReactionError) as parts:
        fragile(tmp_path, "fails 5", "ticker 7")

    assert str(parts.value) == str(one.value)


# -- limits ----------------------------------------------------------------------------


def test_run_ends_when_no_restart_is_left(tmp_path: Path) -> None:
    with pytest.raises(FederationError) as end:
        fragile(tmp_path, "reader 3", "reader 5", restarts=1)

    assert re.search(
        r"federate b was lost: its process \d+ was killed by SIGKILL .*; "
        r"the last tag that it reported is ",
        str(end.value),
    )


def test_without_restarts_nothing_begins_again(tmp_path: Path) -> None:
    with pytest.raises(FederationError, match="federate b was lost"):
        fragile(tmp_path, "reader 3", restarts=0)


def test_process_that_cannot_begin_is_not_started_again(tmp_path: Path) -> None:
    with pytest.raises(FederationError, match="ended with status 1"):
        fragile(tmp_path, "setup")

    assert len(list(tmp_path.iterdir())) <= 3  # once for each federate


@pytest.mark.parametrize("restarts", [-1, 1])
def test_restarts_are_checked(restarts: int) -> None:
    with pytest.raises(ValueError, match=r"restarts must be 0 .*, got"):
        run(Sensing, restarts=restarts)


@pytest.mark.parametrize("kind", ["reads", "deadline", "watchdog"])
def test_federate_that_has_read_the_clock_cannot_be_repeated(
    kind: str, tmp_path: Path
) -> None:
    with pytest.raises(FederationError) as end:
        run(
            Clocked(kind=kind, directory=str(tmp_path)),
            timeout=20_000_000,
            federation=TWO,
            restarts=3,
        )

    assert "federate b was lost" in str(end.value)
    assert "it cannot be repeated, because it has used physical" in str(end.value)
    assert len(list(tmp_path.iterdir())) == 1


def test_others_of_a_federate_that_reads_the_clock_can_be_repeated(
    tmp_path: Path,
) -> None:
    main = Clocked(kind="reads", victim="ticker", directory=str(tmp_path))
    given: dict[str, Any] = {"timeout": 20_000_000, "trace": True, "fast": True}

    parts = run(main, **given, federation=TWO, restarts=3, record=True)

    assert len(list(tmp_path.iterdir())) == 1
    assert run(main, **given, replay=parts.recording).digest == parts.digest


def test_replayed_inputs_are_repeated(tmp_path: Path) -> None:
    main = Clocked(kind="reads", directory=str(tmp_path))
    given: dict[str, Any] = {"timeout": 20_000_000, "trace": True, "fast": True}
    mark = tmp_path / "reader 5"
    mark.touch()
    recorded = run(main, **given, record=True)
    mark.unlink()

    parts = run(main, **given, replay=recorded.recording, federation=TWO, restarts=1)

    assert mark.exists()
    assert parts.digest == recorded.digest


# -- kills from outside ----------------------------------------------------------------


def kill_and_compare(name: str, case: Case, seed: int, kills: int = 3) -> None:
    """Kill federates at random moments after the start; compare with one process."""
    random = Random(seed)
    given: dict[str, Any] = {"seed": 5, "fast": True, "trace": True, **case.options}
    one = run(case.main, **{**given, "workers": 1})
    program, cut, made = case.parts()
    federates = LocalFederates(
        source_of(case.main),
        program,
        Federation(case.placement),
        cut,
        made,
        window=case.window,
        restarts=kills,
    )
    ends: list[Any] = []

    def wait() -> None:
        try:
            ends.append(federates.wait())
        except BaseException as error:
            ends.append(error)

    with federates:
        waiting = threading.Thread(target=wait, daemon=True)
        waiting.start()
        server = federates.server
        if random.random() < 0.9:  # else also before the run has begun
            with server._changed:
                assert server._changed.wait_for(lambda: server._begun, HANG)
        for _ in range(kills):
            time.sleep(random.choice((0.02, 0.2, 1.0)) * random.random())
            process = random.choice(federates.processes)
            if process.status is None:
                os.kill(process.pid, signal.SIGKILL)  # it is not reaped yet
        waiting.join(HANG)
        assert not waiting.is_alive(), (name, seed, server._coordinator.reports)
    if isinstance(ends[0], BaseException):
        raise ends[0]
    result = whole_result(program, cut, made, ends[0])
    assert result.digest == one.digest, (name, seed)
    assert result.final_tag == one.final_tag


@pytest.mark.parametrize("name", ["chain"])
def test_kills_at_random_moments_change_nothing(name: str) -> None:
    kill_and_compare(name, LONG[name], 1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100))
def test_many_kills_at_random_moments_change_nothing(seed: int) -> None:
    name = sorted(LONG)[seed % len(LONG)]
    kill_and_compare(name, LONG[name], seed)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("seed", range(3))
def test_kills_of_short_runs_change_nothing(name: str, seed: int) -> None:
    kill_and_compare(name, ALL[name], seed, 2)


def test_stop_from_outside_comes_to_one_that_begins_again() -> None:
    case = ALL["endless chain"]
    program, cut, made = case.parts()
    federates = LocalFederates(
        source_of(case.main),
        program,
        Federation(case.placement),
        cut,
        made,
        window=case.window,
        restarts=1,
    )
    ends: list[Any] = []
    with federates:
        waiting = threading.Thread(target=lambda: ends.append(federates.wait()))
        waiting.start()
        server = federates.server
        with server._changed:
            assert server._changed.wait_for(
                lambda: len(server._coordinator.reports) == 4, HANG
            )
            os.kill(federates.processes[1].pid, signal.SIGKILL)
            assert server._changed.wait_for(lambda: server._lives[1] == 2, HANG)
        federates.request_stop()  # while its next life is on its way
        waiting.join(HANG)
    assert len({part.final_tag for part in ends[0]}) == 1
    assert all(part.whole for part in ends[0])


# -- processes that join ---------------------------------------------------------------

JOIN = """
import sys
sys.path.insert(0, {root!r})
from reactorl import join_federation
sys.exit(join_federation({address!r}, {token!r}, name={name!r}))
"""


def test_another_process_takes_the_place_of_one_that_is_gone(tmp_path: Path) -> None:
    """As Slurm and Kubernetes do it: who has died is started again."""
    token = tmp_path / "token"
    deaths = ("reader 5", "ticker 9")
    marks = tmp_path / "marks"
    marks.mkdir()
    main = Fragile(directory=str(marks), deaths=deaths)
    program = elaborate(main)
    statuses: list[int] = []
    keepers: list[threading.Thread] = []

    def keep(address: str, name: str) -> None:
        code = JOIN.format(root=str(ROOT), address=address, token=str(token), name=name)
        while True:
            process = subprocess.Popen([sys.executable, "-c", code])
            status = process.wait(HANG)
            statuses.append(status)
            if status != -signal.SIGKILL:
                return

    def waiting(address: str, names: tuple[str, ...]) -> None:
        for name in names:
            thread = threading.Thread(target=keep, args=[address, name], daemon=True)
            keepers.append(thread)
            thread.start()

    cut = cut_program(program, TWO)
    _, _, options = Case(Fragile, 1, {"timeout": 20}).parts()
    gather = Gather("127.0.0.1:0", token, None, waiting, lambda *_: None)
    result, _ = run_joining(
        source_of(main), program, TWO, cut, options, gather, restarts=2
    )

    for thread in keepers:
        thread.join(HANG)
    assert result.digest == alone(seed=5).digest
    assert sorted(statuses) == [-9, -9, 0, 0, 0]
    assert sorted(each.name for each in marks.iterdir()) == sorted(deaths)


# -- LF --------------------------------------------------------------------------------

PROGRAM = """
target Python {{ fast: true, timeout: 20 ms }}
preamble {{=
import os, signal
from pathlib import Path
MARK = Path({mark!r})
=}}
reactor Source {{
  output y
  state count = 0
  timer t(0, 1 ms)
  reaction(t) -> y {{=
    self.count += 1
    y.set(self.count)
  =}}
}}
reactor Sink {{
  input x
  reaction(x) {{=
    print(x.value)
    if x.value == 9 and not MARK.exists():
        MARK.touch()
        os.kill(os.getpid(), signal.SIGKILL)
  =}}
}}
federated reactor {{
  s = new Source()
  d = new Sink()
  s.y -> d.x
}}
"""


def test_federate_of_an_lf_program_begins_again(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    (tmp_path / "Main.lf").write_text(PROGRAM.format(mark=str(mark)))
    command = [sys.executable, "-m", "reactorl", "run", "Main.lf", "--federated"]

    done = subprocess.run(
        [*command, "--restarts", "1"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=HANG,
    )

    assert mark.exists()
    assert done.returncode == 0, done.stderr
    assert done.stdout == "".join(f"[d] {n}\n" for n in range(1, 22))
    assert re.search(r"federate d was lost: .* Restarts left: 0\.", done.stderr)
