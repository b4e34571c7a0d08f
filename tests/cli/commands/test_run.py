# SPDX-License-Identifier: Apache-2.0
"""``reactorl run``: options, output, exit status."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from reactorl import Tag, trace
from reactorl.cli.main import main

if TYPE_CHECKING:
    from collections.abc import Iterator

    Capture = pytest.CaptureFixture[str]

COUNT = """\
target Python
reactor Counter(step = 1) {
  input x
  output y
  state n = 0
  reaction(x) -> y {=
    self.n += self.step
    y.set(self.n)
  =}
}
main reactor {
  a = new Counter()
  b = new Counter(step = 10)
  timer t(0, 1 s)
  reaction(t) -> a.x, b.x {=
    a.x.set(True)
    b.x.set(True)
  =}
  reaction(a.y, b.y) {=
    seconds = lf.time.logical_elapsed() // SEC(1)
    print(seconds, a.y.value, b.y.value)
  =}
  reaction(shutdown) {= print("end") =}
}
"""
TO_1_S = "0 1 10\n1 2 20\nend\n"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("Count.lf").write_text(COUNT)
    return tmp_path


def run(capsys: Capture, *args: str) -> tuple[int, str, str]:
    try:
        status = main(["run", *args])
    except SystemExit as exit_:  # of argparse
        status = int(exit_.code or 0)
    out, err = capsys.readouterr()
    return status, out, err


def run_text(
    capsys: Capture, *members: str, options: str = "", before: str = ""
) -> tuple[int, str, str]:
    """Run a main reactor with these members."""
    body = "\n".join(members)
    text = f"target Python\n{before}\nmain reactor {{\n{body}\n}}\n"
    Path("Text.lf").write_text(text)
    return run(capsys, "Text.lf", *options.split())


def process(*args: str) -> list[str]:
    return [sys.executable, "-m", "reactorl", "run", *args]


def completed(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        process(*args), capture_output=True, text=True, check=False, timeout=200
    )


# -- options --


@pytest.mark.parametrize(
    "args",
    [
        ["Count.lf", "--fast", "--timeout", "1 s"],
        ["Count.lf", "--fast", "--timeout", "1", "s"],
        ["Count.lf", "--timeout", "1sec", "--fast"],
        ["--fast", "true", "Count.lf", "--timeout=1 s"],
        ["--fast", "Count.lf", "-o", "1", "second"],
        ["-f", "Count.lf", "-o", "1000 msecs"],
        ["-f", "true", "-o", "1", "s", "Count.lf"],
        ["-o", "1", "s", "-f", "Count.lf"],
        ["-f", "-k", "-o", "1", "s", "Count.lf"],
        ["-k", "-f", "-o", "1", "s", "--", "Count.lf"],
        ["-f", "-o", "1 s", "-w", "0", "-k", "false", "-m", "1", "s", "Count.lf"],
        ["-f", "-o", "1 s", "--workers", "3", "--keepalive", "false", "Count.lf"],
        ["-f", "-o", "1 s", "--start-time-multiple", "1", "s", "Count.lf"],
        ["-f", "-o", "1 s", "-i", "fed", "-r", "localhost:15045", "Count.lf"],
        ["-f", "-o", "1 s", "--seed", "5", "--check", "Count.lf"],
    ],
    ids=" ".join,
)
def test_options_in_all_forms(args: list[str], capsys: Capture) -> None:
    assert run(capsys, *args) == (0, TO_1_S, "")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (
            ["--timeout", "5", "parsecs"],
            "must be a time, got '5 parsecs'. Did you",
        ),
        (["--timeout", "soon"], "must be a time, got 'soon'. Write for example: 5 s"),
        (["--timeout", "5"], "must be a time, got '5'. Write for example: 5 s"),
        (["--timeout", "-5 s"], "must be a time, got '-5 s'"),
        (["--timeout=-5 s"], "must be a time, got '-5 s'"),
        (["--timeout", "300", "years"], "must be a time, got '300 years'"),
        (["--timeout", "9" * 5000, "s"], "must be a time, got"),
        (["--timeout", "99999999999", "weeks"], "The longest is 2^63 - 1 nanoseconds"),
        (["-m", "often"], "must be a time, got 'often'"),
        (["--fast=maybe"], "must be true or false, got 'maybe'"),
        (["--keepalive=yes"], "must be true or false, got 'yes'"),
        (["-w", "-1"], "must be an integer from 0 to 1024, got '-1'"),
        (["-w", "many"], "must be an integer from 0 to 1024, got 'many'"),
        (["-w", "1025"], "must be an integer from 0 to 1024, got '1025'"),
        (["--seed", "x"], "invalid int value: 'x'"),
        (["--logging", "chatty"], "invalid choice: 'chatty'"),
        (["--trace", "no/where"], "directory 'no' does not exist"),
        (["--trace", "."], "must be a file, got the directory '.'"),
        (["--fas"], "unknown option '--fas'"),
        (["other.lf"], "unexpected argument 'other.lf'"),
    ],
)
def test_wrong_options_are_usage_errors(
    args: list[str], said: str, capsys: Capture
) -> None:
    status, out, err = run(capsys, "Count.lf", *args)

    assert (status, out) == (2, "")
    assert err.startswith("usage: reactorl")
    assert said in err


def test_file_is_required(capsys: Capture) -> None:
    status, _, err = run(capsys, "--fast")

    assert status == 2
    assert "the following arguments are required: FILE.lf" in err


def test_options_take_precedence_over_target_properties(capsys: Capture) -> None:
    properties = "target Python {timeout: 9 s, fast: true, workers: 2}"
    Path("Count.lf").write_text(COUNT.replace("target Python", properties))

    assert run(capsys, "Count.lf", "-o", "1 s") == (0, TO_1_S, "")
    assert run(capsys, "Count.lf")[1].startswith(TO_1_S.removesuffix("end\n"))


def test_keepalive_waits_for_the_timeout(capsys: Capture) -> None:
    at_end = "reaction(shutdown) {= print(lf.time.logical_elapsed()) =}"

    waiting = run_text(capsys, at_end, options="-f -k true -o 7 s")
    ending = run_text(capsys, at_end, options="-f -k false -o 7 s")

    assert waiting == (0, "7000000000\n", "")
    assert ending[1] != waiting[1]


def test_start_time_is_a_multiple(capsys: Capture) -> None:
    start = "reaction(startup) {= print(lf.time.start() % SEC(1)) =}"

    assert run_text(capsys, start, options="-f -m 1 s") == (0, "0\n", "")


@pytest.mark.parametrize("level", ["info", "LOG", "debug"])
def test_logging_info_prints_a_summary(level: str, capsys: Capture) -> None:
    status, out, err = run(capsys, "Count.lf", "-f", "-o", "1 s", "--logging", level)

    assert (status, out) == (0, TO_1_S)
    assert "main.a.reaction_1" in err


def test_logging_error_hides_warnings(capsys: Capture) -> None:
    Path("Old.lf").write_text("target Python; main reactor { private preamble {= =} }")

    assert "warning: " in run(capsys, "Old.lf")[2]
    assert run(capsys, "Old.lf", "-l", "error") == (0, "", "")


def test_seed_determines_all_random_numbers(capsys: Capture) -> None:
    pytest.importorskip("numpy")
    before = """preamble {=
      import random
      import numpy as np
      first = random.random(), np.random.rand()
    =}"""
    draws = """reaction(startup) {=
      own = self.random.random(), self.np_random.random()
      print(first, random.random(), np.random.rand(), own)
    =}"""

    outputs = [
        run_text(capsys, draws, before=before, options=f"--seed {seed}")[1]
        for seed in (1, 1, 2, -2)
    ]

    assert outputs[0] == outputs[1]
    assert len({*outputs}) == 3


def test_trace_does_not_depend_on_the_number_of_workers(capsys: Capture) -> None:
    for n in "124":
        args = ["-f", "-o", "3 s", "-w", n, "--trace", f"t{n}", "-m", "1 wk"]
        assert run(capsys, "Count.lf", *args)[0] == 0

    found = [trace.load(f"t{n}").trace for n in "124"]

    second = 1_000_000_000
    assert found[0].values("main.b.y") == [
        (Tag(n * second, 0), 10 * (n + 1)) for n in range(4)
    ]
    assert trace.diff(found[0], found[1]) is None
    assert trace.diff(found[0], found[2]) is None


def test_trace_that_cannot_be_written_is_one_line(capsys: Capture) -> None:
    where = "target Python {tracing: {trace-file-name: 'no/where'}}"
    Path("Count.lf").write_text(COUNT.replace("target Python", where.replace("'", '"')))

    status, out, err = run(capsys, "Count.lf", "-f", "-o", "0")

    assert (status, out) == (1, "0 1 10\nend\n")
    assert err == (
        "reactorl: error: writing the trace no/where.trace failed: "
        "no such file or directory\n"
    )


SENDS_A_LIST = """
target Python
reactor Sender {
  output y
  state items = {= [] =}
  timer t(0, 1 s)
  reaction(t) -> y {=
    self.items.append(1)
    y.set(self.items)
  =}
}
main reactor {
  s = new Sender()
  d = new Delayed()
  s.y -> d.x after 1 ms
}
reactor Delayed {
  input x
  reaction(x) {= print(x.value) =}
}
"""


def test_check_reports_a_value_modified_after_sending(capsys: Capture) -> None:
    Path("Sends.lf").write_text(SENDS_A_LIST)
    args = ["Sends.lf", "-f", "-o", "2 s"]

    assert run(capsys, *args) == (0, "[1]\n[1, 1]\n", "")
    status, _, err = run(capsys, *args, "--check")

    assert status == 1
    assert err.startswith("Sends.lf:7:3: error: the list that main.s.reaction_1")
    assert "was changed in reaction main.s.reaction_1" in err
    assert "'mutable input' gives each reaction a copy of its own" in err
    assert "Traceback" not in err


def test_check_reports_use_of_global_random_state(capsys: Capture) -> None:
    status, _, err = run_text(
        capsys,
        "reaction(startup) {= random.random() =}",
        before="preamble {= import random =}",
        options="--check",
    )

    assert status == 1
    assert err.startswith("Text.lf:4:1: error: reaction main.reaction_1 uses global")
    assert "Use self.random" in err


# -- exit status --


@pytest.mark.parametrize(
    ("code", "status", "said"),
    [
        ("pass", 0, ""),
        ("exit(3)", 3, ""),
        ("sys.exit()", 0, ""),
        ("sys.exit(7)", 7, ""),
        ("sys.exit('text')", 1, "text\n"),
        ("raise SystemExit(5)", 5, ""),
        ("raise KeyboardInterrupt", 130, ""),
    ],
)
@pytest.mark.parametrize("workers", ["1", "2"])
def test_exit_status_of_the_program(
    code: str, status: int, said: str, workers: str, capsys: Capture
) -> None:
    found = run_text(
        capsys,
        "reaction(startup) {= print('first') =}",
        f"reaction(startup) {{= {code} =}}",
        "reaction(startup) {= print('last') =}",
        options=f"-w {workers}",
    )

    last = "last\n" if code == "pass" else ""
    assert found == (status, f"first\n{last}", said)


def test_exit_in_one_reactor_ends_the_run(capsys: Capture) -> None:
    Path("Bank.lf").write_text("""\
target Python
preamble {= import time =}
reactor Works {
  timer t(0, 1 ms)
  reaction(t) {=
    time.sleep(0.001)
    if self.bank_index == 2 and lf.time.logical_elapsed() == MSEC(3):
        raise SystemExit(9)
  =}
}
main reactor { w = new[4] Works() }
""")

    assert run(capsys, "Bank.lf", "-f", "-w", "2") == (9, "", "")


@pytest.mark.parametrize(
    "member", ["preamble {= exit(4) =}", "state x = {= exit(4) =}"], ids=["p", "s"]
)
def test_exit_before_the_start(member: str, capsys: Capture) -> None:
    startup = "reaction(startup) {= print('never') =}"

    assert run_text(capsys, member, startup) == (4, "", "")


def test_exception_exits_with_1(capsys: Capture) -> None:
    status, out, err = run_text(
        capsys, "reaction(startup) {= print('out') =}", "reaction(startup) {= 1 / 0 =}"
    )

    assert (status, out) == (1, "out\n")
    assert (
        err
        == """\
Traceback (most recent call last):
  File "Text.lf", line 5, in reaction_2
    reaction(startup) {= 1 / 0 =}
                         ~~^~~
ZeroDivisionError: division by zero
Text.lf:5: reaction main.reaction_2 failed at elapsed tag (0, 0)
"""
    )


# -- files --


def test_file_without_main_reactor_cannot_be_run(capsys: Capture) -> None:
    Path("Lib.lf").write_text("target Python\nreactor R { }\n")

    status, out, err = run(capsys, "Lib.lf")

    assert (status, out) == (2, "")
    assert err.startswith("Lib.lf:1:1: error: the file has no main reactor to run\n")


def test_file_with_errors_is_not_started(capsys: Capture) -> None:
    Path("Bad.lf").write_text(COUNT.replace("reaction(t)", "reaction(tt)"))

    status, out, err = run(capsys, "Bad.lf")

    assert (status, out) == (2, "")
    assert err.startswith("Bad.lf:15:12: error: ")


def test_python_file_is_recognized(capsys: Capture) -> None:
    Path("robot.py").write_text("print('hello')\n")

    assert run(capsys, "robot.py") == (
        2,
        "",
        "robot.py:1:1: error: this is a Python file, not an LF file\n"
        "  help: Run it with Python: python robot.py; 'reactorl graph' draws it.\n\n",
    )


def test_federation_runs_in_one_process(capsys: Capture) -> None:
    Path("Fed.lf").write_text("""\
target Python {timeout: 0}
reactor A { reaction(startup) {= print(lf.get_federation_id()) =} }
federated reactor { a = new A(); b = new A() }
""")

    assert run(capsys, "Fed.lf", "-f", "-i", "seven") == (
        0,
        "seven\nseven\n",
        "reactorl: Fed is federated: its federates run in this process, "
        "not distributed\n",
    )


# -- processes --


@pytest.fixture
def line_by_line() -> Iterator[subprocess.Popen[str]]:
    """Yield a program that prints a line and then waits for one."""
    Path("Waits.lf").write_text("""\
target Python
main reactor {
  reaction(startup) {=
    print("ready")
    print("problem", file=sys.stderr)
    print("got", sys.stdin.readline())
  =}
}
""")
    with subprocess.Popen(
        process("Waits.lf"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        yield running
        running.kill()


def test_output_arrives_while_the_program_runs(
    line_by_line: subprocess.Popen[str],
) -> None:
    assert line_by_line.stdout is not None
    assert line_by_line.stderr is not None

    assert line_by_line.stdout.readline() == "ready\n"
    assert line_by_line.stderr.readline() == "problem\n"

    rest, _ = line_by_line.communicate("a word\n", timeout=200)
    assert rest == "got a word\n\n"
    assert line_by_line.returncode == 0


@pytest.mark.parametrize("workers", ["1", "2"])
def test_interrupts_end_the_run_without_shutdown(workers: str) -> None:
    Path("Stays.lf").write_text("""\
target Python {keepalive: true}
main reactor {
  reaction(startup) {= print("ready") =}
  reaction(shutdown) {= print("shutdown") =}
}
""")
    with subprocess.Popen(
        process("Stays.lf", "-w", workers),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A shell that runs tests in the background may have disabled interrupts.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "ready\n"
        running.send_signal(signal.SIGINT)
        rest = running.communicate(timeout=200)

    assert (running.returncode, rest) == (130, ("", ""))


@pytest.mark.parametrize(("code", "status"), [("pass", 0), ("exit(3)", 3)])
def test_threads_do_not_keep_the_process_alive(code: str, status: int) -> None:
    Path("Threads.lf").write_text(f"""\
target Python
preamble {{= import threading =}}
main reactor {{
  reaction(startup) {{=
    threading.Thread(target=threading.Event().wait).start()
    print("started", end="")
    {code}
  =}}
}}
""")

    done = completed("Threads.lf")

    assert (done.returncode, done.stdout, done.stderr) == (status, "started", "")


def test_module_runs_programs() -> None:
    done = completed("Count.lf", "--fast", "--timeout", "1", "s")

    assert (done.returncode, done.stdout, done.stderr) == (0, TO_1_S, "")


def test_run_imports_no_heavy_package() -> None:
    Path("Hello.lf").write_text("target Python; main reactor { }")
    code = (
        "import sys; from reactorl.cli.main import main; main(['run', 'Hello.lf']); "
        "print(sorted({'lark', 'numpy', 'rich', 'asyncio'} & {*sys.modules}))"
    )

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )

    assert (done.stdout, done.stderr) == ("[]\n", "")


# -- federates as processes ------------------------------------------------------------

FEDERATED = """\
target Python { fast: true, timeout: 3 s }
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
  reaction(x) {= ACTION =}
}
federated reactor {
  source = new Source()
  sink = new Sink()
  source.y -> sink.x
}
"""


def run_federated(action: str, *args: str) -> subprocess.CompletedProcess[str]:
    Path("Parts.lf").write_text(FEDERATED.replace("ACTION", action))
    return subprocess.run(
        [sys.executable, "-m", "reactorl", "run", "--federated", *args, "Parts.lf"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_federates_print_with_their_names() -> None:
    done = run_federated("print(x.value)")

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "".join(f"[sink] {n}\n" for n in (1, 2, 3, 4))


def test_error_of_a_federate_is_shown_with_its_place() -> None:
    done = run_federated("1 / 0 if x.value == 2 else print(x.value)")

    assert (done.returncode, done.stdout) == (1, "[sink] 1\n")
    assert "ZeroDivisionError" in done.stderr
    assert "In federate sink:" in done.stderr
    assert "main.sink.reaction_1 failed at elapsed tag (1000000000, 0)" in done.stderr
    assert "site-packages" not in done.stderr
    assert "_federation" not in done.stderr


def test_exit_status_of_a_federate_is_that_of_the_command() -> None:
    assert run_federated("exit(5) if x.value == 2 else None").returncode == 5


def test_killed_federate_is_named() -> None:
    kill = "import os; os.kill(os.getpid(), 9)"

    done = run_federated(kill)

    assert done.returncode == 1
    assert "federate sink was lost: its process" in done.stderr
    assert "was killed by SIGKILL" in done.stderr
    assert "Traceback" not in done.stderr


def test_closed_pipe_of_the_reader_ends_federates() -> None:
    text = FEDERATED.replace("ACTION", "print(x.value)").replace(", timeout: 3 s", "")
    Path("Parts.lf").write_text(text)
    process = subprocess.Popen(
        [sys.executable, "-m", "reactorl", "run", "--federated", "Parts.lf"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline() == "[sink] 1\n"
    process.stdout.close()

    with process.stderr:
        assert process.stderr.read() == ""
    assert process.wait(120) != 0


def test_interrupt_of_a_federation_exits_with_130() -> None:
    text = FEDERATED.replace("ACTION", "print(x.value)").replace(", timeout: 3 s", "")
    Path("Parts.lf").write_text(text)
    process = subprocess.Popen(
        [sys.executable, "-m", "reactorl", "run", "--federated", "Parts.lf"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "[sink] 1\n"

    os.killpg(process.pid, signal.SIGINT)

    process.communicate(timeout=120)
    assert process.returncode == 130


def test_trace_points_of_federates_are_written(here: Path) -> None:
    note = "h = self.register_user_trace_event('x'); self.tracepoint_user_value(h, 7)"

    done = run_federated(note, "--trace", "parts.trace")

    assert done.returncode == 0, done.stderr
    lines = (here / "parts.trace.events.jsonl").read_text().splitlines()
    assert len(lines) == 4
    assert all('"reactor": "main.sink"' in line for line in lines)


def test_main_reactor_must_be_federated(capsys: Capture) -> None:
    status, out, err = run(capsys, "--federated", "Count.lf")

    assert (status, out) == (2, "")
    assert "the main reactor must be federated to run with --federated" in err
    assert "leave out --federated" in err


def test_trace_and_times_of_federates_are_written(here: Path, capsys: Capture) -> None:
    both = ("--timing", "parts.trace", "--trace", "parts.trace")
    done = run_federated("print(x.value)", *both)
    one = run(capsys, "--fast", "--trace", "one.trace", "Parts.lf")

    assert (done.returncode, done.stderr, one[0]) == (0, "", 0)
    saved, alone = (trace.load(here / name) for name in ("parts.trace", "one.trace"))
    assert trace.digest(saved.trace) == trace.digest(alone.trace)
    assert saved.timing is not None
    assert [each.name for each in saved.timing.federates] == ["source", "sink"]


@pytest.mark.parametrize(
    ("args", "what"),
    [
        (["--listen", "a:1"], "--listen needs --federated"),
        (["--federated", "--listen", "a:1"], "--listen needs --token-file FILE"),
        (["--federated", "--token-file", "x"], "--token-file needs --listen HOST:PORT"),
        (["--restarts", "2"], "--restarts needs --federated"),
        (["--no-encryption"], "--no-encryption needs --listen HOST:PORT"),
    ],
)
def test_options_of_joining_belong_together(
    args: list[str], what: str, capsys: Capture
) -> None:
    status, _, err = run(capsys, *args, "Count.lf")

    assert status == 2
    assert what in err
