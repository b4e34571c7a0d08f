# SPDX-License-Identifier: Apache-2.0
"""Multi-agent inference: a policy for each agent, the environment in the middle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.harness.claims import Claim
from benchmarks.harness.outcome import worst
from benchmarks.harness.plots import Plot, bars_of
from benchmarks.harness.workload import Case, Pace, Workload

if TYPE_CHECKING:
    from benchmarks.harness.outcome import Outcome

COUNTS = (4, 10)
JUNCTION, SPREAD = "junction", "spread"
TITLES = {JUNCTION: "junction", SPREAD: "simple_spread"}
ENGINES = {
    "ours-ft": "agents.ours",
    "ours-gil": "agents.ours",
    "plain": "agents.plain",
    "plain-ft": "agents.plain",
    "ray-actors": "agents.ray_actors",
    "ray-cgraph": "agents.ray_cgraph",
    "mp-pipes": "agents.mp_pipes",
}
ABOUT = """\
Each of 4 or 10 agents has a policy, a network with a hidden layer of 64. In a round all
observations are broadcast to all policies, each replies with its greedy action, and the
environment steps. The junction is an environment of our own with the sizes of the
paper's TrafficJunction (324 numbers for 4 agents, 1350 for 10, two actions);
`simple_spread` is one of PettingZoo's MPE, and its step in Python takes most of the
time with every engine, so the claims are about the junction.
"""


def _sizes(env: str, agents: int) -> dict[str, int]:
    if env == JUNCTION:
        return {"inputs": 9 * (agents + 5) * agents, "actions": 2}
    return {"inputs": 6 * agents, "actions": 5}


def _case(env: str, agents: int) -> Case:
    params: dict[str, Any] = {"env": env, "agents": agents, **_sizes(env, agents)}
    return Case(
        name=f"{env}-{agents}",
        title=f"{TITLES[env]}, {agents} agents",
        params=params,
        efforts=("smoke", "quick", "full")
        if agents == COUNTS[0]
        else ("quick", "full"),
        line=env,
        modules=("mpe2", "pettingzoo") if env == SPREAD else (),
        x=agents,
    )


def _claims(outcome: Outcome) -> list[Claim]:
    return [
        Claim(
            f"agents-{other}",
            f"Multi-agent inference, junction: time of {what} over ours, worst number "
            "of agents",
            worst(
                [outcome.ratio(other, "ours-ft", f"{JUNCTION}-{n}") for n in COUNTS],
                at_most=False,
            ),
            bound,
        )
        for other, what, bound in (
            ("ray-actors", "Ray actors", 20),
            ("ray-cgraph", "Ray Compiled Graphs", 3),
        )
    ]


def _plots(outcome: Outcome) -> list[Plot]:
    return [
        Plot(
            name="agents",
            title="A round of inference with a policy for each agent",
            x_label="",
            y_label="seconds per round",
            bars=bars_of(outcome),
        )
    ]


WORKLOAD = Workload(
    name="agents",
    title="Multi-agent inference",
    about=ABOUT,
    cases=tuple(_case(env, n) for env in (JUNCTION, SPREAD) for n in COUNTS),
    engines=ENGINES,
    absent={
        "ours-process": "process placement is for environments of a vector; here "
        "policies are reactors.",
    },
    pace={
        "smoke": Pace(compared=50, slices=2, seconds=0.001),
        "quick": Pace(compared=50, slices=8, seconds=0.02),
        "full": Pace(compared=1_000, sets=5, slices=30, seconds=0.03),
    },
    claims=_claims,
    plots=_plots,
)
