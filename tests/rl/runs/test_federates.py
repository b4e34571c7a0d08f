# SPDX-License-Identifier: Apache-2.0
"""Trainer over federates: results, lost processes, restarts, signals."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from contextlib import suppress
from dataclasses import replace
from random import Random
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest

from reactorl import FederationError, trace
from reactorl._federation.link_errors import PeerLostError
from reactorl.rl import Callback, FlowError, Trainer, read_checkpoint
from reactorl.rl.runs.metrics import read_metrics
from tests.rl.contract.tasks import IPPO_TASK, Q_TASK
from tests.rl.scripts import gone, start_script

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

QUIET: Any = {"progress": False, "final_episodes": 2, "checkpoint_every": 96}
TASK = replace(Q_TASK, eval_every=96)


class Processes(Callback):
    """Collects the processes of federates, and kills one after some iterations."""

    def __init__(self, *kills: int, victim: int = 0) -> None:
        self.pids: list[int] = []
        self.kills = list(kills)
        self.victim = victim

    def on_iteration(self, session: Any, iteration: Any) -> None:
        processes = session._run.session._federates.processes
        self.pids += [p.pid for p in processes if p.pid not in self.pids]
        if self.kills and iteration.number == self.kills[0]:
            del self.kills[0]
            os.kill(processes[self.victim].pid, signal.SIGKILL)


def left_in(run: Path) -> Any:
    """Return what a training leaves, without times."""
    found = read_metrics(run / "metrics.csv")
    metrics = [(step, key, v) for step, _, key, v in found if key != "charts/SPS"]
    return metrics, (run / "checkpoint").read_bytes()


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run of one process."""
    path = tmp_path_factory.mktemp("one") / "run"
    Trainer(TASK, path, trace=True, **QUIET).fit()
    return path


def test_a_run_over_federates_is_that_of_one_process(one: Path, tmp_path: Path) -> None:
    processes = Processes()

    Trainer(
        TASK, tmp_path, federates=3, trace=True, callbacks=[processes], **QUIET
    ).fit()

    assert left_in(tmp_path) == left_in(one)
    name = "rounds-from-1.trace.gz"
    ours, theirs = trace.load(tmp_path / name), trace.load(one / name)
    assert trace.digest(ours.trace) == trace.digest(theirs.trace)
    assert ours.program == theirs.program
    assert len(processes.pids) == 2
    assert gone(processes.pids)


def test_times_of_federates_leave_results_as_they_are(
    one: Path, tmp_path: Path
) -> None:
    Trainer(TASK, tmp_path, federates=2, trace=True, timing=True, **QUIET).fit()

    assert left_in(tmp_path) == left_in(one)
    name = "rounds-from-1.trace.gz"
    ours, theirs = trace.load(tmp_path / name), trace.load(one / name)
    assert trace.digest(ours.trace) == trace.digest(theirs.trace)
    assert ours.timing is not None
    head, other = ours.timing.federates
    assert (head.name, other.name) == ("head", "head-1")
    # Its rollouts need weights that are learned from their own trajectories.
    assert sum(wait.waits for wait in other.waits) > 0
    assert head.recent_tags
    assert other.recent_tags


@pytest.mark.parametrize("victim", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_federate_that_is_lost_begins_again_alone(
    victim: int, one: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """From the first tag, from a checkpoint, and from the last one."""
    processes = Processes(1, 3, 5, victim=victim)

    result = Trainer(
        TASK, tmp_path, federates=3, restarts=3, callbacks=[processes], **QUIET
    ).fit()

    assert result.iterations == 8
    assert left_in(tmp_path) == left_in(one)
    assert len(processes.pids) == 5
    assert gone(processes.pids)
    texts = [record.getMessage() for record in caplog.records]
    assert len(texts) == 3
    for left, text in zip((2, 1, 0), texts, strict=True):
        assert f"federate head-{victim + 1} was lost: its process" in text
        assert f"It begins again. Restarts left: {left}." in text


class Cutting(Callback):
    """Makes the coordinator think that a wire is dead."""

    def __init__(self, *cuts: int) -> None:
        self.cuts = list(cuts)

    def on_iteration(self, session: Any, iteration: Any) -> None:
        if not self.cuts or iteration.number != self.cuts[0]:
            return
        del self.cuts[0]
        server = session._run.session._federates.server
        error = PeerLostError("federate head-2 was lost: no route", wire=True)
        with server._changed:
            server._lose(2, error)


def test_training_starts_again_if_a_federate_cannot_begin_again(
    one: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    cutting = Cutting(3, 5)

    result = Trainer(
        TASK, tmp_path, federates=3, restarts=2, callbacks=[cutting], **QUIET
    ).fit()

    assert result.iterations == 8
    assert left_in(tmp_path) == left_in(one)
    first, second = (record.getMessage() for record in caplog.records)
    assert "federate head-2 was lost: " in first
    assert "from the checkpoint of step 96. Restarts left: 1." in first
    assert "from the checkpoint of step 192. Restarts left: 0." in second


class Killing(Callback):
    """Kills a federate at a random moment, while others may run."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.at = self.random.randint(1, 7)

    def on_iteration(self, session: Any, iteration: Any) -> None:
        if iteration.number == self.at:
            Thread(target=self.kill, args=[session], daemon=True).start()

    def kill(self, session: Any) -> None:
        time.sleep(self.random.random() * 0.05)  # any moment must be fine
        victim = self.random.choice(session._run.session._federates.processes)
        if victim.status is None:
            os.kill(victim.pid, signal.SIGKILL)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "disk"
    path.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(path)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False).returncode:
        pytest.skip("a small disk needs root and tmpfs")
    yield path
    subprocess.run(["umount", str(path)], check=True)


class Filling(Callback):
    """Fills the disk after an iteration."""

    def __init__(self, path: Path, at: int) -> None:
        self.path, self.at = path, at

    def on_iteration(self, session: Any, iteration: Any) -> None:
        if iteration.number == self.at:
            with suppress(OSError), self.path.open("wb", buffering=0) as file:
                while file.write(bytes(4096)):
                    pass


@pytest.mark.slow
def test_full_disk_at_a_checkpoint_ends_all_and_can_be_resumed(
    one: Path, small_disk: Path
) -> None:
    """Restarts do not help; the checkpoint before is whole."""
    run, filler = small_disk / "run", small_disk / "filler"
    processes = Processes()
    callbacks = [processes, Filling(filler, 5)]

    with pytest.raises(OSError, match="No space left") as full:
        Trainer(TASK, run, federates=3, restarts=2, callbacks=callbacks, **QUIET).fit()

    assert any("resume" in note for note in full.value.__notes__)
    assert gone(processes.pids)
    filler.unlink()
    Trainer(TASK, run, federates=2, resume=True, **QUIET).fit()
    assert left_in(run) == left_in(one)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_kills_at_random_moments_change_nothing(
    seed: int, one: Path, tmp_path: Path
) -> None:
    Trainer(
        TASK, tmp_path, federates=3, restarts=2, callbacks=[Killing(seed)], **QUIET
    ).fit()

    assert left_in(tmp_path) == left_in(one)


@pytest.mark.parametrize(
    ("restarts", "kills", "note"),
    [
        (0, [5], "The last complete checkpoint is of step 192; resume from it"),
        (1, [3, 5], "The last complete checkpoint is of step 192; resume from it"),
        (0, [1], "There is no checkpoint yet."),
    ],
    ids=["no restart", "no restart left", "no checkpoint"],
)
def test_without_a_restart_or_a_checkpoint_the_loss_is_an_error(
    restarts: int, kills: list[int], note: str, tmp_path: Path
) -> None:
    processes = Processes(*kills)
    trainer = Trainer(
        TASK, tmp_path, federates=2, restarts=restarts, callbacks=[processes], **QUIET
    )

    with pytest.raises(FederationError) as raised:
        trainer.fit()

    text = str(raised.value)
    pid = processes.pids[-1]
    assert f"federate head-1 was lost: its process {pid} was killed by SIGKILL" in text
    # Whether its last report has arrived depends on timing.
    tag = re.search(r"the last tag that it reported is \((\d+), 0\)", text)
    last = kills[-1] * 1_000_000
    assert int(tag[1]) <= last if tag else "it had not reported a tag" in text
    assert raised.value.__notes__[-1].startswith(note)
    assert gone(processes.pids)
    assert (tmp_path / "report.html").exists()


def test_other_errors_do_not_start_it_again(tmp_path: Path) -> None:
    class Failing(Callback):
        calls = 0

        def on_iteration(self, session: Any, iteration: Any) -> None:
            Failing.calls += 1
            if iteration.number == 3:
                msg = "mine"
                raise FlowError(msg)

    with pytest.raises(FlowError, match="mine"):
        Trainer(
            TASK, tmp_path, federates=2, restarts=3, callbacks=[Failing()], **QUIET
        ).fit()

    assert Failing.calls == 3


def test_a_callback_stops_all_after_its_iteration(one: Path, tmp_path: Path) -> None:
    class Stopping(Callback):
        def on_iteration(self, session: Any, iteration: Any) -> None:
            if iteration.number == 5:
                session.stop("enough")

    run = tmp_path / "run"
    stopped = Trainer(TASK, run, federates=4, callbacks=[Stopping()], **QUIET).fit()
    assert (stopped.iterations, stopped.stopped) == (5, "enough")
    assert read_checkpoint(run / "checkpoint").data["round"] == 5

    Trainer(TASK, run, resume=True, federates=2, **QUIET).fit()

    metrics, checkpoint = left_in(one)
    final = "eval/final_return"  # the stopped one has one of its own
    ours, same = left_in(run)
    assert same == checkpoint
    assert [m for m in ours if m[1] != final] == [m for m in metrics if m[1] != final]


@pytest.mark.parametrize(
    "number",
    [
        signal.SIGINT,
        pytest.param(signal.SIGTERM, marks=pytest.mark.slow),
        pytest.param(signal.SIGHUP, marks=pytest.mark.slow),
    ],
)
def test_a_signal_to_the_whole_group_writes_a_checkpoint(
    number: int, one: Path, tmp_path: Path
) -> None:
    text = f"""
        import os, signal
        from dataclasses import replace
        from pathlib import Path
        from reactorl.rl import Callback, Trainer
        from tests.rl.contract.tasks import Q_TASK

        class Stopping(Callback):
            def on_iteration(self, session, iteration):
                if iteration.number == 3:
                    os.killpg(0, {int(number)})

        if __name__ == "__main__":
            os.setpgid(0, 0)
            result = Trainer(
                replace(Q_TASK, eval_every=96), Path({str(tmp_path / "run")!r}),
                federates=3, progress=False, final_episodes=2, checkpoint_every=96,
                callbacks=[Stopping()],
            ).fit()
            print(result.signal, result.iterations)
    """
    process = start_script(text, tmp_path / "script.py")
    said, errors = process.communicate(timeout=200)
    assert (said, process.returncode) == (f"{int(number)} 3\n", 0), errors

    Trainer(TASK, tmp_path / "run", resume=True, federates=2, **QUIET).fit()

    assert left_in(tmp_path / "run") == left_in(one)


# -- what is refused before anything is written ----------------------------------------


@pytest.mark.parametrize(
    ("task", "options", "message"),
    [
        (TASK, {"federates": 0}, "federates must be at least 1, got 0"),
        (TASK, {"restarts": -1}, "restarts must be 0 or more, got -1"),
        (TASK, {"federates": 6}, "federates must be from 1 to 5"),
        (IPPO_TASK, {"federates": 2}, "federates must be 1 for IPPO, got 2"),
    ],
)
def test_what_is_refused(task: Any, options: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(FlowError, match=message):
        Trainer(task, tmp_path / "run", **options).fit()

    assert not (tmp_path / "run").exists()


def test_federation_that_cannot_start_is_the_error_of_the_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(*_: Any, **__: Any) -> None:
        what = "connecting to the cluster failed: Connection refused"
        raise FederationError(what)

    monkeypatch.setattr(type(TASK), "start", start)
    trainer = Trainer(TASK, tmp_path / "run", federates=2, restarts=1, **QUIET)

    with pytest.raises(FederationError, match="Connection refused") as caught:
        trainer.fit()
    assert caught.value.__notes__ == ["There is no checkpoint yet."]
