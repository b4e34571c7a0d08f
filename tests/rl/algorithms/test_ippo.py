# SPDX-License-Identifier: Apache-2.0
"""IPPO: equal to a loop over its agents, and its arithmetic by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from pettingzoo import ParallelEnv

from reactorl.rl import IPPO, ActInput, FlowError
from reactorl.rl.flow.multi_agent_program import stack
from tests.rl.contract.tasks import IPPO_TASK, TASKS
from tests.rl.meeting import Meeting
from tests.rl.trained import bits, lasting, trained

EARLY = TASKS["ippo"]["agents that leave early"]


def test_an_agent_learns_when_it_has_enough_transitions() -> None:
    with EARLY.start(workers=1) as run:
        learned = [len(iteration.by_agent) for iteration in run.iterations()]
        kept = run.save()["parts"]["main.pupil[0]"]["steps"]

    assert min(learned) < 3  # of three agents, not all had made enough steps
    assert sum(learned) > 0
    assert len({len(mine) for mine in kept}) > 1
    _, iterations = trained(IPPO_TASK)
    assert all(list(r.by_agent) == ["left", "right"] for r in iterations)


@pytest.mark.parametrize("name", TASKS["ippo"])
def test_training_equals_a_loop_over_agents(name: str) -> None:
    task = TASKS["ippo"][name]
    with task.start() as run:
        parts = run.save()["parts"]
        list(run.iterations())
        found = run.weights

    algorithm, agents = task.algorithm, list(task.agent_spaces)
    steps, num_envs = algorithm.num_steps, algorithm.num_envs
    states, streams, kept, initial, memory = {}, {}, {}, {}, {}
    for k, agent in enumerate(agents):
        states[agent] = algorithm.init(task.agent_spaces[agent], len(agents) + k)
        first = algorithm.initial_memory(task.agent_spaces[agent], num_envs) or {}
        initial[agent] = first
        memory[agent] = {name: rows.copy() for name, rows in first.items()}
        streams[agent] = np.random.default_rng()
        streams[agent].bit_generator.state = parts[f"main.pupil[{k}]"]["random"]
        kept[agent] = [[] for _ in range(num_envs)]
    envs: list[Any] = [task.env() for _ in range(num_envs)]
    seen = [env.reset(seed=1 + k)[0] for k, env in enumerate(envs)]
    for turn in range(task.iterations * steps):
        progress = turn // steps / task.iterations
        for k, env in enumerate(envs):
            if not env.agents:
                seen[k], _ = env.reset()
        chosen: list[dict[str, Any]] = [{} for _ in envs]
        extras: list[dict[str, Any]] = [{} for _ in envs]
        for agent in agents:
            there = [k for k, env in enumerate(envs) if agent in env.agents]
            if not there:
                continue
            rows = np.stack([seen[k][agent] for k in there])
            weights = algorithm.weights(states[agent])
            before = {name: held[there] for name, held in memory[agent].items()}
            inputs = ActInput(rows, memory=before or None)
            output = algorithm.act(weights, inputs, streams[agent], progress)
            columns = {f"memory/{name}": held for name, held in before.items()}
            columns |= output.extras
            for place, k in enumerate(there):
                chosen[k][agent] = output.actions[place]
                extras[k][agent] = {key: v[place] for key, v in columns.items()}
            for name, held in memory[agent].items():
                held[there] = output.memory[name]
        for k, env in enumerate(envs):
            after, rewards, terminations, truncations, _ = env.step(chosen[k])
            for agent in chosen[k]:
                kept[agent][k].append(
                    {
                        "observations": seen[k][agent],
                        "actions": chosen[k][agent],
                        "rewards": rewards[agent],
                        "next_observations": after[agent],
                        "terminations": terminations[agent],
                        "truncations": truncations[agent],
                        **extras[k][agent],
                    }
                )
                if terminations[agent] or truncations[agent]:
                    for name, held in memory[agent].items():
                        held[k] = initial[agent][name][k]
            seen[k] = after
        for agent in agents:
            if min(map(len, kept[agent])) < steps:
                continue
            columns = {
                key: np.array(
                    [[mine[t][key] for mine in kept[agent]] for t in range(steps)]
                )
                for key in kept[agent][0][0]
            }
            kept[agent] = [mine[steps:] for mine in kept[agent]]
            states[agent], _, _ = algorithm.update(states[agent], [columns])
    for agent in agents:
        assert bits(found[agent]) == bits(algorithm.weights(states[agent]))


def test_steps_of_environments_stand_stack() -> None:
    first = [
        {"rewards": 1.0, "rows": np.array([1, 2])},
        {"rewards": 2.0, "rows": [3, 4]},
    ]
    second = [{"rewards": 5.0, "rows": [5, 6]}, {"rewards": 6.0, "rows": [7, 8]}]

    batch = stack([first, second])

    assert batch["rewards"].tolist() == [[1.0, 5.0], [2.0, 6.0]]
    assert batch["rows"].tolist() == [[[1, 2], [5, 6]], [[3, 4], [7, 8]]]


# -- by hand ------------------------------------------------------------------------


class Lights(ParallelEnv):
    """Two agents with two switches each; three turns, of which all is known.

    Each sees two numbers, which change from turn to turn. The second switch gives an
    agent 1, or 2 in the last turn; the other agent loses half of it.
    """

    def __init__(self) -> None:
        self.possible_agents = ["a", "b"]
        self.agents: list[str] = []
        self.history: list[dict[str, int]] = []

    def observation_space(self, agent: str) -> Any:
        return gym.spaces.Box(-2, 2, (2,), np.float32)

    def action_space(self, agent: str) -> Any:
        return gym.spaces.Discrete(2)

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        self.agents, self.turn = list(self.possible_agents), 0
        return self.seen(), {agent: {} for agent in self.agents}

    def seen(self) -> dict[str, Any]:
        a = np.array([1.0, 0.5 * self.turn], np.float32)
        return {"a": a, "b": -a}

    def step(self, actions: dict[str, Any]) -> Any:
        self.history.append({agent: int(chosen) for agent, chosen in actions.items()})
        self.turn += 1
        worth = 2.0 if self.turn == 3 else 1.0
        a, b = worth * int(actions["a"]), worth * int(actions["b"])
        over = dict.fromkeys(self.agents, self.turn == 3)
        playing, self.agents = self.agents, [] if self.turn == 3 else self.agents
        never, infos = dict.fromkeys(playing, False), {agent: {} for agent in playing}
        return self.seen(), {"a": a - b / 2, "b": b - a / 2}, over, never, infos


class ByHand:
    """PPO for one agent whose networks have no hidden layer, in plain arithmetic."""

    gamma, gae_lambda, rate, entropy, values, longest = 0.9, 0.8, 0.05, 0.02, 0.5, 0.5

    def __init__(self, state: Any) -> None:
        self.params = [
            np.asarray(layer[key], np.float64)
            for net in ("actor", "critic")
            for layer in state.params[net]
            for key in ("w", "b")
        ]
        self.mean = [np.zeros_like(p) for p in self.params]
        self.square = [np.zeros_like(p) for p in self.params]
        self.updates = 0

    def learn(
        self, rows: Any, chosen: Any, rewards: Any, ends: Any, after: Any
    ) -> None:
        w, b, v, c = self.params
        value, later = rows @ v[:, 0] + c[0], after @ v[:, 0] + c[0]
        wrong = rewards + self.gamma * later * (1 - ends) - value
        better = np.zeros(len(rows))
        following = 0.0
        for t in reversed(range(len(rows))):
            following = wrong[t] + self.gamma * self.gae_lambda * following * (
                1 - ends[t]
            )
            better[t] = following
        weights = np.exp(rows @ w + b)
        chances = weights / weights.sum(1, keepdims=True)
        picked = np.eye(2)[chosen]
        # New and old chances are the same in the only pass: the ratio is 1.
        slope = -better[:, None] * (picked - chances) / len(rows)
        logs = np.log(chances)
        undecided = -(chances * logs).sum(1, keepdims=True)
        slope += self.entropy * chances * (logs + undecided) / len(rows)
        error = self.values * (value - (better + value)) / len(rows)
        gradients = [rows.T @ slope, slope.sum(0), (rows.T @ error)[:, None]]
        gradients.append(error.sum(keepdims=True))
        length = np.sqrt(sum((g**2).sum() for g in gradients))
        self.updates += 1
        for k, gradient in enumerate(gradients):
            g = gradient * min(1.0, self.longest / length)
            self.mean[k] = 0.9 * self.mean[k] + 0.1 * g
            self.square[k] = 0.999 * self.square[k] + 0.001 * g**2
            mean = self.mean[k] / (1 - 0.9**self.updates)
            square = self.square[k] / (1 - 0.999**self.updates)
            self.params[k] = self.params[k] - self.rate * mean / (
                np.sqrt(square) + 1e-5
            )


def test_first_updates_of_both_agents_equal_hand_computed_numbers() -> None:
    made: list[Lights] = []

    def make() -> Lights:
        made.append(Lights())
        return made[-1]

    algorithm = IPPO(
        num_envs=1, num_steps=5, total_timesteps=15, reward_scale=1.0,
        hidden=(), learning_rate=ByHand.rate, anneal_lr=False, gamma=ByHand.gamma,
        gae_lambda=ByHand.gae_lambda, num_minibatches=1, update_epochs=1,
        norm_adv=False, ent_coef=ByHand.entropy, vf_coef=ByHand.values,
        max_grad_norm=ByHand.longest,
    )  # fmt: skip
    # An iteration is longer than an episode, and not a multiple of one.
    task = algorithm.task(make, eval_every=0)
    agents = {agent: ByHand(task.init(agent)) for agent in task.agent_spaces}
    with task.start(workers=2) as run:
        for number in range(task.iterations):
            run.step()
            played = made[-1].history[5 * number : 5 * number + 5]
            turns = np.arange(5 * number, 5 * number + 5) % 3
            for agent, other, sign in (("a", "b", 1.0), ("b", "a", -1.0)):
                mine = np.array([actions[agent] for actions in played])
                others = np.array([actions[other] for actions in played])
                worth = np.where(turns == 2, 2.0, 1.0)
                agents[agent].learn(
                    sign * np.stack([np.ones(5), 0.5 * turns], 1),
                    mine,
                    worth * (mine - others / 2),
                    turns == 2,
                    sign * np.stack([np.ones(5), 0.5 * (turns + 1)], 1),
                )
            for agent, hand in agents.items():
                (layer,) = run.weights[agent]["actor"]
                np.testing.assert_allclose(layer["w"], hand.params[0], atol=2e-6)
                np.testing.assert_allclose(layer["b"], hand.params[1], atol=2e-6)
        assert {actions[agent] for actions in made[-1].history for agent in "ab"} == {
            0,
            1,
        }
        (a,), (b,) = (run.weights[agent]["actor"] for agent in "ab")
        assert np.abs(a["w"] - b["w"]).max() > 0.01  # each learned its own


class Awkward(Meeting):
    def action_space(self, agent: str) -> Any:
        return gym.spaces.Text(2) if agent == "right" else gym.spaces.Discrete(2)


def test_errors_name_the_agent() -> None:
    match = r"agent 'right': action space must be Discrete, Box, .* for IPPO"
    with pytest.raises(FlowError, match=match):
        replace(IPPO_TASK, env=Awkward).start()


@pytest.mark.slow
def test_agents_learn_to_meet() -> None:
    """At best 0.94: (11 * 1 + 7 * 0.9 + 3 * 0.8) / 21, by the initial distance."""
    algorithm = IPPO(
        num_steps=64, hidden=(32, 32), learning_rate=3e-3, reward_scale=1.0
    )
    task = lasting(algorithm.task(Meeting, eval_every=0), 120)
    weights = task.run()

    env = Meeting()
    total = 0.0
    for episode in range(500):
        seen, _ = env.reset(seed=10_000 if episode == 0 else None)
        while env.agents:
            actions = {
                agent: task.algorithm.act_greedy(
                    weights[agent], ActInput(row[None])
                ).actions[0]
                for agent, row in seen.items()
            }
            seen, rewards, _, _, _ = env.step(actions)
            total += rewards["left"]
    assert total / 500 >= 0.9, total / 500
