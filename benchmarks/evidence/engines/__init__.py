# SPDX-License-Identifier: Apache-2.0
"""Engines: what they are called, where they live, how they are drawn.

An engine is an environment (a Python with pinned packages) and options that its
implementations of workloads read. What an engine needs in its processes besides, such
as a Ray cluster, is in a module of this package.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Engine:
    """Something that can run workloads.

    Attributes:
        name: As in ``--engines`` and file names.
        title: As in tables and legends.
        environment: Where it is installed; see ``environments``.
        about: What it is, for the page.
        needs: Modules without which it cannot run.
        options: What implementations read.
        environ: What its processes have in their environment.
        colour: Of the Okabe-Ito palette.
        marker: Of lines; so that colour is not all that tells engines apart.
        hatch: Of bars, likewise.
        restless: Whether its processes use the processor while they wait. Then it is
            measured after the others, not in turns with them.
    """

    name: str
    title: str
    environment: str
    about: str
    needs: Sequence[str] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    environ: Mapping[str, str] = field(default_factory=dict)
    colour: str = "#000000"
    marker: str = "o"
    hatch: str = ""
    restless: bool = False

    @property
    def free_threaded(self) -> bool:
        """Whether it needs a Python without GIL."""
        return self.environment.endswith("-ft")

    @property
    def is_limit(self) -> bool:
        """Whether it is no engine but what the machine can do at best."""
        return self.name.startswith("free")

    @property
    def workers(self) -> int:
        """How many threads or processes work."""
        return int(self.options.get("workers", 2))


BLACK, GREY = "#000000", "#7f7f7f"
ORANGE, SKY, GREEN, YELLOW = "#E69F00", "#56B4E9", "#009E73", "#F0E442"
BLUE, RED, PURPLE = "#0072B2", "#D55E00", "#CC79A7"

_ALL = (
    Engine(
        "ours-ft",
        "ReactoRL 3.14t",
        "ours-ft",
        "ReactoRL on free-threaded CPython 3.14, 2 workers (threads)",
        needs=("reactorl", "numpy"),
        options={"workers": 2, "placement": "thread"},
        colour=BLUE,
        marker="o",
    ),
    Engine(
        "ours-gil",
        "ReactoRL GIL",
        "ours-gil",
        "ReactoRL on CPython with GIL, 2 workers (threads)",
        needs=("reactorl", "numpy"),
        options={"workers": 2, "placement": "thread"},
        colour=SKY,
        marker="s",
        hatch="//",
    ),
    Engine(
        "ours-process",
        "ReactoRL processes",
        "ours-gil",
        "ReactoRL on CPython with GIL, environments in 2 worker processes",
        needs=("reactorl", "numpy"),
        options={"workers": 2, "placement": "process"},
        colour=SKY,
        marker="D",
        hatch="xx",
    ),
    Engine(
        "pipelined-ft",
        "ReactoRL 3.14t, pipelined",
        "ours-ft",
        "the same as ReactoRL 3.14t, with a lag of one round between learning and "
        "collecting",
        needs=("reactorl", "jax", "optax"),
        options={"workers": 2, "placement": "thread", "lag": 1},
        colour=BLUE,
        marker="d",
        hatch="+",
    ),
    Engine(
        "pipelined-gil",
        "ReactoRL GIL, pipelined",
        "ours-gil",
        "the same as ReactoRL GIL, with that lag",
        needs=("reactorl", "jax", "optax"),
        options={"workers": 2, "placement": "thread", "lag": 1},
        colour=SKY,
        marker="H",
        hatch="/+",
    ),
    Engine(
        "free",
        "limit: free threads",
        "ours-ft",
        "two threads on free-threaded CPython 3.14 that each do half of the work and "
        "never meet: what two cores can do at best",
        needs=("numpy",),
        options={"workers": 2},
        colour=BLACK,
        marker="_",
        hatch="..",
    ),
    Engine(
        "free-process",
        "limit: 2 free processes",
        "ours-gil",
        "two processes of CPython with GIL that each do half of the work and never "
        "meet",
        needs=("numpy",),
        options={"workers": 2, "placement": "process"},
        colour=BLACK,
        marker="|",
        hatch="...",
    ),
    Engine(
        "plain",
        "plain loop",
        "ours-gil",
        "a plain loop in one thread of CPython with GIL, without any runtime",
        needs=("numpy",),
        colour=GREY,
        marker="x",
        hatch="--",
    ),
    Engine(
        "plain-ft",
        "plain loop 3.14t",
        "ours-ft",
        "the same loop on free-threaded CPython 3.14",
        needs=("numpy",),
        colour=GREY,
        marker="+",
        hatch="++",
    ),
    Engine(
        "ray-actors",
        "Ray actors",
        "ray",
        "Ray actors, called with `.remote` and gathered with `ray.get`, as in the "
        "paper",
        needs=("ray", "numpy"),
        colour=RED,
        marker="^",
        hatch="\\\\",
        restless=True,  # raylet and workers: a tenth of a core
    ),
    Engine(
        "ray-cgraph",
        "Ray Compiled Graphs",
        "ray",
        "Ray Compiled Graphs: a fixed graph of actors over shared-memory channels",
        needs=("ray", "numpy"),
        # The first round makes shared memory for all answers, which takes longer than
        # the 10 seconds of the default if these are large: docs.ray.io,
        # ray-core/compiled-graph/troubleshooting.html.
        environ={"RAY_CGRAPH_get_timeout": "300", "RAY_CGRAPH_submit_timeout": "300"},
        colour=ORANGE,
        marker="v",
        hatch="||",
        restless=True,  # actors that wait for their channels take all cores
    ),
    Engine(
        "gym-sync",
        "SyncVectorEnv",
        "gym",
        "Gymnasium's SyncVectorEnv: one thread",
        needs=("gymnasium",),
        colour=GREEN,
        marker="<",
        hatch="o",
    ),
    Engine(
        "gym-sync-ft",
        "SyncVectorEnv 3.14t",
        "ours-ft",
        "the same on free-threaded CPython 3.14",
        needs=("gymnasium",),
        colour=GREEN,
        marker="2",
        hatch=".o",
    ),
    Engine(
        "gym-async",
        "AsyncVectorEnv",
        "gym",
        "Gymnasium's AsyncVectorEnv: a process for each environment",
        needs=("gymnasium",),
        colour=GREEN,
        marker=">",
        hatch="O",
    ),
    Engine(
        "envpool",
        "EnvPool",
        "envpool",
        "EnvPool: environments in C++ on 2 threads",
        needs=("envpool",),
        options={"workers": 2},
        colour=PURPLE,
        marker="p",
        hatch="*",
    ),
    Engine(
        "ale-vector",
        "AtariVectorEnv",
        "gym",
        "ale-py's AtariVectorEnv: emulators in C++ on 2 threads",
        needs=("ale_py", "gymnasium"),
        options={"workers": 2},
        colour=PURPLE,
        marker="h",
        hatch="**",
    ),
    Engine(
        "xronos",
        "xronos",
        "xronos",
        "Xronos, a reactor runtime for Python with a C++ core",
        needs=("xronos", "numpy"),
        colour=YELLOW,
        marker="P",
        hatch="oo",
    ),
    Engine(
        "mp-pipes",
        "multiprocessing pipes",
        "ours-gil",
        "processes of `multiprocessing`, one for each actor, and pipes",
        needs=("numpy",),
        colour=BLACK,
        marker="1",
        hatch="\\\\\\",
    ),
)

ENGINES: dict[str, Engine] = {engine.name: engine for engine in _ALL}
