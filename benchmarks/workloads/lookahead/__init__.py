# SPDX-License-Identifier: Apache-2.0
"""Lookahead: a long reaction beside an independent chain of short ones, in one tag.

The chain's reactions are at deeper levels than the long one. With a barrier after each
level they would wait for it; by their dependencies they need not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.harness.claims import Claim
from benchmarks.harness.results import Spread
from benchmarks.harness.workload import Case, Pace, Workload, paces
from benchmarks.workloads import runtime

if TYPE_CHECKING:
    from benchmarks.harness.outcome import Outcome

CASES = {
    "both": "long reaction and chain",
    "long": "long reaction alone",
    "chain": "chain alone",
}
ALONE = ("long", "chain")


def rows(params: dict[str, Any]) -> tuple[tuple[int, ...], ...]:
    """Return the turns of the busy loop of each stage, for each row of stages."""
    per_us = params["turns_per_us"]
    long = (round(params["long_us"] * per_us),)
    relay = 0  # puts the chain below the long reaction's level
    chain = (relay, *[round(params["short_us"] * per_us)] * params["length"])
    found = {"both": (long, chain), "long": (long,), "chain": (chain,)}
    return found[params["rows"]]


def _claims(outcome: Outcome) -> list[Claim]:
    two_cores = outcome.sets_with_two_cores("plain-ft", "free", "both")
    ratios = [
        outcome.ratio("ours-ft", "ours-1-ft", "both", under_case=case, sets=two_cores)
        for case in ALONE
    ]
    known = [ratio.values for ratio in ratios if ratio is not None]
    # Over the longer of the two is the smaller ratio, set by set.
    measured = Spread(tuple(map(min, *known))) if len(known) == len(ALONE) else None
    return [
        Claim(
            "lookahead",
            "Lookahead, 2 workers, ft: time of both over the longer alone",
            measured,
            1.25,
            at_most=True,
        ),
        *runtime.two_workers_do_no_harm(outcome, ["both"]),
    ]


WORKLOAD = Workload(
    name="lookahead",
    title="Lookahead",
    about="A 5 ms reaction beside a chain of twenty 250 µs reactions, in one tag.",
    cases=[
        Case(
            name,
            title,
            {"rows": name, "long_us": 5_000, "short_us": 250, "length": 20},
            engines=runtime.on_both("ours-1") if name in ALONE else (),
            group="lookahead",
        )
        for name, title in CASES.items()
    ],
    engines=runtime.engines("lookahead", "free"),
    partly={
        engine: "with both only."
        for engine in runtime.engines("lookahead", "free")
        if engine not in runtime.on_both("ours-1")
    },
    baseline=runtime.PLAIN,
    calibrated=True,
    params={"smoke": {"long_us": 50, "short_us": 3}},
    pace=paces(Pace(compared=10, sets=8, slices=12, seconds=0.05)),
    claims=_claims,
)
