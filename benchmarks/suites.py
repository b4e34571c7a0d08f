# SPDX-License-Identifier: Apache-2.0
"""The suites: which workloads are measured and reported together."""

from __future__ import annotations

from benchmarks.harness.suite import Suite

MAIN = """\
ReactoRL beside Ray and today's peers, on one machine: the engines of a workload take
turns within a set. Sets of workloads follow one another, in one call or in several.
The workloads are those of the paper that compared Lingua Franca with Ray (SPAA 2024),
and some more. This page is written by `reactorl bench` from its measurements: no number
in a table is typed by hand. To repeat it: `make bench ARGS="{effort}"` in a clone.
"""

_ALL = (
    Suite(
        "main",
        "Benchmarks",
        MAIN,
        (
            "actors",
            "object_size",
            "gym",
            "atari",
            "q_learning",
            "agents",
            "pipeline",
            "reactors",
            "workers",
            "federates",
        ),
        effort="quick",
        out="bench",
        docs="benchmarks.md",
    ),
    Suite(
        "runtime",
        "Runtime benchmarks",
        "The runtime beside a plain loop, `concurrent.futures` and Xronos.\n",
        (
            "star",
            "ping_pong",
            "stages",
            "timer_storm",
            "cartpole_star",
            "busy_star",
            "lookahead",
            "many_reactors",
        ),
    ),
    Suite(
        "lf",
        "LF front end benchmarks",
        "How fast `.lf` programs start, are compiled, and run.\n",
        ("lf_start", "lf_compile", "lf_ping_pong"),
    ),
    Suite(
        "vector",
        "Vector environment benchmarks",
        "`reactorl.rl.VectorEnv` beside Gymnasium's vector environments, with "
        "environments in Python and in native code.\n",
        ("vector", "native"),
    ),
    Suite(
        "training",
        "Training benchmarks",
        "Training beside an ordinary JAX loop, synchronous and pipelined, with threads "
        "and with processes.\n",
        ("training", "small_training", "match", "train_placement"),
    ),
    Suite(
        "cluster",
        "Cluster benchmarks",
        "Trainings over several processes beside RLlib, on one machine.\n",
        ("cluster_train", "cluster_sleep"),
    ),
    Suite(
        "atari",
        "Atari: time of a step by part",
        "Where the time of a step of an Atari environment goes.\n",
        ("atari_parts",),
        docs="atari.md",
    ),
)

SUITES: dict[str, Suite] = {suite.name: suite for suite in _ALL}
