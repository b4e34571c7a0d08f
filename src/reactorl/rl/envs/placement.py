# SPDX-License-Identifier: Apache-2.0
"""The choice between threads and processes."""

from __future__ import annotations

import os
import sys
import time
from statistics import median
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from reactorl._util.machine import has_gil, usable_cores

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

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
) -> tuple[Placement, int | None]:
    """Return the placement of environments and the number of workers.

    Without a GIL threads are always faster. With one, Python code runs on one core at a
    time: then one environment is made, stepped for a moment and closed. If processes
    would not be faster, neither would several threads.

    Args:
        wanted: A placement, or ``"auto"``.
        makers: Make the environments.
        workers: Number of workers; None: chosen automatically.
        trial: Steps an environment and yields the duration of each step; None: for
            Gymnasium environments.

    Raises:
        ValueError: ``wanted`` is not a placement.
    """
    if wanted == "thread":
        return "thread", workers
    if wanted == "process":
        return "process", workers
    if wanted != "auto":
        msg = f"placement must be 'thread', 'process' or 'auto', got {wanted!r}"
        raise ValueError(msg)
    parallel = workers if workers is not None else usable_cores()
    if not has_gil() or parallel < 2 or len(makers) < 2 or not can_have_processes():
        return "thread", workers
    if _step_seconds(makers[0], trial or try_steps) * len(makers) < MIN_PROCESS_SECONDS:
        return "thread", workers or 1
    return "process", workers


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
