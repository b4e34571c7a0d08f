# SPDX-License-Identifier: Apache-2.0
"""A deadline with a fallback: better a simple action in time than a good one too late.

A deadline compares the wall clock with the tag when the reaction would start. To show
both outcomes at will, the first two runs take extreme deadlines: in a fast run the wall
clock is far behind the tags, so an hour is never missed, and zero always is. The third
run is in real time. There the machine decides, and a recording keeps what it decided.

Run it: ``python examples/deadline_fallback.py``
"""

from reactorl import (
    Input,
    Output,
    Reactor,
    Timer,
    hours,
    msec,
    param,
    reaction,
    run,
    state,
)


class Camera(Reactor):
    """Sends a frame every 5 ms."""

    frame = Output[int]()
    tick = Timer(0, msec(5))
    count: int = state(0)

    @reaction(tick, effects=[frame])
    def shoot(self) -> None:
        """Take a picture."""
        self.frame.set(self.count)
        self.count += 1


class Policy(Reactor):
    """Chooses an action for each frame."""

    frame = Input[int]()
    action = Output[str]()
    budget: int = param(msec(2))

    @reaction(frame, effects=[action], deadline=budget)
    def infer(self) -> None:
        """Decide, if there is time."""
        self.action.set(f"steer by frame {self.frame.value}")

    @infer.deadline_handler
    def fall_back(self) -> None:
        """Runs in place of the body, at the same tag, with the same rights."""
        self.action.set("brake")


class Motor(Reactor):
    """Does what it is told."""

    action = Input[str]()
    quiet: bool = param(default=False)

    @reaction(action)
    def act(self) -> None:
        """Obey."""
        if not self.quiet:
            print(f"  {self.elapsed // msec(1):2} ms  {self.action.value}")


class Robot(Reactor):
    """Camera, policy, motor."""

    budget: int = param(msec(2))
    quiet: bool = param(default=False)
    camera = Camera()
    policy = Policy(budget=budget)
    motor = Motor(quiet=quiet)

    def build(self) -> None:
        """Connect them in a row."""
        self.connect(self.camera.frame, self.policy.frame)
        self.connect(self.policy.action, self.motor.action)


def main() -> None:
    """Run with all the time in the world, with none, and with what there is."""
    print("in time:")
    run(Robot(budget=hours(1)), fast=True, timeout=msec(10))
    print("too late:")
    run(Robot(budget=0), fast=True, timeout=msec(10))

    robot = Robot(budget=msec(0.05), quiet=True)
    live = run(robot, timeout=msec(50), record=True, trace=True)
    again = run(robot, timeout=msec(50), replay=live.recording, fast=True, trace=True)
    print(f"a replay misses the same deadlines: {again.digest == live.digest}")


if __name__ == "__main__":
    main()
