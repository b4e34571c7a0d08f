# SPDX-License-Identifier: Apache-2.0
"""An episode ends once, even if its environment is lost before a reset."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from reactorl.rl import EnvError, VectorEnv
from reactorl.rl.envs.arrays import Arrays
from reactorl.rl.envs.rules import Rules
from reactorl.rl.envs.sub_env import SubEnv
from tests.rl.scripts import gone, kill
from tests.rl.troubles import SPACE, Trouble, Weary

MODES = list(AutoresetMode)
KINDS = [
    ("thread", "raise"),
    ("thread", "spin"),
    ("process", "raise"),
    ("process", "spin"),
    ("process", "kill"),
]
LIMIT = 2.0  # seconds; so long that ordinary steps stay below it on a busy machine
NOTHING = np.zeros(2, np.int64)


def ends(found: Any) -> list[bool]:
    """Return whose episode a step says has ended."""
    listed: list[bool] = (found[2] | found[3]).tolist()
    return listed


def whose(info: dict[str, Any]) -> list[int]:
    """Return of whose restart an info tells."""
    return np.flatnonzero(info.get("_restart", [])).tolist()


@pytest.mark.parametrize("restart", ["reset", "recreate"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("placement", "kind"), KINDS)
def test_failed_reset_after_an_end_does_not_end_the_episode_again(
    placement: Any, kind: str, mode: AutoresetMode, restart: Any
) -> None:
    envs = VectorEnv(
        [Weary, partial(Weary, kind)],
        placement=placement,
        workers=2,
        restart=restart,
        autoreset_mode=mode,
        timeout=LIMIT if kind == "spin" else None,
    )
    envs.reset(seed=1)
    assert ends(envs.step(NOTHING)) == [False, False]

    found = envs.step(NOTHING)

    assert ends(found) == [True, True]
    told = found[4]
    if mode is AutoresetMode.NEXT_STEP:
        assert whose(told) == []
        found = envs.step(NOTHING)
        told = found[4]
        assert ends(found) == [False, False]
        assert found[1].tolist() == [0.0, 0.0]
    elif mode is AutoresetMode.DISABLED:
        assert whose(told) == []
        _, told = envs.reset(options={"reset_mask": np.ones(2, np.bool_)})
    elif kind == "kill":  # what its last step said was lost with it
        told = told["final_info"]
    assert whose(told) == [1]
    assert told["restart"][1] == restart
    assert told["failure"][1].startswith("environment 1 (Weary) failed in ")
    assert f"tag {envs.tag}" in told["failure"][1]
    # It has been reset: there are two steps to the next end, and nothing is told twice.
    one, two = envs.step(NOTHING), envs.step(NOTHING)
    assert [ends(one), ends(two)] == [[False, False], [True, True]]
    assert whose(one[4]) == []
    envs.close()


@pytest.mark.parametrize("kind", ["raise", "spin"])
def test_the_same_restart_is_logged_in_threads_and_in_processes(kind: str) -> None:
    logs = []
    for placement in ("thread", "process"):
        envs = VectorEnv(
            [Weary, partial(Weary, kind)],
            placement=placement,  # type: ignore[arg-type]
            workers=1,
            restart="recreate",
            timeout=LIMIT,
        )
        envs.reset(seed=1)
        steps = [envs.step(NOTHING) for _ in range(3)]
        logs.append(steps[2][4]["failure"][1].splitlines()[0])
        envs.close()

    assert logs[0] == logs[1]
    assert "failed in a reset after step 2, tag " in logs[0]


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.DISABLED])
def test_killed_process_resets_ended_envs_and_truncates_others(
    mode: AutoresetMode,
) -> None:
    envs = VectorEnv(
        [Weary] * 2,
        placement="process",
        workers=1,
        restart="recreate",
        autoreset_mode=mode,
    )
    envs.reset(seed=1)
    envs.step(NOTHING)
    envs.reset(options={"reset_mask": np.array([False, True])})
    assert ends(envs.step(NOTHING)) == [True, False]
    (before,) = envs._backend.pids  # type: ignore[attr-defined]
    kill(before)

    if mode is AutoresetMode.NEXT_STEP:
        _, rewards, terminated, truncated, info = envs.step(NOTHING)
        assert rewards.tolist() == [0.0, 0.0]
        assert whose(info) == [0, 1]
    else:
        # The first is reset and tells; the other hears of it in its next step.
        _, info = envs.reset(options={"reset_mask": np.array([True, False])})
        assert whose(info) == [0]
        _, _, terminated, truncated, info = envs.step(NOTHING)
        assert whose(info) == [1]

    assert terminated.tolist() == [False, False]
    assert truncated.tolist() == [False, True]
    envs.close()
    assert gone([before])


def test_episode_that_ends_in_the_step_of_a_loss_is_truncated() -> None:
    """What the lost process wrote of this step is discarded for all of them."""
    envs = VectorEnv(
        [Weary, partial(Weary, "kill", 2)],
        placement="process",
        workers=1,  # the first has ended its episode before the second is stepped
        restart="recreate",
    )
    envs.reset(seed=1)
    assert ends(envs.step(NOTHING)) == [False, False]

    _, rewards, terminated, truncated, info = envs.step(NOTHING)

    assert rewards.tolist() == [0.0, 0.0]
    assert terminated.tolist() == [False, False]
    assert truncated.tolist() == [True, True]
    assert whose(info) == [0, 1]
    assert ends(envs.step(NOTHING)) == [False, False]  # both are reset
    envs.close()


@pytest.mark.parametrize(
    ("placement", "kind"),
    [("thread", "step"), ("process", "step"), ("process", "kill")],
)
def test_seeded_reset_repeats_the_episodes_after_restarts(
    placement: Any, kind: str
) -> None:
    envs = VectorEnv(
        [partial(Trouble, kind, 2, longest=99)], placement=placement, restart="recreate"
    )

    def play() -> list[Any]:
        """Return observations of two episodes, each of a step, a failure, a reset."""
        envs.reset(seed=1)
        return [envs.step([0])[0]["a"].tolist() for _ in range(6)]

    first = play()

    assert first[2] != first[5]  # each replacement has a seed of its own
    assert play() == first
    envs.close()


def test_reset_reports_its_own_failure_instead_of_a_deferred_one() -> None:
    class FailsOnce(Trouble):
        fails = False

        def reset(self, **arguments: Any) -> Any:
            if self.fails:
                self.fails = False
                msg = "newer"
                raise ValueError(msg)
            return super().reset(**arguments)

    sub_env = SubEnv(0, FailsOnce, Rules(restart="reset"))
    sub_env.assign(Arrays.of(SPACE, 1))
    sub_env.reset(1, None)
    old = EnvError(0, "FailsOnce", 0, "", "older")
    for fails, expected in ((False, "older"), (True, "ValueError: newer")):
        sub_env.defer_restart(old, is_over=True)
        sub_env.env.fails = fails  # type: ignore[attr-defined]

        (info,) = sub_env.reset(None, None)

        assert info["failure"].what == expected


def test_killed_process_is_reported_by_the_next_reset_of_an_ended_env() -> None:
    envs = VectorEnv([Weary] * 2, placement="process", workers=1, restart="recreate")
    envs.reset(seed=1)
    envs.step(NOTHING)
    assert ends(envs.step(NOTHING)) == [True, True]
    kill(envs._backend.pids[0])  # type: ignore[attr-defined]
    _, info = envs.reset(options={"reset_mask": np.array([False, True])})
    assert whose(info) == [1]

    found = envs.step(NOTHING)

    assert ends(found) == [False, False]  # the first began in this step
    assert whose(found[4]) == [0]
    envs.close()


def test_stepping_on_after_an_end_is_refused_after_a_loss_as_before_it() -> None:
    envs = VectorEnv(
        [Weary] * 2,
        placement="process",
        workers=1,
        restart="recreate",
        autoreset_mode="Disabled",
    )
    envs.reset(seed=1)
    envs.step(NOTHING)
    envs.step(NOTHING)
    kill(envs._backend.pids[0])  # type: ignore[attr-defined]

    with pytest.raises(EnvError, match=r"ended.*reset_mask"):
        envs.step(NOTHING)
    _, info = envs.reset(options={"reset_mask": np.ones(2, np.bool_)})

    assert whose(info) == [0, 1]
    envs.close()


def test_async_vector_resets_ended_envs_of_a_killed_process() -> None:
    envs = VectorEnv(
        [Weary, partial(Weary, "kill")],
        batch_size=2,
        placement="process",
        workers=1,
        restart="recreate",
    )
    envs.async_reset(seed=1)
    envs.recv()
    found = []
    for _ in range(5):
        envs.send(NOTHING)
        found.append(envs.recv())

    assert [ends(each)[1] for each in found] == [False, True, False, False, True]
    assert [1 in whose(each[4]) for each in found] == [False, False, True, False, False]
    envs.close()
