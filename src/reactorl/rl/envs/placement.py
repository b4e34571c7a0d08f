# SPDX-License-Identifier: Apache-2.0
"""The choice between threads and processes."""

from __future__ import annotations

import logging
import os
import sys
import time
import warnings
from statistics import median
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from reactorl import ReactorlWarning
from reactorl._util.machine import has_gil, usable_cores
from reactorl.rl.envs.errors import ThreadSafetyError
from reactorl.rl.envs.thread_safety.probe import recorded_verdict, thread_safety

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from reactorl.rl.envs.thread_safety.verdict import Verdict

_log: Final = logging.getLogger(__name__)

Placement: TypeAlias = Literal["thread", "process"]
PlacementOption: TypeAlias = Literal["thread", "process", "auto"]
Trial: TypeAlias = "Callable[[Any], Iterator[float]]"

MIN_PROCESS_SECONDS: Final = 800e-6
"""Seconds for a step of all environments from which processes are faster.

The messages to and from the processes take about a quarter of that."""
PROBE_STEPS: Final = 40
PROBE_SECONDS: Final = 0.05


def choose_placement(
    wanted: str,
    makers: Sequence[Callable[[], Any]],
    workers: int | None,
    trial: Trial | None = None,
    *,
    concurrent: bool = False,
    processes_pay: bool = True,
    verdict: Verdict | None = None,
    native: bool = False,
) -> tuple[Placement, int | None]:
    """Return the placement of environments and the number of workers.

    Several threads are chosen only for environments that are known or found to be safe
    in them; see ``thread_safety``. If so, without a GIL threads are always faster. With
    one, Python code runs on one core at a time: then one environment is made, stepped
    for a moment and closed. If processes would not be faster, neither would several
    threads.

    Args:
        wanted: A placement, or ``"auto"``.
        makers: Make the environments.
        workers: Number of workers; None: chosen automatically.
        trial: Steps an environment and yields the duration of each step; None: for
            Gymnasium environments.
        concurrent: Whether environments in threads run concurrently whatever
            ``workers`` is, on threads of the caller.
        processes_pay: Whether processes can be faster.
        verdict: The result of a check of thread safety.
        native: Whether steps are done in native code, which needs no GIL.

    Raises:
        ThreadSafetyError: ``wanted`` is ``"thread"``, and ``verdict`` is against it.
        ValueError: ``wanted`` is not a placement.
    """
    if wanted not in ("thread", "process", "auto"):
        msg = f"placement must be 'thread', 'process' or 'auto', got {wanted!r}"
        raise ValueError(msg)
    if wanted == "process":
        return "process", workers
    if native and wanted == "auto":
        return "thread", workers
    parallel = workers if workers is not None else usable_cores()
    if len(makers) < 2 or (parallel < 2 and not concurrent):
        return "thread", workers
    if wanted == "thread":
        _check_threads(makers, verdict)
        return "thread", workers
    if has_gil() and can_have_processes():
        if processes_pay and _are_processes_faster(makers, trial):
            return "process", workers
        if workers is None and not concurrent:
            return "thread", 1
    return _safe_placement(verdict or thread_safety(makers), workers)


def _safe_placement(
    verdict: Verdict, workers: int | None
) -> tuple[Placement, int | None]:
    """Return threads if the environments are safe in them, else processes."""
    if verdict.safe:
        return "thread", workers
    if verdict.kind == "unmade":
        return "thread", workers  # the backend reports the failure
    if can_have_processes() and verdict.kind != "unsendable":
        _log.warning(
            "environments run in worker processes, not in threads: %s", verdict
        )
        return "process", workers
    _log.warning(
        "environments run on one thread: %s. If they are safe in threads, give "
        "placement='thread'",
        verdict,
    )
    return "thread", 1


def _check_threads(
    makers: Sequence[Callable[[], Any]], checked: Verdict | None
) -> None:
    """Warn if environments are not safe in threads, as far as is known.

    Raises:
        ThreadSafetyError: They were checked, and are not.
    """
    verdict = checked or recorded_verdict(makers)
    if verdict is None or verdict.safe or verdict.kind in ("unmade", "unsendable"):
        return
    error = ThreadSafetyError(verdict.name, verdict.reason)
    if checked is not None:
        raise error
    warnings.warn(str(error), ReactorlWarning, stacklevel=4)


def _are_processes_faster(
    makers: Sequence[Callable[[], Any]], trial: Trial | None
) -> bool:
    seconds = _step_seconds(makers[0], trial or try_steps)
    return seconds * len(makers) >= MIN_PROCESS_SECONDS


def parts(count: int, size: int) -> list[range]:
    """Split ``count`` indices into ``size`` ranges of almost equal length."""
    return [range(count * k // size, count * (k + 1) // size) for k in range(size)]


def can_have_processes() -> bool:
    """Return whether environments can live in other processes on this system."""
    return os.name == "posix" and bool(sys.executable)


def check_processes() -> None:
    """Check that environments can live in other processes.

    Raises:
        RuntimeError: They cannot.
    """
    if not can_have_processes():
        msg = (
            "placement='process' needs a POSIX system and an interpreter that "
            "can be started (sys.executable); use placement='thread'"
        )
        raise RuntimeError(msg)


def try_steps(env: Any) -> Iterator[float]:  # noqa: ANN401
    """Step a Gymnasium environment without end; yield the seconds of each step."""
    env.action_space.seed(0)
    env.reset(seed=0)
    while True:
        began = time.perf_counter()
        _, _, terminated, truncated, _ = env.step(env.action_space.sample())
        yield time.perf_counter() - began
        if terminated or truncated:
            env.reset()


def _step_seconds(maker: Callable[[], Any], trial: Trial) -> float:
    """Return the median seconds of a step; 0 if it cannot be measured."""
    try:
        env: Any = maker()
    except Exception:
        return 0.0  # the backend reports the failure
    try:
        taken: list[float] = []
        end = time.perf_counter() + PROBE_SECONDS
        for seconds in trial(env):
            taken.append(seconds)
            if len(taken) == PROBE_STEPS or time.perf_counter() > end:
                break
        return median(taken)
    except Exception:
        return 0.0
    finally:
        env.close()
