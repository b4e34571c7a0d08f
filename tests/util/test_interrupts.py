# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C is not lost where CPython ignores exceptions."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from reactorl._util.interrupts import remembered_interrupts


def press() -> None:
    os.kill(os.getpid(), signal.SIGINT)


class Forgotten:
    """Is finalized when Ctrl-C comes."""

    def __del__(self) -> None:
        press()
        for _ in range(100):  # the handler runs between two of these
            pass


ignored = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@ignored
def test_ctrl_c_in_a_finalizer_is_raised_at_the_end() -> None:
    went_on = False

    def forget() -> None:
        nonlocal went_on
        Forgotten()
        went_on = True

    with pytest.raises(KeyboardInterrupt), remembered_interrupts():
        forget()

    assert went_on
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@ignored
def test_the_outer_block_knows_what_the_inner_one_was_told() -> None:
    with (
        pytest.raises(KeyboardInterrupt),
        remembered_interrupts(),
        pytest.raises(KeyboardInterrupt),
        remembered_interrupts(),
    ):
        Forgotten()


def test_ctrl_c_is_raised_at_once_where_that_is_possible() -> None:
    reached = False

    def reach() -> None:
        nonlocal reached
        press()
        reached = True

    with pytest.raises(KeyboardInterrupt), remembered_interrupts():
        reach()

    assert not reached


def test_other_errors_pass_through() -> None:
    def fail() -> None:
        try:
            press()
        except KeyboardInterrupt:
            raise ZeroDivisionError from None

    with pytest.raises(ZeroDivisionError), remembered_interrupts():
        fail()
    with remembered_interrupts():
        pass
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_handlers_of_programs_stay() -> None:
    pressed: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: pressed.append(number))
    try:
        with remembered_interrupts():
            press()
    finally:
        signal.signal(signal.SIGINT, before)

    assert pressed == [signal.SIGINT]


def test_other_threads_do_not_change_handlers() -> None:
    seen: list[object] = []

    def work() -> None:
        with remembered_interrupts():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()

    assert seen == [signal.default_int_handler]
