# SPDX-License-Identifier: Apache-2.0
"""Star: a server broadcasts to its clients, they reply, it gathers, and again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.engines import on
from benchmarks.harness.claims import Claim
from benchmarks.harness.workload import EFFORTS, Case, Pace, Workload, paces
from benchmarks.workloads import runtime

if TYPE_CHECKING:
    from benchmarks.harness.outcome import Outcome

CLIENTS = (2, 4, 8, 16, 64)


def _claims(outcome: Outcome) -> list[Claim]:
    claims = []
    for python in runtime.PYTHONS:
        ours, native, xronos, plain = on(
            python, "ours-1", "bodies-1", "xronos", "plain"
        )
        claims += [
            Claim(
                f"star-{other}",
                f"Star, 16 empty clients, 1 worker, {python}: time over {title}",
                outcome.ratio(ours, other, "16"),
                bound,
                at_most=True,
            )
            for other, title, bound in (
                (xronos, "xronos", 0.25),
                (plain, "plain loop", 4.0),
            )
        ]
        claims.append(
            Claim(
                f"star-native-{python}",
                f"Star, 16 empty native clients, 1 worker, {python}: time over plain "
                "loop",
                outcome.ratio(native, plain, "16"),
                1.0,
                at_most=True,
            )
        )
    return claims + runtime.two_workers_do_no_harm(outcome, [str(n) for n in CLIENTS])


WORKLOAD = Workload(
    name="star",
    title="Star",
    about="A server broadcasts, clients reply, it gathers; empty bodies, so that the "
    "runtime is measured.",
    cases=[
        Case(
            str(n),
            f"{n} clients",
            {"clients": n},
            efforts=EFFORTS if n == CLIENTS[0] else ("quick", "full"),
        )
        for n in CLIENTS
    ],
    engines=runtime.engines("star", "bodies-1"),
    baseline=runtime.PLAIN,
    own_process=True,
    pace=paces(Pace(compared=500, sets=3, slices=60, seconds=0.01)),
    claims=_claims,
)
