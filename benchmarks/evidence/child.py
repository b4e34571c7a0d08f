# SPDX-License-Identifier: Apache-2.0
"""What a process of an engine does: cases of a workload, one after another.

It is started with the name of an engine and says that it is up. Each line that it
then reads asks for a case; it prepares it, does the compared rounds, and says that it
is ready. For every line ``go`` it does a slice and says what that took; at ``stop`` it
says the rest, and waits for the next case. When there is none, it cleans up and ends.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from contextlib import ExitStack
from typing import IO, TYPE_CHECKING, Any

from benchmarks.evidence.engines import ENGINES
from benchmarks.evidence.watches import make_watch
from benchmarks.evidence.workload import Pace
from benchmarks.evidence.workloads import implementation, load
from benchmarks.runtime.facts import gil_is_on, interpreter_facts

if TYPE_CHECKING:
    from benchmarks.evidence.engines import Engine
    from benchmarks.runtime.watch import Slice

closing = ExitStack()
"""What an implementation leaves for the next case; closed at the end."""


class Line:
    """The way to who measures: lines in, lines of JSON out.

    Engines and their own processes print, and some read: they get other streams.
    """

    def __init__(self) -> None:
        self._in: IO[str] = os.fdopen(os.dup(0), "r")
        self._out: IO[str] = os.fdopen(os.dup(1), "w")
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)

    def say(self, answer: object) -> None:
        """Write an answer as one line."""
        self._out.write(json.dumps(answer) + "\n")
        self._out.flush()

    def hear(self) -> str:
        """Return the next line; empty if there is none."""
        return self._in.readline().strip()


def measure(engine: Engine, request: dict[str, Any], line: Line) -> object:
    """Run a case, a slice at each turn; returns what is known in the end."""
    workload = load(request["workload"])
    pace = Pace(**request["pace"])
    params: dict[str, Any] = request["params"]
    units = workload.units(params)

    def turn(ended: Slice | None) -> bool:
        if ended is None:
            line.say("ready")
        else:
            per = ended.rounds * units
            line.say({"seconds": ended.wall / per, "cpu": ended.cpu / per})
        return line.hear() == "go"

    watch = make_watch(pace, turn)
    more = implementation(workload, engine.name).run(params, watch, engine) or {}
    gc.collect()
    return {
        "unit": workload.unit,
        "digest": watch.digest,
        "gil": gil_is_on(),
        "more": more,
    }


def main(request: dict[str, Any]) -> None:
    """Do what is asked for."""
    # Parallelism is what engines are compared by: a matrix product has one thread.
    os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
    line = Line()
    if request["what"] == "facts":
        line.say(interpreter_facts() | {"packages": packages()})
        return
    engine = ENGINES[request["engine"]]
    os.environ.update(engine.environ)  # read when it is imported
    with closing:
        line.say("up")
        while asked := line.hear():
            line.say(measure(engine, json.loads(asked), line))
    line.say("ended")


def packages() -> dict[str, str]:
    """Return all packages of this environment and their versions."""
    from importlib.metadata import distributions

    found = {d.name.lower(): d.version for d in distributions()}
    return dict(sorted(found.items()))


if __name__ == "__main__":
    # The module that implementations import must be this one, not a second copy.
    sys.modules["benchmarks.evidence.child"] = sys.modules["__main__"]
    main(json.loads(sys.argv[1]))
