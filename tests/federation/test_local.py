# SPDX-License-Identifier: Apache-2.0
"""``run(..., federation=...)``: federates as processes of this machine."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from reactorl import (
    Federation,
    FederationError,
    Input,
    Output,
    ReactionError,
    Reactor,
    ReactorlError,
    Timer,
    elaborate,
    lf,
    msec,
    param,
    reaction,
    run,
)
from reactorl._federation.launch.job import source_of
from reactorl._federation.launch.local import LocalFederates
from reactorl._federation.link_errors import CodecError
from reactorl.tag import Tag
from reactorl.testing import assert_same_trace
from tests.federation.local_programs import (
    Different,
    Sensing,
    Ticking,
    Unbuildable,
)
from tests.federation.networked import ALL, CASES, ENDLESS, FAILURES, Case
from tests.federation.pairs import HANG

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from reactorl import Result

ROOT = Path(__file__).parents[2]
TWO = Federation({"main.ticker": "a", "main.reader": "b"})


def options(case: Case) -> dict[str, Any]:
    return {"seed": 5, "workers": 1, "fast": True, "trace": True, **case.options}


def ticking(kind: str, **changes: Any) -> Result:
    given: dict[str, Any] = {"fast": True, "timeout": 6, "federation": TWO, **changes}
    return run(Ticking(kind=kind), **given)


# -- the result is that of one process -------------------------------------------------


@pytest.mark.parametrize("name", CASES)
def test_processes_give_the_result_of_one_process(name: str) -> None:
    case = ALL[name]
    one = run(case.main, **options(case))

    parts = run(case.main, **options(case), federation=Federation(case.placement))

    assert_same_trace(parts.trace, one.trace)
    assert parts.digest == one.digest
    for fact in ("final_tag", "start_time", "tags", "reactions"):
        assert getattr(parts, fact) == getattr(one, fact), fact
    assert [t.runs for t in sorted(parts.times, key=lambda t: t.reaction)] == [
        t.runs for t in sorted(one.times, key=lambda t: t.reaction)
    ]


@pytest.mark.parametrize("workers", [1, 2, None])
@pytest.mark.parametrize("shuffle", [0, 7])
def test_result_does_not_depend_on_workers_or_shuffling(
    workers: int | None, shuffle: int
) -> None:
    case = CASES["fan-out"]
    given = {**options(case), "workers": workers, "shuffle": shuffle}

    parts = run(case.main, **given, federation=3)

    assert parts.digest == run(case.main, **options(case)).digest


@pytest.mark.parametrize("count", [1, 2, 3])
def test_number_of_federates_is_enough(count: int) -> None:
    one = ticking("Reader", federation=None, trace=True)

    assert ticking("Reader", federation=count, trace=True).digest == one.digest


@pytest.mark.parametrize("name", FAILURES)
def test_errors_are_those_of_one_process(name: str) -> None:
    case = ALL[name]
    with pytest.raises(Exception) as one:  # noqa: PT011
        run(case.main, **options(case))

    with pytest.raises(Exception) as parts:  # noqa: PT011
        run(case.main, **options(case), federation=Federation(case.placement))

    assert type(parts.value) is type(one.value)
    assert str(parts.value) == str(one.value)
    if name == "failing":
        assert isinstance(parts.value.__cause__, ValueError)


def test_value_that_cannot_be_sent_is_named() -> None:
    with pytest.raises(CodecError, match="serializing a value of type generator"):
        run(ALL["unsendable"].main, fast=True, federation=2)


@pytest.mark.parametrize("form", ["class", "reactor", "program"])
def test_program_can_be_given_in_each_form(form: str) -> None:
    configured = Ticking(kind="Printer")
    main: Any = {
        "class": Ticking,
        "reactor": configured,
        "program": elaborate(configured),
    }[form]
    given: dict[str, Any] = {"fast": True, "timeout": 3, "trace": True}

    assert run(main, **given, federation=2).digest == run(main, **given).digest


def test_classes_that_cannot_be_imported_are_sent() -> None:
    step = 3  # bodies refer to it

    class Local(Reactor):
        out = Output[int]()
        by = param(1)
        timer = Timer(0, msec(1))

        @reaction(timer, effects=[out])
        def send(self) -> None:
            self.out.set(step * self.by)

    class Other(Reactor):
        x = Input[int]()

        @reaction(x)
        def see(self) -> None:
            assert self.x.value == 6

    class Main(Reactor):
        one = Local(by=2)
        other = Other()

        def build(self) -> None:
            self.connect(self.one.out, self.other.x)

    given: dict[str, Any] = {"fast": True, "timeout": msec(3), "trace": True}

    assert run(Main, **given, federation=2).digest == run(Main, **given).digest


def test_recording_of_federates_is_replayed_in_one_process() -> None:
    recorded = run(
        Sensing, record=True, trace=True, federation=Federation({"main.reader": "b"})
    )
    assert recorded.recording is not None
    assert len(recorded.recording.events) == 5

    replayed = run(Sensing, replay=recorded.recording, trace=True, fast=True)
    again = run(Sensing, replay=recorded.recording, trace=True, fast=True, federation=2)

    assert replayed.digest == recorded.digest == again.digest


# -- output and exit statuses ----------------------------------------------------------


def test_output_is_forwarded_with_names(capfd: pytest.CaptureFixture[str]) -> None:
    ticking("Printer", timeout=3)

    printed = capfd.readouterr()
    assert printed.out == "".join(f"[b] count {n}\n" for n in (1, 2, 3, 4))
    assert printed.err == "".join(f"[b] count {n} to stderr\n" for n in (1, 2, 3, 4))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is missing")
def test_output_that_is_lost_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in one process, where printing raises."""
    stream = Path("/dev/full").open("w")  # noqa: SIM115 - closing it raises as well
    monkeypatch.setattr(sys, "stdout", stream)

    with pytest.raises(OSError, match="No space left"):
        ticking("Printer", timeout=3)

    with suppress(OSError):
        stream.close()


def test_exit_in_a_body_ends_the_run_with_its_status() -> None:
    with pytest.raises(SystemExit) as end:
        ticking("Exiting")

    assert end.value.code == 7


def test_process_that_fails_after_the_run_is_an_error() -> None:
    with pytest.raises(FederationError, match="b failed after the last tag") as end:
        ticking("FailingAtTheEnd")

    assert "status 9" in str(end.value)


# -- who does not take part, or not to the end -----------------------------------------


def test_killed_federate_is_named_with_its_last_tag_and_words() -> None:
    with pytest.raises(FederationError) as end:
        ticking("Killed", timeout=None)

    assert re.search(
        r"federate b was lost: its process \d+ was killed by SIGKILL .*; "
        r"(the last tag that it reported is \([0-2], 0\)|it had not reported a tag)",
        str(end.value),
    )
    assert "these are my last words" in end.value.__notes__[-1]


def test_federate_that_leaves_without_a_word_is_named() -> None:
    with pytest.raises(FederationError, match=r"b was lost: .* ended with status 5"):
        ticking("Vanishing", timeout=None)


def test_federate_whose_connections_others_hold_open_is_named() -> None:
    with pytest.raises(FederationError, match=r"b was lost: .* killed by SIGKILL"):
        ticking("Forking", timeout=None)


def test_federates_with_another_program_are_refused() -> None:
    with pytest.raises(FederationError, match="ended with status 1") as end:
        run(Different, fast=True, timeout=3, federation=2)

    assert "the programs, or their cuts, differ" in end.value.__notes__[-1]


def test_program_that_fails_in_the_other_process_is_an_error() -> None:
    with pytest.raises(FederationError, match="ended with status 1") as end:
        run(Unbuildable(home=os.getpid()), fast=True, timeout=3, federation=2)

    assert "no licence for another process" in end.value.__notes__[-1]


def test_process_that_cannot_be_started_is_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")

    with pytest.raises(FederationError, match="starting federate head failed: No such"):
        ticking("Reader", federation=2)


def test_program_that_cannot_be_sent_is_an_error() -> None:
    lock = threading.Lock()

    class Main(Ticking):
        def build(self) -> None:
            with lock:
                super().build()

    with pytest.raises(ReactorlError, match="cannot be sent to another process"):
        run(Main, fast=True, timeout=3, federation=2)


# -- processes that are killed and stopped from outside --------------------------------


class Endless:
    """A federation that ends only if something ends it."""

    def __init__(self, name: str, **how: Any) -> None:
        case = ALL[name]
        program, self.cut, made = case.parts()
        self.federates = LocalFederates(
            source_of(case.main),
            program,
            Federation(case.placement),
            self.cut,
            made,
            window=case.window,
            **how,
        )
        self.ends: list[object] = []

    def wait(self) -> None:
        try:
            self.ends.append(self.federates.wait())
        except BaseException as error:
            self.ends.append(error)

    def begin(self) -> None:
        """Start it, and wait until all take part and one has done some tags."""
        self.federates.__enter__()
        self.waiting = threading.Thread(target=self.wait, daemon=True)
        self.waiting.start()
        server = self.federates._server
        reports = server._coordinator.reports

        def running() -> bool:
            done = [report.done for report in reports.values()]
            count = len(self.cut.names)
            return bool(self.ends) or (len(done) == count and max(done) > Tag(10))

        with server._changed:
            assert server._changed.wait_for(running, HANG)
        assert not self.ends

    def end(self) -> object:
        self.waiting.join(HANG)
        return self.ends[0]


@pytest.fixture
def endless() -> Iterator[Callable[..., Endless]]:
    made: list[Endless] = []

    def make(name: str, **how: Any) -> Endless:
        made.append(Endless(name, **how))
        return made[-1]

    yield make
    for each in made:
        each.federates.close(0)


def gone(pid: int) -> bool:
    """Return whether a process has ended; one that nobody waits for has, too."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return True
    return stat.rpartition(")")[2].split()[0] in "ZX"


def wait_until(condition: Callable[[], bool]) -> None:
    limit = time.monotonic() + HANG
    while not condition():
        assert time.monotonic() < limit
        time.sleep(0.01)


@pytest.mark.parametrize("name", ENDLESS)
@pytest.mark.parametrize("victim", [0, 1])
def test_federate_that_is_killed_from_outside_is_named(
    name: str, victim: int, endless: Any
) -> None:
    run = endless(name)
    run.begin()
    process = run.federates.processes[victim]

    os.kill(process.pid, signal.SIGKILL)

    error = run.end()
    assert isinstance(error, FederationError)
    assert f"federate {process.name} was lost: its process {process.pid}" in str(error)
    assert "the last tag that it reported is" in str(error)
    run.federates.close()
    assert all(each.status is not None for each in run.federates.processes)


def kill_at_a_random_moment(seed: int) -> None:
    """Kill a federate at some moment of its life, also before the run has begun."""
    random = Random(seed)
    run = Endless("endless chain")
    process = random.choice(run.federates.processes)
    delay = random.choice((0.0, 0.05, 0.3, 1.0)) * random.random() * 2
    with run.federates:
        waiting = threading.Thread(target=run.wait, daemon=True)
        waiting.start()
        time.sleep(delay)  # any moment must be fine
        os.kill(process.pid, signal.SIGKILL)
        waiting.join(HANG)
        assert not waiting.is_alive()

    (error,) = run.ends
    assert isinstance(error, FederationError)
    assert f"federate {process.name} was lost: its process {process.pid}" in str(error)
    assert all(each.status is not None for each in run.federates.processes)
    assert all(gone(each.pid) for each in run.federates.processes)


@pytest.mark.parametrize("seed", range(3))
def test_kill_at_a_random_moment_is_seen_and_named(seed: int) -> None:
    kill_at_a_random_moment(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3, 100))
def test_kills_at_many_moments_are_seen_and_named(seed: int) -> None:
    kill_at_a_random_moment(seed)


@pytest.mark.slow
def test_federate_that_is_stopped_for_20_seconds_is_not_lost(endless: Any) -> None:
    run = endless("endless chain")
    run.begin()
    pid = run.federates.processes[2].pid
    os.kill(pid, signal.SIGSTOP)
    time.sleep(20)
    os.kill(pid, signal.SIGCONT)
    run.federates.request_stop()

    assert len(run.end()) == 4


def test_federate_that_is_stopped_for_a_while_is_not_lost(endless: Any) -> None:
    run = endless("endless chain")
    run.begin()
    pid = run.federates.processes[1].pid
    os.kill(pid, signal.SIGSTOP)
    time.sleep(1)  # nothing depends on it: any time must be fine
    os.kill(pid, signal.SIGCONT)
    run.federates.request_stop()

    parts = run.end()

    assert len(parts) == 4
    assert len({part.final_tag for part in parts}) == 1


def test_stopped_process_is_killed_when_the_run_fails(endless: Any) -> None:
    run = endless("endless chain")
    run.begin()
    first, second, *_ = run.federates.processes
    os.kill(second.pid, signal.SIGSTOP)
    os.kill(first.pid, signal.SIGKILL)

    run.federates.close(0.5)

    assert second.status == -signal.SIGKILL


def test_every_run_has_a_secret_of_its_own(endless: Any) -> None:
    keys = {endless("endless").federates._secret._key for _ in range(3)}

    assert len(keys) == 3


def test_no_process_knows_the_secret_from_its_command_line(endless: Any) -> None:
    run = endless("endless")
    run.begin()
    key = run.federates._secret._key
    for process in run.federates.processes:
        for file in ("cmdline", "environ"):
            content = Path(f"/proc/{process.pid}/{file}").read_bytes()
            assert content
            for form in (key, key.hex().encode(), repr(key)[2:-1].encode()):
                assert form not in content


def test_head_can_run_in_the_process_that_starts_the_others() -> None:
    case = ALL["stop"]
    program, cut, made = case.parts()
    with LocalFederates(
        source_of(case.main),
        program,
        Federation(case.placement),
        cut,
        made,
        here=frozenset({0}),
    ) as federates:
        assert [each.index for each in federates.processes] == [1, 2, 3]
        results: list[Any] = []
        head = federates.member(0)
        waiting = threading.Thread(target=lambda: results.extend(federates.wait()))
        waiting.start()
        assert head.run()
        waiting.join(HANG)

    assert len(results) == 4


# -- the parent ------------------------------------------------------------------------

PARENT = """
import sys, threading
sys.path.insert(0, {root!r})
from tests.federation.test_local import Endless
run = Endless("endless chain")
run.begin()
print(*[process.pid for process in run.federates.processes], flush=True)
{then}
"""
WAIT = "run.waiting.join()"


def parent(then: str = WAIT) -> tuple[subprocess.Popen[str], list[int]]:
    """Start a process that starts federates; return it and their process ids."""
    process = subprocess.Popen(
        [sys.executable, "-c", PARENT.format(root=str(ROOT), then=then)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    pids = [int(word) for word in process.stdout.readline().split()]
    if len(pids) != 4:
        process.kill()
        pytest.fail(f"the parent failed: {process.communicate()}")
    return process, pids


@pytest.mark.parametrize("stopped", [False, True])
def test_parent_that_is_killed_leaves_no_process_behind(stopped: bool) -> None:  # noqa: FBT001
    process, pids = parent()
    if stopped:
        os.kill(pids[1], signal.SIGSTOP)

    process.kill()
    process.communicate()

    wait_until(lambda: all(gone(pid) for pid in pids))


def test_parent_that_ends_without_cleaning_up_leaves_no_process_behind() -> None:
    process, pids = parent("import os; os._exit(4)")

    assert process.wait(HANG) == 4
    process.communicate()

    wait_until(lambda: all(gone(pid) for pid in pids))


LIFELINE = """
import os, sys, time
sys.path.insert(0, {src!r})
sys.platform = "other"  # no PR_SET_PDEATHSIG there
from reactorl._federation.launch.parent import end_with_parent
end_with_parent(int(sys.argv[1]), os.getppid())
print(os.getpid(), flush=True)
time.sleep(600)
"""


def test_process_ends_with_its_parent_without_help_of_the_system() -> None:
    reader, writer = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-c", LIFELINE.format(src=str(ROOT / "src")), str(reader)],
        pass_fds=[reader],
        stdout=subprocess.PIPE,
        text=True,
    )
    os.close(reader)
    assert process.stdout is not None
    assert int(process.stdout.readline()) == process.pid

    os.close(writer)

    assert process.wait(HANG) == -signal.SIGKILL
    process.communicate()


SCRIPT = """
from reactorl import *
import time
class Slow(Reactor):
    out = Output[int]()
    timer = Timer(0, 1)
    @reaction(timer, effects=[out])
    def send(self):
        if self.elapsed == 20:
            print("running", flush=True)
        self.out.set(1)
    def teardown(self):
        print("torn down", flush=True)
class Reader(Reactor):
    x = Input[int]()
    @reaction(x)
    def see(self):
        pass
class Main(Reactor):
    slow = Slow()
    reader = Reader()
    def build(self):
        self.connect(self.slow.out, self.reader.x)
try:
    run(Main, fast=True, federation=Federation({"main.slow": "slow"}))
except KeyboardInterrupt:
    print("interrupted")
    raise SystemExit(130)
"""


def test_interrupt_ends_all_and_tears_them_down(tmp_path: Path) -> None:
    """Ctrl-C reaches all processes of a terminal; only the parent acts on it."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    process = subprocess.Popen(
        [sys.executable, script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "[slow] running\n"

    os.killpg(process.pid, signal.SIGINT)

    out, err = process.communicate(timeout=HANG)
    assert (process.returncode, err) == (130, "")
    assert out == "[slow] torn down\ninterrupted\n"


def test_error_of_a_script_has_the_traceback_of_its_body(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.replace('print("running", flush=True)', "1 / 0"))

    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, timeout=HANG
    )

    assert done.returncode == 1
    assert "ReactionError" in done.stderr
    assert "In federate slow:" in done.stderr
    assert "1 / 0" in done.stderr


def test_reaction_error_is_of_the_public_class() -> None:
    with pytest.raises(ReactionError):
        run(ALL["failing"].main, fast=True, timeout=9, federation=2)


def test_classes_of_lf_files_are_refused_with_the_way_out(tmp_path: Path) -> None:
    file = tmp_path / "Main.lf"
    file.write_text(
        "target Python\nreactor A {}\nmain reactor { a = new A() b = new A() }"
    )

    with pytest.raises(ReactorlError, match="reactorl run --federated"):
        run(lf.load(file).main, fast=True, federation=2)  # type: ignore[arg-type]
