# SPDX-License-Identifier: Apache-2.0
"""What a vector environment does, written down, and compared bit for bit."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

Run = list[tuple[str, Any]]
"""What each call returned, in order, with a name for it."""


def assert_same(ours: Any, theirs: Any, where: str = "it") -> None:
    """Demand the same types, the same structure and the same bits."""
    assert type(ours) is type(theirs), f"{where}: {type(ours)} is not {type(theirs)}"
    if isinstance(theirs, np.ndarray):
        assert ours.dtype == theirs.dtype, f"{where}: {ours.dtype}, {theirs.dtype}"
        assert ours.shape == theirs.shape, f"{where}: {ours.shape}, {theirs.shape}"
        if theirs.dtype == object:
            for place in np.ndindex(theirs.shape):
                assert_same(ours[place], theirs[place], f"{where}[{place}]")
        else:
            assert ours.tobytes() == theirs.tobytes(), f"{where}: {ours}, {theirs}"
    elif isinstance(theirs, np.generic):
        assert ours.tobytes() == theirs.tobytes(), f"{where}: {ours}, {theirs}"
    elif isinstance(theirs, dict):
        assert list(ours) == list(theirs), f"{where}: {list(ours)}, {list(theirs)}"
        for key in theirs:
            assert_same(ours[key], theirs[key], f"{where}[{key!r}]")
    elif isinstance(theirs, tuple | list):
        assert len(ours) == len(theirs), f"{where}: {len(ours)}, {len(theirs)} parts"
        for place, (our, their) in enumerate(zip(ours, theirs, strict=True)):
            assert_same(our, their, f"{where}[{place}]")
    elif isinstance(theirs, float):
        assert ours.hex() == theirs.hex(), f"{where}: {ours}, {theirs}"
    else:
        assert ours == theirs, f"{where}: {ours!r}, {theirs!r}"


def play(
    envs: VectorEnv[Any, Any, Any],
    *,
    steps: int,
    seed: int | list[int | None] | None = 1,
    options: dict[str, Any] | None = None,
    actions: Iterable[Any] | None = None,
    reset_at: Sequence[int] = (),
) -> Run:
    """Reset, step, and write down everything that comes back.

    Args:
        envs: Who plays; reset by mask where it does not reset by itself.
        steps: How often it is stepped.
        seed: For the first reset.
        options: For all resets.
        actions: What to do; None: samples of the action space.
        reset_at: After these steps about a third of the environments is reset.
    """
    script = None if actions is None else iter(actions)
    envs.action_space.seed(7)
    run: Run = [("reset", deepcopy(envs.reset(seed=seed, options=deepcopy(options))))]
    by_hand = envs.metadata["autoreset_mode"] is AutoresetMode.DISABLED
    for turn in range(steps):
        given = envs.action_space.sample() if script is None else next(script)
        found = envs.step(given)
        run.append((f"step {turn}", deepcopy(found)))
        mask = np.zeros(envs.num_envs, np.bool_)
        if by_hand:
            mask |= found[2] | found[3]
        if turn in reset_at:
            mask[turn % 3 :: 3] = True
        if mask.any():
            again = {**(options or {}), "reset_mask": mask}
            seeds = [None if i % 2 else 50 + turn + i for i in range(envs.num_envs)]
            run.append(
                (f"reset {turn}", deepcopy(envs.reset(seed=seeds, options=again)))
            )
    return run


def assert_same_run(ours: Run, theirs: Run) -> None:
    """Demand that every call returned the same."""
    assert [name for name, _ in ours] == [name for name, _ in theirs]
    for (name, our), (_, their) in zip(ours, theirs, strict=True):
        assert_same(our, their, name)


def play_sync(
    makers: Sequence[Callable[[], Any]],
    *,
    sync: dict[str, Any] | None = None,
    **script: Any,
) -> Run:
    """Return what Gymnasium's ``SyncVectorEnv`` does."""
    envs = SyncVectorEnv(makers, **(sync or {}))
    try:
        return play(envs, **script)
    finally:
        envs.close()
