# SPDX-License-Identifier: Apache-2.0
"""Detection of hidden global state: each environment runs alone and among the others.

Environments of one process may share a random generator, a table or a simulator. Then
the results of one depend on the steps of others in between, and runs are not
reproducible.
"""

from __future__ import annotations

import hashlib
import traceback
from copy import deepcopy
from typing import TYPE_CHECKING, Any, Final

from reactorl.rl.envs.errors import EnvError, SharedStateError
from reactorl.rl.envs.managed_env import env_name
from reactorl.rl.envs.thread_safety.results import add_to_digest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from reactorl.rl.envs.factory import Maker

STEPS: Final = 50
SEED: Final = 1


def check_shared_state(makers: Sequence[Maker], steps: int = STEPS) -> None:
    """Check that environments are reproducible, alone and among the others.

    Each is made three times and stepped with the same seed and actions: twice alone,
    then interleaved with the others. Environments are closed afterwards.

    Args:
        makers: Make the environments.
        steps: Number of steps of each.

    Raises:
        EnvError: One cannot be made, or raised.
        SharedStateError: Some diverge; it has their indices and first steps.
    """
    first = [_alone(maker, index, steps) for index, maker in enumerate(makers)]
    again = [_alone(maker, index, steps) for index, maker in enumerate(makers)]
    together = _together(makers, steps)
    alone = {i: k for i in range(len(makers)) if (k := _divergence(first[i], again[i]))}
    among = {
        i: k
        for i in range(len(makers))
        if i not in alone and (k := _divergence(first[i], together[i]))
    }
    if alone or among:
        differing = {**alone, **among}
        raise SharedStateError(tuple(alone), tuple(among), tuple(differing.items()))


def _divergence(one: Sequence[str], other: Sequence[str]) -> int:
    """Return the first step, from 1, at which two runs diverge; 0 if they do not."""
    for step, (a, b) in enumerate(zip(one, other, strict=True)):
        if a != b:
            return max(step, 1)
    return 0


def _alone(maker: Maker, index: int, steps: int) -> list[str]:
    return list(_run(maker, index, steps))


def _together(makers: Sequence[Maker], steps: int) -> list[list[str]]:
    runs = [_run(maker, index, steps) for index, maker in enumerate(makers)]
    found: list[list[str]] = [[] for _ in runs]
    for _ in range(steps + 1):
        for mine, run in zip(found, runs, strict=True):
            mine.append(next(run))
    for run in runs:
        for _ in run:  # until it has closed its environment
            pass
    return found


def _run(maker: Callable[[], Any], index: int, steps: int) -> Iterator[str]:
    """Yield a digest of all results so far: after the reset, and after each step."""
    step, env = 0, None
    try:
        env = maker()
        # A copy: environments may share the space, which has a random generator.
        actions = deepcopy(env.action_space)
        actions.seed(SEED + index)
        seen = hashlib.blake2b(digest_size=16)
        add_to_digest(seen, env.reset(seed=SEED + index))
        yield seen.hexdigest()
        for _ in range(steps):
            step += 1
            result = env.step(actions.sample())
            add_to_digest(seen, result)
            if result[2] or result[3]:
                add_to_digest(seen, env.reset())
            yield seen.hexdigest()
    except Exception as error:
        what = f"in the check of shared state: {type(error).__name__}: {error}"
        trace = "".join(traceback.format_exception(error))
        raise EnvError(index, env_name(env), step, "", what, trace) from error
    finally:
        if env is not None:
            env.close()
