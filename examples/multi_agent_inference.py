# SPDX-License-Identifier: Apache-2.0
"""Inference for several agents: each has a policy and a deadline, in a shared world.

The world is a PettingZoo environment: a striker kicks to the left, the middle or the
right, and a goalkeeper tries to be there. A turn is one tag: worlds show what they are,
players answer side by side, worlds step. A player that has no answer when its deadline
is over is answered for by its fallback action: here the keeper takes too long for two
kicks, on purpose, and stays in the middle. Which deadlines were missed is all that
depends on the physical world, so it is recorded, and a replay gives the same match
again, however fast the machine is.

Run it: ``python examples/multi_agent_inference.py`` (needs ``reactorl[pettingzoo]``)
"""

import time
from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo import ParallelEnv

from reactorl import msec
from reactorl.rl import Match

LEFT, MIDDLE, RIGHT = range(3)
KICKS = 6  # in an episode
SLOW = (2, 4)  # after how many kicks the keeper thinks for too long


class Penalties(ParallelEnv):
    """The striker scores unless the keeper is where the ball goes."""

    metadata = {"name": "penalties_v0", "render_modes": []}  # noqa: RUF012
    possible_agents = ["keeper", "striker"]  # noqa: RUF012

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """What both see: where the wind blows to, and how many kicks there were."""
        return spaces.Box(0, 10, (2,), np.float32)

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """What both choose: a corner, or the middle."""
        return spaces.Discrete(3)

    def reset(self, seed: int | None = None, options: Any = None) -> Any:  # noqa: ANN401
        """Begin an episode."""
        if seed is not None:
            self.wind = np.random.default_rng(seed)  # noqa: TID251
        self.agents, self.kicks = list(self.possible_agents), 0
        return self.observe(), {agent: {} for agent in self.agents}

    def observe(self) -> dict[str, Any]:
        """Show the same to both."""
        seen = np.array([self.wind.integers(3), self.kicks], np.float32)
        return dict.fromkeys(self.agents, seen)

    def step(self, actions: dict[str, Any]) -> Any:  # noqa: ANN401
        """Kick."""
        scored = int(actions["keeper"]) != int(actions["striker"])
        self.kicks += 1
        over = dict.fromkeys(self.agents, self.kicks == KICKS)
        rewards = {"keeper": -float(scored), "striker": float(scored)}
        return (
            self.observe(),
            rewards,
            over,
            dict.fromkeys(self.agents, False),
            {agent: {} for agent in self.agents},
        )


def with_the_wind(rows: Any, random: Any) -> Any:  # noqa: ANN401
    """Choose for all environments at once: where the wind blows to."""
    return rows[:, 0].astype(int)


def thoughtful(rows: Any, random: Any) -> Any:  # noqa: ANN401
    """Choose the same, after a while that is sometimes too long."""
    if rows[0, 1] in SLOW:
        time.sleep(0.15)
    return with_the_wind(rows, random)


def match(*, deadline: bool) -> Match:
    """Return two worlds in which the two meet."""
    return Match(
        Penalties,
        {"keeper": thoughtful, "striker": with_the_wind},
        num_envs=2,
        deadline=msec(50) if deadline else None,
        fallback={"keeper": MIDDLE, "striker": LEFT} if deadline else None,
        period=msec(250),
        seed=5,
    )


def main() -> None:
    """Play without a deadline, with one, and what was recorded again."""
    calm = [match(deadline=False).play(KICKS, workers=w)[0] for w in (1, 2)]
    print(f"1 and 2 workers, the same match: {goals(calm[0]) == goals(calm[1])}")
    print("no deadline:", goals(calm[0]))

    turns, live = match(deadline=True).play(KICKS, record=True)
    late = all("keeper" in world.late for kick in SLOW for world in turns[kick])
    print(f"50 ms: the keeper was too late twice, and stayed in the middle: {late}")
    again, _ = match(deadline=True).play(KICKS, replay=live.recording)
    print(f"the replay is the same match: {goals(again) == goals(turns)}")


def goals(turns: Any) -> list[str]:  # noqa: ANN401
    """Return who won each kick, in all worlds; S: the striker, k: the keeper."""
    return ["".join("kS"[int(p.rewards["striker"])] for p in turn) for turn in turns]


if __name__ == "__main__":
    main()
