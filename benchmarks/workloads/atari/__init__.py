# SPDX-License-Identifier: Apache-2.0
"""Atari: 15 games, one step of each in a round, with random actions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.harness.claims import Claim
from benchmarks.harness.outcome import worst
from benchmarks.harness.tables import table
from benchmarks.harness.workload import Case, Pace, Workload
from benchmarks.workloads.gym import rate_plot

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.harness.outcome import Outcome
    from benchmarks.harness.plots import Plot
    from benchmarks.harness.results import Spread

ENVS = 15
GAMES = {
    "Pong": ("pong", 6),
    "MsPacman": ("ms_pacman", 9),
    "SpaceInvaders": ("space_invaders", 6),
}
RAW, PREPARED = "raw", "prepared"
LIMITS = ("free", "free-process")
NATIVE = ("envpool", "ale-vector")
PLAIN = ("plain", "plain-ft")
ENGINES = {
    "ours-ft": "gym.vectors",
    "ours-gil": "gym.vectors",
    "ours-process": "gym.vectors",
    "free": "gym.free",
    "free-process": "gym.free",
    "plain": "gym.plain",
    "plain-ft": "gym.plain",
    "gym-sync": "gym.vectors",
    "gym-sync-ft": "gym.vectors",
    "gym-async": "gym.vectors",
    "ray-actors": "gym.ray_actors",
    "ray-cgraph": "gym.ray_cgraph",
    "mp-pipes": "gym.mp_pipes",
    "envpool": "gym.envpool_",
    "ale-vector": "atari.ale_vector",
}
INCOMPARABLE = {
    "envpool": "it always begins episodes with a random number of no-op frames.",
}
ABOUT = f"""\
{ENVS} Atari games; a round is a step of each. First as in the paper: frames of 210x160
in colour, an action for 2 to 4 frames at random. Then with the usual preparation: an
action for 4 frames, the brighter of the last two, 84x84 in grey, four such pictures.
Rewards and ends of episodes are compared, and raw frames: prepared ones differ by a
level of grey where libraries round differently.
"""
DIFFERENT_FRAMES = """\
Rewards and ends of episodes are the same in all engines that are compared. Prepared
frames are the same bits in all engines that prepare them with the same library; between
libraries a pixel differs by one level of grey now and then, as OpenCV sums up floats.
"""


def _case(game: str, kind: str) -> Case:
    rom, actions = GAMES[game]
    prepared = kind == PREPARED
    params: dict[str, Any] = {
        "game": game,
        "rom": rom,
        "envs": ENVS,
        "actions": actions,
        "prepared": prepared,
        "envpool": f"{game}-v5",
    }
    return Case(
        name=f"{game}-{kind}",
        title=f"{game}, {kind}",
        params=params,
        efforts=("smoke", "quick", "full") if game == "Pong" else ("full",),
        engines=() if prepared else [e for e in ENGINES if e not in NATIVE],
        line=kind,
        modules=("gymnasium", "ale_py"),
    )


def _units(params: Mapping[str, Any]) -> float:
    return float(params["envs"])


def _claims(outcome: Outcome) -> list[Claim]:
    def lowest(others: Sequence[str], kinds: Sequence[str]) -> Spread | None:
        ratios = [
            outcome.ratio_to_best("ours-ft", others, case.name)
            for case in outcome.cases()
            if case.line in kinds
        ]
        return worst(ratios, at_most=False)

    both = (RAW, PREPARED)
    return [
        Claim(
            f"atari-{key}",
            f"Atari, 15 games: steps/s of ours (3.14t, 2 workers) over {what}, worst "
            "game",
            lowest(others, kinds),
            bound,
        )
        for key, what, others, kinds, bound in (
            ("limit", "the upper bound (no synchronization)", LIMITS, both, 0.85),
            ("ray-actors", "Ray actors", ("ray-actors",), both, 4),
            ("plain", "the plain loop", PLAIN, both, 1.6),
            (
                "native",
                "EnvPool and AtariVectorEnv, the faster, prepared frames",
                NATIVE,
                (PREPARED,),
                0.95,
            ),
        )
    ]


def _plots(outcome: Outcome) -> list[Plot]:
    return [
        rate_plot(outcome, f"atari-{kind}", f"{ENVS} Atari games, {what}", kind)
        for kind, what in ((RAW, "raw frames"), (PREPARED, "prepared frames"))
    ]


def _notes(outcome: Outcome) -> list[str]:
    """Return a table of the engines with the same frames."""
    rows = []
    for case in outcome.cases():
        by_digest: dict[str, list[str]] = {}
        for m in outcome.results.measurements:
            frames = m.more.get("frames")
            if m.job.case == case.name and frames:
                engines = by_digest.setdefault(frames, [])
                if m.job.engine not in engines:
                    engines.append(m.job.engine)
        rows += [(case.title, f"`{d}`", ", ".join(who)) for d, who in by_digest.items()]
    if not rows:
        return []
    return [DIFFERENT_FRAMES + "\n" + table(("game", "frames", "engines"), rows)]


WORKLOAD = Workload(
    name="atari",
    title="Atari games",
    about=ABOUT,
    unit="step",
    rate="steps",
    units=_units,
    cases=tuple(_case(game, kind) for kind in (RAW, PREPARED) for game in GAMES),
    engines=ENGINES,
    incomparable=INCOMPARABLE,
    partly=dict.fromkeys(
        NATIVE, "not with raw frames: it repeats actions for a fixed number of frames."
    ),
    params={"smoke": {"envs": 2}},
    pace={
        "smoke": Pace(compared=5, slices=2, seconds=0.001),
        "quick": Pace(compared=20, slices=6, seconds=0.05),
        "full": Pace(compared=300, sets=5, slices=15, seconds=0.15),
    },
    claims=_claims,
    plots=_plots,
    notes=_notes,
)
