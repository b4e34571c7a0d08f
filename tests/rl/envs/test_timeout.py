# SPDX-License-Identifier: Apache-2.0
"""Python code that exceeds its timeout is interrupted, even if it resists."""

from __future__ import annotations

import gc
import logging
import threading
import time
import traceback
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np
import pytest

from reactorl.rl import EnvError, VectorEnv
from reactorl.rl.envs import timeout
from reactorl.rl.envs.timeout import HangError, HangWatch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LIMIT = 2.0  # so long that a busy machine does not exceed it in an ordinary step
PATIENCE = 60.0  # seconds after which a test would rather fail than wait


def spin(end: float) -> None:
    while time.monotonic() < end:
        pass


def shrug(end: float) -> None:
    """Catch everything, and go on calling."""
    while time.monotonic() < end:
        try:
            [].append(1)
        except:  # noqa: E722
            continue


def sleep_and_shrug(end: float) -> None:
    """Be in a C function nearly always, inside a ``try``."""
    while time.monotonic() < end:
        try:
            time.sleep(0.01)
        except:  # noqa: E722
            continue


def shrug_at_every_level(end: float) -> None:
    def inner() -> None:
        while time.monotonic() < end:
            try:
                sleep_and_shrug(end)
            except BaseException as error:
                traceback.format_exception(error)

    while time.monotonic() < end:
        try:
            inner()
        except:  # noqa: E722
            continue


def clean_up_and_hang_again(end: float) -> None:
    try:
        sleep_and_shrug(end)
    finally:
        sleep_and_shrug(end)


def give_in_quietly(end: float) -> None:
    """Stop when interrupted, as if nothing had been."""
    try:
        while time.monotonic() < end:
            time.sleep(0.001)
    except:  # noqa: E722
        pass


STUBBORN: list[Callable[[float], None]] = [
    spin,
    shrug,
    sleep_and_shrug,
    shrug_at_every_level,
    clean_up_and_hang_again,
    give_in_quietly,
]


@pytest.fixture
def watch() -> Iterator[HangWatch]:
    found = HangWatch(LIMIT)
    yield found
    found.close()


@pytest.mark.parametrize("hang", STUBBORN)
@pytest.mark.parametrize("where", ["here", "in a thread"])
def test_hanging_code_is_interrupted_once(
    hang: Callable[[float], None], where: str, watch: HangWatch
) -> None:
    guard = watch.guard()
    caught: list[BaseException] = []

    def work() -> None:
        began = time.monotonic()
        with pytest.raises(HangError, match=r"longer than 2 s") as raised:
            guard(partial(hang, began + PATIENCE))
        assert time.monotonic() - began < PATIENCE / 2
        # Neither when the last of it is forgotten, nor when the watch looks again.
        del raised
        gc.collect()
        end = time.monotonic() + LIMIT
        while time.monotonic() < end:
            gc.collect(0)
            time.sleep(0.01)
        assert guard(lambda: 7) == 7

    def noting() -> None:
        try:
            work()
        except BaseException as error:
            caught.append(error)

    if where == "here":
        work()
    else:
        thread = threading.Thread(target=noting)
        thread.start()
        thread.join()
    assert caught == []


def test_interrupts_at_any_point_of_short_calls() -> None:
    watch = HangWatch(0.001)
    guard = watch.guard()
    late = count = 0
    end = time.monotonic() + PATIENCE
    # On a busy machine many more calls may be needed until both have happened.
    while count < 400 or (late in (0, count) and time.monotonic() < end):
        try:
            assert guard(partial(give_in_quietly_after, count)) == count
        except HangError:
            late += 1
        count += 1
    watch.close()

    assert 0 < late < count


@pytest.mark.parametrize("pause", [0.0, 2 * PATIENCE])
def test_time_in_which_the_process_was_stopped_does_not_count(
    pause: float, watch: HangWatch
) -> None:
    guard = watch.guard()
    watch.close()  # this test looks instead

    def work() -> str:
        guard.look(time.monotonic() + PATIENCE, pause)
        guard.look(time.monotonic() + PATIENCE)
        return "done"

    if pause:
        assert guard(work) == "done"
    else:
        with pytest.raises(HangError):
            guard(work)


def give_in_quietly_after(count: int) -> int:
    """Take about as long as may be taken, now less, now more."""
    give_in_quietly(time.monotonic() + 0.0005 * (count % 4))
    return count


def test_results_and_errors_pass_through(watch: HangWatch) -> None:
    guard = watch.guard()

    assert guard(lambda: "found") == "found"
    with pytest.raises(ZeroDivisionError):
        guard(lambda: 1 / 0)
    with pytest.raises(KeyboardInterrupt):
        guard(interrupted)


def interrupted() -> None:
    raise KeyboardInterrupt


@contextmanager
def asleep_until_logged() -> Iterator[Callable[[], object]]:
    """Yield a function that stays in C until the watch logs that something does."""
    lock = threading.Lock()
    lock.acquire()

    class Waking(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lock.release()

    log, waking = logging.getLogger(timeout.__name__), Waking()
    log.addHandler(waking)
    try:
        yield partial(lock.acquire, timeout=PATIENCE)
    finally:
        log.removeHandler(waking)


def test_code_that_cannot_be_interrupted_is_logged(
    caplog: pytest.LogCaptureFixture, watch: HangWatch
) -> None:
    guard = watch.guard()
    guard.subject = lambda: "the sleeper"

    with (
        caplog.at_level(logging.ERROR),
        asleep_until_logged() as sleep,
        pytest.raises(HangError),
    ):
        guard(sleep)

    (record,) = caplog.records
    text = record.getMessage()
    assert text.startswith("the sleeper has taken longer than 2 s and could not be")
    assert "placement='process'" in text
    assert "test_code_that_cannot_be_interrupted_is_logged" in text  # where it is


# -- in a vector -----------------------------------------------------------------------


class Stubborn(gym.Env[Any, Any]):
    """Hangs in its second step, and catches everything."""

    observation_space = gym.spaces.Box(-1, 1, (1,), np.float32)
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        self.steps = 0
        return np.zeros(1, np.float32), {}

    def step(self, action: Any) -> Any:
        self.steps += 1
        if self.steps == 2 and action == 1:
            sleep_and_shrug(time.monotonic() + PATIENCE)
        return np.zeros(1, np.float32), 1.0, False, False, {}


@pytest.mark.parametrize("placement", ["thread", "process"])
@pytest.mark.parametrize("batch_size", [None, 2])
def test_an_environment_that_catches_everything_fails_and_can_be_closed(
    placement: Any, batch_size: int | None
) -> None:
    envs = VectorEnv(
        [Stubborn] * 2,
        placement=placement,
        workers=2,
        timeout=LIMIT,
        batch_size=batch_size,
    )
    envs.reset(seed=1)
    envs.step([0, 0])
    began = time.monotonic()

    with pytest.raises(EnvError, match=r"longer than 2 s") as raised:
        envs.step([0, 1])
    assert (raised.value.index, raised.value.step) == (1, 2)
    envs.reset(seed=1)
    envs.step([0, 0])
    envs.close()

    assert time.monotonic() - began < PATIENCE / 2


def test_an_environment_that_waits_in_c_is_named(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Sleeper(Stubborn):
        def step(self, action: Any) -> Any:
            if action == 1:
                sleep()
            return super().step(0)

    with asleep_until_logged() as sleep:
        envs = VectorEnv([Sleeper] * 2, placement="thread", timeout=LIMIT)
        envs.reset(seed=1)
        with pytest.raises(EnvError, match="HangError"):
            envs.step([0, 1])
        envs.close()

    (record,) = caplog.records
    assert record.getMessage().startswith("environment 1 (Sleeper), step 1, has")
