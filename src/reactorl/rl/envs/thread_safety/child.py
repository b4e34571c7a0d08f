# SPDX-License-Identifier: Apache-2.0
"""The program of the probe: runs environments alone, then concurrently, and compares.

It is a process of its own: a library that is not thread-safe may crash it.

Threads are stopped in the middle of C functions (``Preemption``) where these run
without the GIL, and Python code switches threads as often as possible. So a race does
not need luck or an idle machine to show.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
import time
import warnings
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import gymnasium as gym

from reactorl._util.child_process import accept_signals
from reactorl._util.machine import has_gil
from reactorl.rl.envs._preemption import Preemption
from reactorl.rl.envs.thread_safety.results import can_render, results

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from reactorl.rl.envs.thread_safety.results import Path, Result

SEED: Final = 1
MAX_STEPS: Final = 30
"""Resets and steps of one round."""
MIN_STEPS: Final = 3
ROUND_SECONDS: Final = 0.06
"""Processor time after which a round ends, unless it has ``MIN_STEPS``."""
ROUNDS: Final = 2
"""Rounds of each thread at least, if there is time."""
CHANCES: Final = 2_000
"""Interruptions of running threads after which no race is expected any more."""
PAUSES: Final = 300
"""Pauses after which that holds without a GIL."""
MAX_CPU_SECONDS: Final = 2.0
"""Processor time of the concurrent rounds after which one round is enough."""
SWITCH_SECONDS: Final = 1e-5
UNSAFE_RENDERERS: Final = ("pygame",)
"""Libraries that are not thread-safe; environments that render with them are not."""
PERIOD, PROGRESS, LONGEST = 40, 200, 4_000
"""Of ``Preemption``, in microseconds."""


class Reference:
    """The results of one environment alone.

    Args:
        maker: Makes the environment.
        seed: Its seed.
    """

    def __init__(self, maker: Callable[[], Any], seed: int) -> None:
        self._maker, self._seed = maker, seed
        env = maker()
        self.renders = can_render(env)
        try:
            self._results = list(_timed(results(env, seed)))
        finally:
            env.close()
        self._infos: list[dict[Path, str]] = [{} for _ in self._results]
        env = maker()
        try:
            again = list(self._round(env))
            self.repeats = self.divergence(iter(again)) is None
            """Whether another environment gives the same results, apart from infos."""
            self._infos = [
                _common(*pair) for pair in zip(self._results, again, strict=True)
            ]
            self._reusable = self.divergence(self._round(env)) is None
        finally:
            env.close()

    def _round(self, env: Any) -> Iterator[Result]:  # noqa: ANN401
        return islice(results(env, self._seed), len(self._results))

    def divergence(self, found: Iterator[Result]) -> int | None:
        """Return the first step at which results differ; None if they do not.

        Entries of infos count only if they are reproducible: times are not.
        """
        for step, (mine, other) in enumerate(zip(self._results, found, strict=True)):
            if mine.main != other.main:
                return step
            infos = self._infos[step].items()
            if any(other.infos.get(path) != value for path, value in infos):
                return step
        return None

    def rounds(self) -> Iterator[int | None]:
        """Run without end, in new environments and in used ones; yield divergences."""
        while True:
            env = self._maker()
            try:
                yield self.divergence(self._round(env))
                if self._reusable:
                    yield self.divergence(self._round(env))
            finally:
                env.close()


def _common(one: Result, other: Result) -> dict[Path, str]:
    """Return the entries of infos that two runs have in common."""
    return dict(one.infos.items() & other.infos.items())


def _timed(found: Iterator[Result]) -> Iterator[Result]:
    end = time.thread_time() + ROUND_SECONDS
    for count, result in enumerate(islice(found, MAX_STEPS), start=1):
        yield result
        if count >= MIN_STEPS and time.thread_time() > end:
            return


class Contest:
    """Runs environments concurrently, one in each thread."""

    def __init__(self, references: Sequence[Reference]) -> None:
        self._references = references
        self._start = threading.Barrier(len(references))
        self._preemption = Preemption(period=PERIOD, progress=PROGRESS, longest=LONGEST)
        self._rounds = [0] * len(references)
        self._gil = has_gil()
        self._failure: dict[str, Any] | None = None

    def run(self) -> dict[str, Any] | None:
        """Return the first difference; None if there is none."""
        self._end = time.process_time() + MAX_CPU_SECONDS
        threads = [
            threading.Thread(target=self._compete, args=(index,))
            for index in range(len(self._references))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return self._failure

    def _compete(self, index: int) -> None:
        self._start.wait()
        self._preemption.enter(gil=self._gil)
        try:
            for step in self._references[index].rounds():
                self._rounds[index] += 1
                if step is not None:
                    self._failure = {"index": index, "step": step}
                if self._is_over():
                    break
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
            self._failure = {"index": index, "step": 0, "error": text}
        finally:
            self._preemption.leave()

    def _is_over(self) -> bool:
        if self._failure is not None:
            return True
        rounds = min(self._rounds)
        if time.process_time() > self._end:
            return rounds > 0
        enough = self._preemption.chances >= CHANCES
        if not self._gil:  # nearly every interruption is a pause
            enough = self._preemption.pauses >= PAUSES
        return rounds >= ROUNDS and enough


def probe(makers: Sequence[Callable[[], Any]]) -> dict[str, Any]:
    """Compare environments that run concurrently with the same ones alone.

    Args:
        makers: Make the environments, one for each thread.

    Returns:
        ``verdict``: ``"safe"``, ``"differs"``, ``"unrepeatable"`` (it gives different
        results even alone) or ``"unmade"``; for ``"differs"`` the ``index`` of the
        environment and the ``step``, with an ``error`` if it raised, or the
        ``library`` that is at fault.
    """
    try:
        references = [Reference(make, SEED + i) for i, make in enumerate(makers)]
    except Exception as error:
        return {"verdict": "unmade", "error": f"{type(error).__name__}: {error}"}
    if not all(reference.repeats for reference in references):
        return {"verdict": "unrepeatable"}
    sys.setswitchinterval(SWITCH_SECONDS)
    failure = Contest(references).run()
    if failure is not None:
        return {"verdict": "differs", **failure}
    if any(reference.renders for reference in references):
        for library in UNSAFE_RENDERERS:
            if library in sys.modules:  # its races are too rare to be met every time
                return {"verdict": "differs", "library": library}
    return {"verdict": "safe"}


def main() -> None:
    """Probe the environments that come on stdin; write the answer to a descriptor."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent
    accept_signals()
    registry, sent = pickle.load(sys.stdin.buffer)
    try:
        for name, spec in pickle.loads(registry).items():
            gym.registry.setdefault(name, spec)
        makers = pickle.loads(sent)
    except Exception as error:
        answer = {"verdict": "unsendable", "error": f"{type(error).__name__}: {error}"}
    else:
        warnings.simplefilter("ignore")
        answer = probe(makers)
    with os.fdopen(int(sys.argv[1]), "wb") as file:
        file.write(pickle.dumps(answer))
    # Threads and exit handlers of libraries have no say any more.
    os._exit(0)
