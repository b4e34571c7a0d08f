# SPDX-License-Identifier: Apache-2.0
"""The engines. Modules beside this one have what their implementations share.

Names end in ``-gil`` or ``-ft`` where an engine exists on both Pythons; the bare name
of such a pair is that on which it is usually run.
"""

from __future__ import annotations

from dataclasses import replace

from benchmarks.harness.engine import Engine, Python

BLACK, GREY = "#000000", "#7f7f7f"
ORANGE, SKY, GREEN, YELLOW = "#E69F00", "#56B4E9", "#009E73", "#F0E442"
BLUE, RED, PURPLE = "#0072B2", "#D55E00", "#CC79A7"

OURS = ("reactorl", "numpy")
TRAINING = ("reactorl", "jax", "optax")
PLAIN = ("numpy",)
ONE = {"workers": 1, "placement": "thread"}
TRACED = {"workers": 1, "trace": True}
THREADS = {"workers": 2, "placement": "thread"}
PROCESSES = {"workers": 2, "placement": "process"}
NATIVE = {"native": True}

_PEERS = (
    Engine(
        "ours-ft",
        "ReactoRL 3.14t",
        "ours-ft",
        "ReactoRL on free-threaded CPython 3.14, 2 workers (threads)",
        needs=OURS,
        options=THREADS,
        colour=BLUE,
        marker="o",
    ),
    Engine(
        "ours-gil",
        "ReactoRL GIL",
        "ours-gil",
        "ReactoRL on CPython with GIL, 2 workers (threads)",
        needs=OURS,
        options=THREADS,
        colour=SKY,
        marker="s",
        hatch="//",
    ),
    Engine(
        "ours-process",
        "ReactoRL processes",
        "ours-gil",
        "ReactoRL on CPython with GIL, environments in 2 worker processes",
        needs=OURS,
        options=PROCESSES,
        colour=SKY,
        marker="D",
        hatch="xx",
    ),
    Engine(
        "pipelined-ft",
        "ReactoRL 3.14t, pipelined",
        "ours-ft",
        "ReactoRL 3.14t with a policy lag of one iteration",
        needs=TRAINING,
        options={**THREADS, "lag": 1},
        colour=BLUE,
        marker="d",
        hatch="+",
    ),
    Engine(
        "pipelined-gil",
        "ReactoRL GIL, pipelined",
        "ours-gil",
        "ReactoRL GIL with a policy lag of one iteration",
        needs=TRAINING,
        options={**THREADS, "lag": 1},
        colour=SKY,
        marker="H",
        hatch="/+",
    ),
    Engine(
        "free",
        "upper bound: 2 threads",
        "ours-ft",
        "upper bound (no synchronization): two threads on free-threaded CPython 3.14 "
        "that each do half of the work",
        colour=BLACK,
        marker="_",
        hatch="..",
    ),
    Engine(
        "free-process",
        "upper bound: 2 processes",
        "ours-gil",
        "upper bound (no synchronization): two processes of CPython with GIL that each "
        "do half of the work",
        options=PROCESSES,
        colour=BLACK,
        marker="|",
        hatch="...",
    ),
    Engine(
        "plain",
        "plain loop",
        "ours-gil",
        "a plain loop in one thread of CPython with GIL, without any runtime",
        colour=GREY,
        marker="x",
        hatch="--",
    ),
    Engine(
        "plain-ft",
        "plain loop 3.14t",
        "ours-ft",
        "the same loop on free-threaded CPython 3.14",
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
        busy_waiting=True,  # raylet and workers: a tenth of a core
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
        busy_waiting=True,  # actors that wait for their channels take all cores
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
        colour=BLACK,
        marker="1",
        hatch="\\\\\\",
    ),
)


def _variants(python: Python) -> tuple[Engine, ...]:
    """Return the engines that only suites about ourselves use; they are not drawn."""
    title = "3.14t" if python == "ft" else "GIL"
    on = "on free-threaded CPython" if python == "ft" else "on CPython with GIL"
    return tuple(
        Engine(
            f"{kind}-{python}",
            f"{name} ({title})",
            f"ours-{python}",
            f"{about} {on}",
            needs,
            options,
        )
        for kind, name, about, needs, options in (
            ("ours-1", "ReactoRL, 1 worker", "one thread", OURS, ONE),
            ("ours-1-trace", "ReactoRL, traced", "one thread", OURS, TRACED),
            ("bodies-1", "ReactoRL, native bodies", "one thread", OURS, ONE),
            ("ours-default", "ReactoRL, default", "default placement", OURS, {}),
            (
                "native-1",
                "ReactoRL native, 1 worker",
                "environments in C++, one thread",
                OURS,
                {**ONE, **NATIVE},
            ),
            (
                "native",
                "ReactoRL native",
                "environments in C++, 2 threads",
                OURS,
                {**THREADS, **NATIVE},
            ),
            ("lf", "ReactoRL, LF program", "one thread", OURS, ONE),
            ("dashboard", "ReactoRL, dashboard", "2 workers", TRAINING, THREADS),
            ("futures", "futures", "a loop with 2 threads of a pool", PLAIN, {}),
            ("lark", "import lark", "a parser library", ("lark",), {}),
        )
    )


_OTHER_PYTHON = (
    Engine(
        "sockets",
        "raw sockets",
        "ours-gil",
        "processes and blocking Unix sockets, on CPython with GIL",
        needs=PLAIN,
        colour=GREY,
        marker="3",
        hatch="-|",
    ),
    Engine(
        "ours-process-ft", "ReactoRL processes (3.14t)", "ours-ft", "", OURS, PROCESSES
    ),
    Engine("gym-async-ft", "AsyncVectorEnv (3.14t)", "ours-ft", "", ("gymnasium",)),
    Engine("xronos-ft", "xronos (3.14t)", "ours-ft", "", ("xronos", "numpy")),
    Engine("free-gil", "2 threads (GIL)", "ours-gil", "", PLAIN),
)
_CLUSTER = (
    Engine(
        "federates",
        "ReactoRL, 2 federates",
        "ours-gil",
        "ReactoRL on CPython with GIL, two federates (processes of this machine)",
        TRAINING,
        {"federates": 2},
    ),
    Engine(
        "federates-n",
        "ReactoRL, federates",
        "ours-gil",
        "ReactoRL on CPython with GIL, a federate for each node",
        TRAINING,
    ),
    Engine(
        "rllib",
        "RLlib",
        "rllib",
        "RLlib with EnvRunner actors on a Ray cluster of this machine",
        ("ray.rllib", "torch", "tree"),
        busy_waiting=True,
    ),
)

ENGINES: dict[str, Engine] = {
    engine.name: engine
    for engine in (
        *_PEERS,
        *_variants("gil"),
        *_variants("ft"),
        *_OTHER_PYTHON,
        *_CLUSTER,
    )
}


def engine_named(name: str) -> Engine:
    """Return an engine; ``NAME@REVISION`` is NAME with another build of ours."""
    base, _, revision = name.partition("@")
    engine = ENGINES[base]
    if not revision:
        return engine
    return replace(engine, name=name, title=f"{engine.title} @ {revision}")


def on(python: Python, *kinds: str) -> list[str]:
    """Return the names that engines have on a Python: ``plain`` or ``plain-ft``."""
    return [f"{k}-{python}" if f"{k}-{python}" in ENGINES else k for k in kinds]
