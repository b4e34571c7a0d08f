# SPDX-License-Identifier: Apache-2.0
"""Multi-agent inference: a policy and a deadline per agent, with fallback actions.

The environment is a PettingZoo parallel environment: a striker kicks to the left, the
middle or the right, and a goalkeeper tries to be there. Each step is one tag: the
environments send observations, the policies run concurrently, the environments step.
If a policy misses its deadline, its fallback action is used instead: here the keeper is
deliberately slow at two kicks and stays in the middle. Only the missed deadlines depend
on the machine, so they are recorded, and a replay repeats the match exactly.

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
KICKS = 6  # per episode
SLOW = (2, 4)  # kicks at which the keeper misses its deadline


class Penalties(ParallelEnv):
    """The striker scores unless the keeper chooses the same direction."""

    metadata = {"name": "penalties_v0", "render_modes": []}  # noqa: RUF012
    possible_agents = ["keeper", "striker"]  # noqa: RUF012

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of both agents: wind direction and number of kicks."""
        return spaces.Box(0, 10, (2,), np.float32)

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of both agents: left, middle or right."""
        return spaces.Discrete(3)

    def reset(self, seed: int | None = None, options: Any = None) -> Any:  # noqa: ANN401
        """Start an episode."""
        if seed is not None:
            self.wind = np.random.default_rng(seed)  # noqa: TID251
        self.agents, self.kicks = list(self.possible_agents), 0
        return self.observe(), {agent: {} for agent in self.agents}

    def observe(self) -> dict[str, Any]:
        """Return the same observation for both agents."""
        observation = np.array([self.wind.integers(3), self.kicks], np.float32)
        return dict.fromkeys(self.agents, observation)

    def step(self, actions: dict[str, Any]) -> Any:  # noqa: ANN401
        """Run one kick."""
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


def follow_wind(observations: Any, random: Any) -> Any:  # noqa: ANN401
    """Choose the wind's direction, for a batch of environments."""
    return observations[:, 0].astype(int)


def follow_wind_slowly(observations: Any, random: Any) -> Any:  # noqa: ANN401
    """Choose the same, but miss the deadline at some kicks."""
    if observations[0, 1] in SLOW:
        time.sleep(0.15)
    return follow_wind(observations, random)


def match(*, deadline: bool) -> Match:
    """Return a match in two environments."""
    return Match(
        Penalties,
        {"keeper": follow_wind_slowly, "striker": follow_wind},
        num_envs=2,
        deadline=msec(50) if deadline else None,
        fallback={"keeper": MIDDLE, "striker": LEFT} if deadline else None,
        period=msec(250),
        seed=5,
    )


def main() -> None:
    """Play without a deadline, with one, and replay the recording."""
    calm = [match(deadline=False).play(KICKS, workers=w)[0] for w in (1, 2)]
    print(f"1 and 2 workers, the same match: {goals(calm[0]) == goals(calm[1])}")
    print("no deadline:", goals(calm[0]))

    turns, live = match(deadline=True).play(KICKS, record=True)
    late = all("keeper" in world.late for kick in SLOW for world in turns[kick])
    print(f"50 ms: the keeper missed two deadlines and stayed in the middle: {late}")
    again, _ = match(deadline=True).play(KICKS, replay=live.recording)
    print(f"the replay is the same match: {goals(again) == goals(turns)}")


def goals(turns: Any) -> list[str]:  # noqa: ANN401
    """Return the winner of each kick, per environment; S: striker, k: keeper."""
    return ["".join("kS"[int(p.rewards["striker"])] for p in turn) for turn in turns]


if __name__ == "__main__":
    main()
