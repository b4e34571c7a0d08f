# SPDX-License-Identifier: Apache-2.0
"""A deadline with a fallback action for a policy that is too slow.

A deadline compares the wall clock with the tag when the reaction is about to start. To
show both outcomes reliably, the first two runs use extreme deadlines: one hour is never
missed, zero always is. The third run is in real time, so whether a deadline is missed
depends on the machine; the recording stores it and the replay repeats it.

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
        """Send the next frame number."""
        self.frame.set(self.count)
        self.count += 1


class Policy(Reactor):
    """Chooses an action for each frame."""

    frame = Input[int]()
    action = Output[str]()
    budget: int = param(msec(2))

    @reaction(frame, effects=[action], deadline=budget)
    def infer(self) -> None:
        """Compute the action; runs only if the deadline is met."""
        self.action.set(f"steer by frame {self.frame.value}")

    @infer.deadline_handler
    def fall_back(self) -> None:
        """Runs instead of ``infer`` at the same tag, with the same access to ports."""
        self.action.set("brake")


class Motor(Reactor):
    """Prints the actions it receives."""

    action = Input[str]()
    quiet: bool = param(default=False)

    @reaction(action)
    def act(self) -> None:
        """Print the action with its time."""
        if not self.quiet:
            print(f"  {self.elapsed // msec(1):2} ms  {self.action.value}")


class Robot(Reactor):
    """Connects a camera, a policy and a motor."""

    budget: int = param(msec(2))
    quiet: bool = param(default=False)
    camera = Camera()
    policy = Policy(budget=budget)
    motor = Motor(quiet=quiet)

    def build(self) -> None:
        """Connect camera to policy and policy to motor."""
        self.connect(self.camera.frame, self.policy.frame)
        self.connect(self.policy.action, self.motor.action)


def main() -> None:
    """Run with a deadline of one hour, of zero, and of 50 us in real time."""
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
