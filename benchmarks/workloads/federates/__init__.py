# SPDX-License-Identifier: Apache-2.0
"""Federates: values between processes of one machine, and training over two of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.harness.claims import Claim
from benchmarks.harness.results import Spread
from benchmarks.harness.workload import Case, Pace, Workload

if TYPE_CHECKING:
    from benchmarks.harness.outcome import Outcome

SMALL, LARGE = 64, 10 * 2**20
EXCHANGES = 20
"""Exchanges in a round: a driver of a program has a cost of its own."""
ENVS, STEPS = 4, 25
PING, ENVIRONMENTS, ITERATION = "ping", "environments", "iteration"
MODULES = ("gymnasium", "jax", "optax")
VALUES = ("ours-gil", "sockets", "ray-actors", "ours-ft")

ABOUT = f"""\
A value goes from one process to others and an answer comes back at the same tag: 64
bytes to one process, which returns them, and an array of 10 MiB to one and to four,
which return a number of it. Raw sockets are Unix sockets with blocking calls in Python,
which send and receive memory of a known size and pickle nothing; Ray puts a large array
into its object store, and calls an actor in each process. The last cases are DQN with
{ENVS} environments in pure Python on CPython with GIL, in one process and in two
federates, with steps of 1 ms and with steps that cost nothing: their difference is the
cost of an iteration.
"""


def _values(name: str, title: str, size: int, receivers: int) -> Case:
    return Case(
        name=name,
        title=title,
        params={"size": size, "receivers": receivers, "federates": 0},
        efforts=("quick", "full") if receivers > 1 else ("smoke", "quick", "full"),
        engines=VALUES,
        line="values",
    )


def _training(name: str, federates: int, us: int) -> Case:
    cost = f"steps of {us / 1000:g} ms" if us else "steps that cost nothing"
    place = "one process" if federates == 1 else f"{federates} federates"
    return Case(
        name=f"{name}-{federates}",
        title=f"DQN, {cost}, {place}",
        params={"federates": federates, "us": us},
        efforts=("quick", "full"),
        engines=("ours-gil",),
        group=name,
        modules=MODULES,
        line="training",
        pace={
            "quick": Pace(compared=2, sets=3, slices=12, seconds=0.1),
            "full": Pace(compared=2, sets=5, slices=30, seconds=0.2),
        },
    )


def _claims(outcome: Outcome) -> list[Claim]:
    times = "time there and back of"
    found = [
        Claim(
            "federates-ping-ray",
            f"Federates, 64 bytes: {times} a Ray actor call over ours",
            outcome.ratio("ray-actors", "ours-gil", PING),
            8,
        ),
        Claim(
            "federates-ping-sockets",
            f"Federates, 64 bytes: {times} ours over raw sockets",
            outcome.ratio("ours-gil", "sockets", PING),
            5,
            at_most=True,
        ),
    ]
    for receivers in (1, 4):
        case = f"10MiB-{receivers}"
        to = f"Federates, 10 MiB to {receivers}: time of"
        found += [
            Claim(
                f"federates-large-{receivers}-sockets",
                f"{to} raw sockets over ours",
                outcome.ratio("sockets", "ours-gil", case),
                0.6,
            ),
            Claim(
                f"federates-large-{receivers}-ray",
                f"{to} Ray objects over ours",
                outcome.ratio("ray-actors", "ours-gil", case),
                3,
            ),
        ]
    one, two = f"{ENVIRONMENTS}-1", f"{ENVIRONMENTS}-2"
    return [
        *found,
        Claim(
            "federates-environments",
            "Federates, environments of 1 ms in Python, GIL: steps/s with 2 federates "
            "over one process",
            outcome.ratio("ours-gil", "ours-gil", one, under_case=two),
            1.6,
        ),
        Claim(
            "federates-iteration",
            "Federates, steps that cost nothing: time of an iteration with 2 federates "
            "less that in one process",
            _overhead(outcome),
            1.0,
            at_most=True,
            unit=" ms",
        ),
    ]


def _overhead(outcome: Outcome) -> Spread | None:
    """Return by how many milliseconds an iteration takes longer with two federates."""
    one, two = (outcome.time(f"{ITERATION}-{n}", "ours-gil") for n in (1, 2))
    if one is None or two is None:
        return None
    pairs = zip(one.values, two.values, strict=False)
    return Spread(tuple(1e3 * (b - a) for a, b in pairs))


def _units(params: dict[str, int]) -> float:
    """Return the exchanges of a round; a round of training is one iteration."""
    return 1.0 if params["federates"] else float(EXCHANGES)


WORKLOAD = Workload(
    name="federates",
    title="Federates",
    about=ABOUT,
    unit="exchange or iteration",
    units=_units,
    cases=(
        _values(PING, "64 bytes to 1 process", SMALL, 1),
        _values("10MiB-1", "10 MiB to 1 process", LARGE, 1),
        _values("10MiB-4", "10 MiB to 4 processes", LARGE, 4),
        *(_training(ENVIRONMENTS, federates, 1_000) for federates in (1, 2)),
        *(_training(ITERATION, federates, 0) for federates in (1, 2)),
    ),
    engines={
        "ours-gil": "federates.ours",
        "sockets": "federates.sockets",
        "ray-actors": "federates.ray_actors",
        "ours-ft": "federates.ours",
    },
    partly={
        "sockets": "not for training: they carry values only.",
        "ray-actors": "not for training.",
        "ours-ft": "not for training, whose figures are about the GIL.",
    },
    calibrated=True,
    own_process=True,
    params={"smoke": {"us": 0}},
    pace={
        "smoke": Pace(compared=2, slices=2, seconds=0.001),
        "quick": Pace(compared=5, sets=3, slices=15, seconds=0.03),
        "full": Pace(compared=5, sets=5, slices=40, seconds=0.05),
    },
    claims=_claims,
)
