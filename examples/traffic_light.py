# SPDX-License-Identifier: Apache-2.0
"""Modes: a traffic light inside a crossing that can be put under maintenance.

Each color is a mode with its own timer, which restarts whenever the mode is entered by
reset. Maintenance is a mode of the reactor that contains the light. It returns to the
other mode by history: logical time was suspended for the light, which continues where
it was.

Run it: ``python examples/traffic_light.py``
"""

from reactorl import (
    Input,
    Mode,
    Reactor,
    Timer,
    history,
    reaction,
    reset_to,
    run,
    sec,
    startup,
)


class Light(Reactor):
    """Red for 4 s, green for 3 s, yellow for 1 s."""

    red = Mode(initial=True)
    green = Mode()
    yellow = Mode()

    with red:
        red_ends = Timer(sec(4))

        @reaction(red_ends, effects=[reset_to(green)])
        def go(self) -> None:
            """Switch modes; green is active from the next microstep on."""
            self.show("green")
            self.green.set()

    with green:
        green_ends = Timer(sec(3))

        @reaction(green_ends, effects=[reset_to(yellow)])
        def caution(self) -> None:
            """Switch to yellow."""
            self.show("yellow")
            self.yellow.set()

    with yellow:
        yellow_ends = Timer(sec(1))

        @reaction(yellow_ends, effects=[reset_to(red)])
        def stop(self) -> None:
            """Switch to red."""
            self.show("red")
            self.red.set()

    @reaction(startup)
    def begin(self) -> None:
        """Show the initial mode."""
        self.show("red")

    def show(self, color: str) -> None:
        """Print a change with its time; a plain method called by reactions."""
        print(f"{self.elapsed // sec(1):3} s  {color}")


class Crossing(Reactor):
    """Runs the light, except for the five seconds from 6 s to 11 s."""

    fault = Input[bool]()
    working = Mode(initial=True)
    maintenance = Mode()

    with working:
        light = Light()

        @reaction(fault, effects=[reset_to(maintenance)])
        def suspend(self) -> None:
            """Suspend the light."""
            print(f"{self.elapsed // sec(1):3} s  (maintenance, 2 s of green done)")
            self.maintenance.set()

    with maintenance:
        repaired = Timer(sec(5))

        @reaction(repaired, effects=[history(working)])
        def resume(self) -> None:
            """Continue with the light where it was suspended."""
            print(f"{self.elapsed // sec(1):3} s  (repaired, 1 s of green left)")
            self.working.set()


class Street(Reactor):
    """A crossing with a fault after six seconds."""

    crossing = Crossing()
    breakdown = Timer(sec(6))

    @reaction(breakdown, effects=[crossing.fault])
    def fail(self) -> None:
        """Set the input of a contained reactor."""
        self.crossing.fault.set(True)


if __name__ == "__main__":
    run(Street, fast=True, timeout=sec(20))
