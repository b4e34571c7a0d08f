# SPDX-License-Identifier: Apache-2.0
"""The process of an engine: runs cases of workloads, one after another.

It is started with a request (see ``main``) and answers with lines of JSON. A process
that measures says ``up``. Each further line that it reads asks for a case: it prepares
the case, runs the compared rounds and says ``ready``. For every line ``go`` it runs a
slice and answers with its times; at ``stop`` it answers with the rest and waits for the
next case. At an empty line it cleans up and ends.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from contextlib import ExitStack
from importlib import import_module
from importlib.util import find_spec
from typing import IO, TYPE_CHECKING, Any

from benchmarks.engines import engine_named
from benchmarks.harness.facts import gil_is_on, interpreter_facts
from benchmarks.harness.spin import spin, turns_per_us
from benchmarks.harness.watch import make_watch
from benchmarks.harness.workload import Pace
from benchmarks.workloads import load

if TYPE_CHECKING:
    from benchmarks.harness.engine import Engine
    from benchmarks.harness.watch import Slice

closing = ExitStack()
"""What an implementation keeps for the next case; closed at the end."""
PROBE_TURNS = 10_000


class Connection:
    """The connection to the parent: lines in, lines of JSON out.

    Engines and their own processes may print and read: they get other streams.
    """

    def __init__(self) -> None:
        self._in: IO[str] = os.fdopen(os.dup(0), "r")
        self._out: IO[str] = os.fdopen(os.dup(1), "w")
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)

    def send(self, answer: object) -> None:
        """Write an answer as one line."""
        self._out.write(json.dumps(answer) + "\n")
        self._out.flush()

    def receive(self) -> str:
        """Return the next line; empty at the end."""
        return self._in.readline().strip()


def measure(engine: Engine, request: dict[str, Any], line: Connection) -> object:
    """Run a case, a slice at each turn; return the rest of the measurement."""
    workload = load(request["workload"])
    params: dict[str, Any] = request["params"]
    units = workload.units(params)

    def turn(ended: Slice | None) -> bool:
        if ended is None:
            line.send("ready")
        else:
            per = ended.rounds * units
            line.send({"seconds": ended.wall / per, "cpu": ended.cpu / per})
        return line.receive() == "go"

    watch = make_watch(Pace(**request["pace"]), turn)
    module, function = workload.implementation(engine.name)
    run = getattr(import_module(f"benchmarks.workloads.{module}"), function)
    more = run(params, watch, engine) or {}
    gc.collect()
    return {
        "unit": workload.unit,
        "digest": watch.digest,
        "gil": gil_is_on(),
        "more": more,
    }


def probe(core: int, line: Connection) -> None:
    """Time a piece of work on one core that should always take equally long."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {core})
    line.send("ready")
    while line.receive() == "go":
        began = time.perf_counter()
        spin(PROBE_TURNS, core)
        line.send(time.perf_counter() - began)


def main(request: dict[str, Any]) -> None:
    """Serve a request."""
    # Engines are compared by their parallelism: a matrix product has one thread.
    os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
    line = Connection()
    match request["what"]:
        case "facts":
            line.send(interpreter_facts())
        case "lacking":
            line.send([name for name in request["modules"] if find_spec(name) is None])
        case "turns_per_us":
            line.send(turns_per_us())
        case "probe":
            probe(request["core"], line)
        case "measure":
            engine = engine_named(request["engine"])
            os.environ.update(engine.environ)  # read when it is imported
            with closing:
                line.send("up")
                while case := line.receive():
                    line.send(measure(engine, json.loads(case), line))
            line.send("ended")


if __name__ == "__main__":
    # The module that implementations import must be this one, not a second copy.
    sys.modules["benchmarks.harness.child"] = sys.modules["__main__"]
    main(json.loads(sys.argv[1]))
