# SPDX-License-Identifier: Apache-2.0
"""Events from another thread: physical actions, recording and replay.

A physical action gets its tag from the wall clock when it is scheduled. After that the
run is deterministic, so a recording of these tags can be replayed exactly. In a replay
all physical events come from the recording; events scheduled by the thread are ignored.

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
    """Sends the keys that a thread types."""

    key = PhysicalAction[str]()
    out = Output[str]()
    typist: threading.Thread | None = state(None)

    @reaction(startup, effects=[key])
    def begin(self) -> None:
        """Start the thread."""
        self.typist = threading.Thread(target=self.type)
        self.typist.start()

    def type(self) -> None:
        """Schedule events; runs in a thread that is not a worker."""
        for character in "tags\n":
            self.key.schedule(0, character)
            threading.Event().wait(0.005)

    @reaction(key, effects=[out])
    def pressed(self) -> None:
        """Runs at the tag that the event got from the wall clock."""
        self.out.set(self.key.value)

    def teardown(self) -> None:
        """Runs at the very end, also after an error."""
        if self.typist is not None:
            self.typist.join()


class Screen(Reactor):
    """Collects characters into a line; a timer runs concurrently."""

    char = Input[str]()
    blink = Timer(0, msec(2))
    line: str = state("")
    blinks: int = state(0)

    @reaction(blink)
    def cursor(self) -> None:
        """Count a tick of the timer."""
        self.blinks += 1

    @reaction(char)
    def show(self) -> None:
        """Append a character; a newline ends the program."""
        if self.char.value != "\n":
            self.line += self.char.value
            return
        print(f"typed: {self.line}")
        self.request_stop()


class Terminal(Reactor):
    """Connects a keyboard to a screen."""

    keyboard = Keyboard()
    screen = Screen()

    def build(self) -> None:
        """Connect the two."""
        self.connect(self.keyboard.out, self.screen.char)


def main() -> None:
    """Record a run and replay it with another number of workers."""
    live = run(Terminal, record=True, trace=True)
    assert live.recording is not None
    print(f"{len(live.recording.events)} physical events recorded")

    again = run(Terminal, replay=live.recording, fast=True, trace=True, workers=1)
    print(f"the replay has the same trace: {again.digest == live.digest}")


if __name__ == "__main__":
    main()
