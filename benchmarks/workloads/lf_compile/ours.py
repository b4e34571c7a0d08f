# SPDX-License-Identifier: Apache-2.0
"""Compiles a generated program again and again."""

from __future__ import annotations

import gc
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.workloads.lf_compile.generated import program
from reactorl.lf import LoadedProgram, Report, resolve

if TYPE_CHECKING:
    from benchmarks.harness.engine import Engine


def compile_file(path: Path) -> int:
    """Return the number of reactions of a program, from its file."""
    report = Report()
    linked = resolve(path, report)
    assert linked is not None
    assert linked.main is not None
    loaded = LoadedProgram.of(linked, [linked.main])
    made = loaded.program(report)
    assert made is not None, report.in_order()[0].render()
    assert not report.diagnostics
    sys.modules.pop(loaded.namespace["__name__"])
    return len(made.reactions)


def run(params: dict[str, Any], watch: Any, engine: Engine) -> None:  # noqa: ANN401
    """Compile until the watch has enough slices."""
    del engine
    turn = watch.turn

    def collect_first(ended: object) -> bool:
        gc.collect()  # between slices, so that none pays for another's garbage
        return bool(turn(ended))

    watch.turn = collect_first
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / f"generated_{params['lines']}.lf"
        path.write_text(program(params["lines"]), encoding="utf-8")
        while watch.tick(compile_file(path)):
            pass
