# SPDX-License-Identifier: Apache-2.0
"""A session is for one thread at a time: other uses raise BusyError and do no harm."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from reactorl import BusyError, Input, Output, Reactor, bank, drive, reaction

if TYPE_CHECKING:
    from collections.abc import Callable

    from reactorl._runtime.drive import Session

WITHIN = 30.0  # seconds; only a hang takes that long


class Gate(Reactor):
    """Calls ``hook`` for every input, then copies it to the output."""

    x = Input[int]()
    y = Output[int]()
    hook: Callable[[], object] = lambda: None

    @reaction(x, effects=[y])
    def copy(self) -> None:
        type(self).hook()
        self.y.set(self.x.value)


def gate(hook: Callable[[], object]) -> type[Gate]:
    """Return a class of its own, with this hook."""
    return type("Hooked", (Gate,), {"hook": staticmethod(hook)})


class Blocked:
    """A driven session with another thread inside its step."""

    def __init__(self) -> None:
        self.inside = threading.Event()
        self.leave = threading.Event()
        self.results: list[int] = []
        self.session = drive(gate(self._wait), workers=2)
        self.thread = threading.Thread(target=self._step)

    def _wait(self) -> None:
        self.inside.set()
        assert self.leave.wait(WITHIN)

    def _step(self) -> None:
        self.results.append(self.session.step(x=1).y)

    def __enter__(self) -> Session:
        session = self.session.__enter__()
        self.thread.start()
        assert self.inside.wait(WITHIN)
        return session

    def release(self) -> None:
        """Let the other thread finish its step."""
        self.leave.set()
        self.thread.join(WITHIN)
        assert not self.thread.is_alive()

    def __exit__(self, *_: object) -> None:
        self.release()
        self.session.__exit__(None, None, None)


USES = {
    "step": lambda session: session.step(x=2),
    "plug": lambda session: session.plug("x")(2),
    "leave": lambda session: session.__exit__(None, None, None),
    "leave with an exception": lambda session: session.__exit__(
        ValueError, ValueError("x"), None
    ),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES.keys())
def test_use_by_a_second_thread_raises_and_the_first_continues(
    use: Callable[[Session], object],
) -> None:
    blocked = Blocked()
    with blocked as session:
        with pytest.raises(BusyError, match="in use by another thread"):
            use(session)
        blocked.release()

        assert blocked.results == [1]
        assert session.step(x=3).y == 3  # still usable
    assert session.result.tags > 0


@pytest.mark.parametrize("use", USES.values(), ids=USES.keys())
@pytest.mark.parametrize("workers", [1, 2])
def test_use_by_its_own_reaction_raises(
    use: Callable[[Session], object], workers: int
) -> None:
    with drive(gate(lambda: use(session)), workers=workers) as session:
        with pytest.raises(BusyError, match="running the reaction that uses it"):
            session.step(x=1)

        with pytest.raises(RuntimeError, match="an earlier step raised"):
            session.step(x=2)


def test_use_by_its_own_reaction_on_a_helper_thread_raises() -> None:
    caller = threading.get_ident()
    both = threading.Barrier(2, timeout=WITHIN)
    caught: list[str] = []

    def hook() -> None:
        both.wait()  # two threads are in reactions, one of them a helper
        if threading.get_ident() != caller:
            with pytest.raises(BusyError) as error:
                session.step()
            caught.append(error.value.what)

    class Pair(Reactor):
        x = Input[int]()
        members = bank(gate(hook), width=2)

        def build(self) -> None:
            self.connect(self.x, self.members.x, broadcast=True)

    with drive(Pair, workers=2, stay_home=True) as session:
        session.step(x=1)

    assert caught == ["the session is running the reaction that uses it"]


def test_two_threads_that_step_get_results_or_busy_errors() -> None:
    outcomes: list[list[int]] = [[], []]

    def step(which: int) -> None:
        for n in range(300):
            try:
                outcomes[which].append(session.step(x=n).y - n)
            except BusyError:
                outcomes[which].append(0)

    with drive(gate(lambda: None), workers=2) as session:
        threads = [threading.Thread(target=step, args=(i,)) for i in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(WITHIN)
            assert not thread.is_alive()

    assert outcomes == [[0] * 300] * 2


def test_different_threads_may_take_turns() -> None:
    results: list[int] = []

    with drive(gate(lambda: None), workers=2) as session:
        for n in range(5):
            thread = threading.Thread(
                target=lambda n=n: results.append(session.step(x=n).y)
            )
            thread.start()
            thread.join(WITHIN)

    assert results == [0, 1, 2, 3, 4]
