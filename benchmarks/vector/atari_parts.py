# SPDX-License-Identifier: Apache-2.0
"""Where the time of a step of Atari goes, part by part.

``python -m benchmarks.vector.atari_parts --gil PYTHON --ft PYTHON`` prints a table;
``--write docs/atari.md`` puts it there. Emulator, resizing and the wrappers' steps are
watched from outside while the game is played: what no part accounts for is overhead.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from statistics import quantiles
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any

from benchmarks.runtime.facts import interpreter_facts, machine_facts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Env = Any

GAME = "ALE/Pong-v5"
FRAMES = 4
STACKED = 4
SLICES, STEPS = 30, 40
SETS = 6
RESETS = 5
UNDISTURBED = 0.98
"""Of a slice's time this much must be the process's own, or others were at work."""
PARTS = {
    "emulate": f"{FRAMES} frames of the emulator",
    "rgb": "screens in colour",
    "grey": "screens in grey",
    "resize": "84x84 by areas",
    "stack": f"stack of {STACKED}",
}
VARIANTS = {
    "game": "game alone",
    "theirs": "Gymnasium's wrappers",
    "ours": "our preprocessing, Gymnasium's stack",
}
KINDS = ("plain", "watched")
PACKAGES = ("ale-py", "opencv-python-headless", "opencv-python")
BEGIN, END = "<!-- measured -->", "<!-- end -->"


class Clock:
    """Adds up how long parts take."""

    def __init__(self) -> None:
        self._spent: dict[str, list[float]] = {}

    def watch(self, part: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function with its time taken."""
        spent = self._spent[part] = [0.0]

        def timed(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
            began = perf_counter()
            result = function(*args, **kwargs)
            spent[0] += perf_counter() - began
            return result

        return timed

    def begin(self) -> None:
        """Forget what was."""
        for spent in self._spent.values():
            spent[0] = 0.0

    def parts(self) -> dict[str, float]:
        """Return what each part took; stacking without what it stacks."""
        found = {part: self._spent.get(part, [0.0])[0] for part in PARTS}
        found["stack"] -= self._spent.get("prepare", [0.0])[0]
        return found


class WatchedEmulator:
    """An emulator whose costly methods are watched."""

    def __init__(self, ale: Any, clock: Clock) -> None:  # noqa: ANN401
        self._ale = ale
        self.act = clock.watch("emulate", ale.act)
        self.getScreenRGB = clock.watch("rgb", ale.getScreenRGB)
        self.getScreenGrayscale = clock.watch("grey", ale.getScreenGrayscale)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        found = getattr(self._ale, name)
        setattr(self, name, found)  # asked for once, then as fast as any
        return found


def make(variant: str, clock: Clock | None) -> Env:
    """Return a game, watched if there is a clock."""
    import ale_py
    import gymnasium as gym
    from gymnasium.wrappers import AtariPreprocessing, FrameStackObservation

    from reactorl.rl import AtariPreprocessing as OurPreprocessing

    gym.register_envs(ale_py)
    if variant == "game":
        env: Env = gym.make(GAME)
    elif variant == "theirs":
        env = AtariPreprocessing(gym.make(GAME, frameskip=1))
    else:
        env = OurPreprocessing(gym.make(GAME, frameskip=1))
    if clock is not None:
        game = env.unwrapped
        game.ale = WatchedEmulator(game.ale, clock)
        if variant == "theirs":
            import cv2

            cv2.resize = clock.watch("resize", cv2.resize)
        elif variant == "ours":
            env._resize = clock.watch("resize", env._resize)
    if variant != "game":
        prepared = env
        env = FrameStackObservation(env, STACKED)
        if clock is not None:
            prepared.step = clock.watch("prepare", prepared.step)
            env.step = clock.watch("stack", env.step)
    return env


def play(variant: str, *, watched: bool) -> list[dict[str, float]]:
    """Return for each slice the seconds of a step, in all and by part."""
    clock = Clock()
    env = make(variant, clock if watched else None)
    env.action_space.seed(1)
    env.reset(seed=1)
    slices = []
    for number in range(SLICES + 1):
        actions = [int(env.action_space.sample()) for _ in range(STEPS)]
        ended = False
        clock.begin()
        began, cpu_began = perf_counter(), process_time()
        for action in actions:
            _, _, terminated, truncated, _ = env.step(action)
            ended = ended or terminated or truncated
        took, cpu = perf_counter() - began, process_time() - cpu_began
        if ended:
            env.reset()
        elif number and cpu > UNDISTURBED * took:  # the first one warms up
            parts = {part: spent / STEPS for part, spent in clock.parts().items()}
            slices.append({"all": took / STEPS, **parts})
    env.close()
    return slices


def resets(variant: str) -> list[float]:
    """Return how long resets with a seed take, which load the game anew."""
    env = make(variant, None)
    taken = []
    for seed in range(RESETS):
        began = perf_counter()
        env.reset(seed=seed)
        taken.append(perf_counter() - began)
    env.close()
    return taken


def child(variant: str) -> None:
    """Measure in this process, and print what was found."""
    found = {
        "plain": [each["all"] for each in play(variant, watched=False)],
        "watched": play(variant, watched=True),
        "resets": resets(variant),
        "facts": interpreter_facts(),
        "packages": {name: _version(name) for name in PACKAGES},
    }
    print(json.dumps(found))


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def ask(python: str, variant: str) -> dict[str, Any]:
    """Measure in a process of its own."""
    command = [python, "-m", "benchmarks.vector.atari_parts", "--child", variant]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"`{' '.join(command)}` failed; is ale-py there? make atari-ft")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def columns(gil: str, ft: str) -> list[tuple[str, str]]:
    """Return interpreters and variants; Gymnasium's needs OpenCV."""
    return [(gil, "game"), (gil, "theirs"), (gil, "ours"), (ft, "game"), (ft, "ours")]


def table(found: dict[tuple[str, str], list[dict[str, Any]]]) -> list[str]:
    """Return the table, in Markdown."""
    heads, cells = [], []
    for (_, variant), sets in found.items():
        facts = sets[0]["facts"]
        kind = "3.14t" if facts["free_threaded"] else facts["version"]
        heads.append(f"{VARIANTS[variant]}, {kind}")
        cells.append(_column([each for one in sets for each in one["watched"]]))
        cells[-1]["plain"] = _typical(s for one in sets for s in one["plain"])
        cells[-1]["reset"] = _typical(s for one in sets for s in one["resets"])
    rows = {
        **PARTS,
        "rest": "the rest: calls, copies, infos",
        "all": "**a step, watched**",
        "plain": "**a step, not watched**",
    }
    lines = ["| µs | " + " | ".join(heads) + " |", "|---" * (len(heads) + 1) + "|"]
    for key, title in rows.items():
        shown = [f"{c[key] * 1e6:.0f}" if c[key] > 5e-8 else "" for c in cells]
        lines.append(f"| {title} | " + " | ".join(shown) + " |")
    shown = [f"{c['reset'] * 1e6:,.0f}" for c in cells]
    lines.append("| a reset with a seed | " + " | ".join(shown) + " |")
    return lines


def _column(slices: list[dict[str, float]]) -> dict[str, float]:
    column = {key: _typical(each[key] for each in slices) for key in ("all", *PARTS)}
    column["rest"] = column["all"] - sum(column[part] for part in PARTS)
    return column


def _typical(values: Iterable[float]) -> float:
    """Return the lower quartile: others can only make things slower."""
    known = list(values)
    if len(known) < 2:
        sys.exit("Others used the processor all the time; measure when it is idle.")
    return quantiles(known, n=4)[0]


def facts_text(found: dict[tuple[str, str], list[dict[str, Any]]], load: float) -> str:
    """Return what was measured on, and what the load was before."""
    machine = machine_facts()
    pythons = {}
    for sets in found.values():
        facts = sets[0]["facts"]
        kind = "free-threaded" if facts["free_threaded"] else "with GIL"
        pgo = "PGO" if facts["pgo"] else "no PGO"
        versions = {"numpy": facts["packages"]["numpy"], **sets[0]["packages"]}
        named = ", ".join(f"{name} {v}" for name, v in versions.items() if v)
        text = f"CPython {facts['version']} {kind} ({pgo}; {named})"
        pythons[facts["free_threaded"]] = text
    gymnasium = metadata.version("gymnasium")
    return (
        f"{GAME}, {machine['cpu']}, {machine['usable_cores']} cores, "
        f"{machine['system']}; {'; '.join(pythons.values())}; gymnasium {gymnasium}. "
        f"Lower quartiles of {SETS} x {SLICES} slices of {STEPS} steps, processes in "
        f"turns; {_left(found)} were left out, as an episode ended or others used the "
        f"processor. Load before: {load:.1f}."
    )


def _left(found: dict[tuple[str, str], list[dict[str, Any]]]) -> str:
    """Return which share of slices is missing."""
    each = [one[k] for sets in found.values() for one in sets for k in KINDS]
    return f"{1 - sum(map(len, each)) / (len(each) * SLICES):.0%}"


def write(path: Path, lines: list[str]) -> None:
    """Put lines into a file, between its marks."""
    text = path.read_text()
    head, _, rest = text.partition(BEGIN)
    _, _, tail = rest.partition(END)
    path.write_text("\n".join([head + BEGIN, *lines, END + tail]))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--gil", default=sys.executable, help="a Python with GIL")
    parser.add_argument("--ft", help="a free-threaded one")
    parser.add_argument("--write", type=Path, help="the file to put the table into")
    parser.add_argument("--child", choices=VARIANTS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.child)
        return
    chosen = [each for each in columns(options.gil, options.ft) if each[0]]
    load = os.getloadavg()[0]
    if load > 0.5:
        print(f"The load is {load:.1f}: others are at work.", file=sys.stderr)
    found: dict[tuple[str, str], list[dict[str, Any]]] = {c: [] for c in chosen}
    for number in range(SETS):
        print(f"set {number + 1} of {SETS}", file=sys.stderr)
        for python, variant in chosen:
            found[python, variant].append(ask(python, variant))
    lines = ["", *table(found), "", facts_text(found, load), ""]
    print("\n".join(lines))
    if options.write is not None:
        write(options.write, lines)


if __name__ == "__main__":
    main()
