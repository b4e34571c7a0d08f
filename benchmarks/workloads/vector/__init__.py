# SPDX-License-Identifier: Apache-2.0
"""Vector environments: a step of all sub-environments, beside Gymnasium's."""

from __future__ import annotations

from benchmarks.harness.claims import Claim
from benchmarks.harness.workload import Case, Pace, Workload, paces
from benchmarks.workloads.runtime import on_both

CARTPOLE, BUSY, PONG = "cartpole-15", "busy-16", "pong-15"
TITLES = {
    CARTPOLE: "15 CartPoles",
    BUSY: "16 environments of 300 µs in Python",
    PONG: "15 games of Pong",
}
EVERYWHERE = ("gym-sync", "ours-1", "ours", "ours-process", "ours-default")
CLAIMS = (
    # case, engine, engine it is compared with, least speed
    (CARTPOLE, "ours-ft", "gym-sync-ft", 1.4),
    (CARTPOLE, "ours-ft", "gym-async-ft", 15),
    (CARTPOLE, "ours-1-ft", "gym-sync-ft", 0.95),
    (CARTPOLE, "ours-1-gil", "gym-sync", 0.95),
    (CARTPOLE, "ours-default-gil", "gym-sync", 0.95),
    (BUSY, "ours-ft", "gym-sync-ft", 1.7),
    (BUSY, "ours-process", "gym-sync", 1.65),
    (PONG, "ours-ft", "gym-sync-ft", 1.65),
    (PONG, "ours-default-gil", "gym-sync", 1.55),
)

WORKLOAD = Workload(
    name="vector",
    title="Vector environments",
    about="A round is a step of all sub-environments, with random actions from a table "
    "that all engines share. `ours-1` and `ours` have 1 and 2 threads, `ours-process` "
    "2 processes, `ours-default` the default placement.",
    cases=[
        Case(
            CARTPOLE,
            TITLES[CARTPOLE],
            {"env": "CartPole-v1", "envs": 15, "actions": 2},
            modules=("gymnasium",),
            pace=paces(Pace(compared=30, sets=6, slices=30, seconds=0.02)),
        ),
        Case(
            BUSY,
            TITLES[BUSY],
            {"env": "busy", "us": 300, "envs": 16, "actions": 2},
            engines=on_both(*EVERYWHERE),
            modules=("gymnasium",),
            pace=paces(Pace(compared=30, sets=6, slices=12, seconds=0.05)),
        ),
        Case(
            PONG,
            TITLES[PONG],
            {"env": "ALE/Pong-v5", "envs": 15, "actions": 6},
            engines=on_both(*EVERYWHERE),
            modules=("gymnasium", "ale_py"),
            pace=paces(Pace(compared=30, sets=6, slices=12, seconds=0.1)),
        ),
    ],
    engines=dict.fromkeys(on_both(*EVERYWHERE, "gym-async"), "gym.vectors"),
    partly=dict.fromkeys(on_both("gym-async"), "with CartPoles only."),
    baseline={"gil": "gym-sync", "ft": "gym-sync-ft"},
    calibrated=True,
    own_process=True,
    params={"smoke": {"envs": 3, "us": 3}},
    pace=paces(Pace(compared=30)),
    claims=lambda outcome: [
        Claim(
            f"vector-{case}-{engine}-{other}",
            f"{TITLES[case]}: speed of {engine} over {other}",
            outcome.ratio(other, engine, case),
            bound,
        )
        for case, engine, other, bound in CLAIMS
    ],
)
