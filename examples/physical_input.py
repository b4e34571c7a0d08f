# SPDX-License-Identifier: Apache-2.0
"""Events from outside: a thread schedules a physical action; a recording repeats it.

When an event arrives is decided by the wall clock, once. From there on everything is
determined, so a recorded run can be replayed exactly. In a replay all events come from
the recording: what the thread schedules then is ignored.

Run it: ``python examples/physical_input.py``
"""

import threading

from reactorl import (
    Input,
    Output,
    PhysicalAction,
    Reactor,
    Timer,
    msec,
    reaction,
    run,
    startup,
    state,
)


class Keyboard(Reactor):
    """Sends on what somebody types; a thread plays that somebody."""

    key = PhysicalAction[str]()
    out = Output[str]()
    typist: threading.Thread | None = state(None)

    @reaction(startup, effects=[key])
    def begin(self) -> None:
        """Start typing."""
        self.typist = threading.Thread(target=self.type)
        self.typist.start()

    def type(self) -> None:
        """Schedule events from another thread than the workers'."""
        for character in "tags\n":
            self.key.schedule(0, character)
            threading.Event().wait(0.005)

    @reaction(key, effects=[out])
    def pressed(self) -> None:
        """Runs at the tag that the wall clock gave the event."""
        self.out.set(self.key.value)

    def teardown(self) -> None:
        """Runs at the very end, also after an error."""
        if self.typist is not None:
            self.typist.join()


class Screen(Reactor):
    """Collects characters; a timer ticks in between, for good measure."""

    char = Input[str]()
    blink = Timer(0, msec(2))
    line: str = state("")
    blinks: int = state(0)

    @reaction(blink)
    def cursor(self) -> None:
        """Blink."""
        self.blinks += 1

    @reaction(char)
    def show(self) -> None:
        """Add a character; the end of the line ends the program."""
        if self.char.value != "\n":
            self.line += self.char.value
            return
        print(f"typed: {self.line}")
        self.request_stop()


class Terminal(Reactor):
    """Keyboard and screen."""

    keyboard = Keyboard()
    screen = Screen()

    def build(self) -> None:
        """Connect them."""
        self.connect(self.keyboard.out, self.screen.char)


def main() -> None:
    """Record a run and replay it, with another number of workers."""
    live = run(Terminal, record=True, trace=True)
    assert live.recording is not None
    print(f"{len(live.recording.events)} physical events recorded")

    again = run(Terminal, replay=live.recording, fast=True, trace=True, workers=1)
    print(f"the replay has the same trace: {again.digest == live.digest}")


if __name__ == "__main__":
    main()
