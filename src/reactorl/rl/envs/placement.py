# SPDX-License-Identifier: Apache-2.0
"""In threads or in processes: which is faster."""

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
Trial: TypeAlias = "Callable[[Any], Iterator[float]]"

WORTH_PROCESSES: Final = 800e-6
"""Seconds that stepping all environments must take for processes to be faster.

Telling processes to step and hearing from them takes about a quarter of that."""
PROBE_STEPS: Final = 40
PROBE_SECONDS: Final = 0.05


def choose_placement(
    wanted: str,
    makers: Sequence[Callable[[], Any]],
    workers: int | None,
    trial: Trial | None = None,
) -> tuple[Placement, int | None]:
    """Return where environments should live, and how many workers they should have.

    Without a GIL threads are always better. With one, Python code runs on one core at a
    time: then an environment is made and stepped for a moment, and thrown away. Where
    processes would not pay, more than one thread would not, either.

    Args:
        wanted: A placement, or ``"auto"``.
        makers: Make the environments.
        workers: How many workers are wanted; None: what helps.
        trial: Steps an environment and says how long each step took; None: as
            Gymnasium's are stepped.

    Raises:
        ValueError: ``wanted`` is no placement.
    """
    if wanted == "thread":
        return "thread", workers
    if wanted == "process":
        return "process", workers
    if wanted != "auto":
        msg = f"placement is {wanted!r}; it is 'thread', 'process' or 'auto'"
        raise ValueError(msg)
    parallel = workers if workers is not None else usable_cores()
    if not has_gil() or parallel < 2 or len(makers) < 2 or not can_have_processes():
        return "thread", workers
    if _step_seconds(makers[0], trial or try_steps) * len(makers) < WORTH_PROCESSES:
        return "thread", workers or 1
    return "process", workers


def parts(count: int, size: int) -> list[range]:
    """Return so many environments in so many parts, as even as can be."""
    return [range(count * k // size, count * (k + 1) // size) for k in range(size)]


def can_have_processes() -> bool:
    """Return whether this machine can have environments in other processes."""
    return os.name == "posix" and bool(sys.executable)


def try_steps(env: Any) -> Iterator[float]:  # noqa: ANN401
    """Step an environment of Gymnasium's for ever; how long takes each step?"""
    env.action_space.seed(0)
    env.reset(seed=0)
    while True:
        began = time.perf_counter()
        _, _, terminated, truncated, _ = env.step(env.action_space.sample())
        yield time.perf_counter() - began
        if terminated or truncated:
            env.reset()


def _step_seconds(maker: Callable[[], Any], trial: Trial) -> float:
    """Return how long a step takes, about; 0 if that cannot be told."""
    try:
        env: Any = maker()
    except Exception:
        return 0.0  # whoever makes it in earnest gets to see why
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
