# SPDX-License-Identifier: Apache-2.0
"""Drive a reactor from a plain loop: set inputs, run one tag, get outputs.

The reactor is a small environment and the loop is the agent. The calling thread runs
the reactions itself, so a step does not switch threads.

Run it: ``python examples/drive_a_reactor.py``
"""

from reactorl import Input, Output, Reactor, drive, msec, param, reaction, state


class Corridor(Reactor):
    """A slippery corridor from cell 0 to the last cell; each step has reward -1."""

    action = Input[int]()
    observation = Output[int]()
    reward = Output[float]()
    done = Output[bool]()

    length: int = param(5)
    slip: float = param(0.3)
    cell: int = state(0)

    @reaction(action, effects=[observation, reward, done])
    def step(self) -> None:
        """Move by -1 or 1, or slip and stay."""
        if self.random.random() >= self.slip:
            self.cell = max(0, self.cell + self.action.value)
        self.observation.set(self.cell)
        self.reward.set(-1.0)
        if self.cell == self.length - 1:
            self.done.set(True)


def main() -> None:
    """Walk right until the episode ends."""
    total = 0.0
    with drive(Corridor(length=5), seed=3) as corridor:
        while True:
            outputs = corridor.step(action=1, after=msec(10))
            total += outputs.reward
            time = corridor.tag.time // msec(1)
            print(f"{time:3} ms: in cell {outputs.observation}")
            if "done" in outputs:  # contains only outputs that were set
                break
    print(f"return {total:.0f}, {corridor.result.reactions} reactions")


if __name__ == "__main__":
    main()
