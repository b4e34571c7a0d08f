# SPDX-License-Identifier: Apache-2.0
"""How tests run one and the same thing by the oracle and by the runtime."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reactorl import run
from reactorl._runtime.recording import Recording
from tests.oracle import interpret

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reactorl import Program, Reactor, Tag
    from reactorl.testing.generated import GeneratedProgram
    from reactorl.trace import Trace


def run_traced(
    main: type[Reactor] | Program,
    *,
    workers: int,
    shuffle: int = 0,
    physical_events: Iterable[tuple[Tag, str, object]] = (),
    missed_deadlines: Iterable[tuple[Tag, str]] = (),
    **options: Any,  # noqa: ANN401 - options of run()
) -> Trace:
    """Run by the runtime, in virtual time, with the oracle's options."""
    if physical_events or missed_deadlines:
        options["replay"] = Recording(
            events=list(physical_events), missed=list(missed_deadlines)
        )
    result = run(
        main, workers=workers, fast=True, trace=True, shuffle=shuffle, **options
    )
    return result.trace


def by_oracle(generated: GeneratedProgram, choice_seed: int = 0) -> Trace:
    return interpret(
        generated.program,
        choice_seed=choice_seed,
        timeout=generated.timeout,
        seed=generated.seed,
        physical_events=generated.physical_events,
    )


def by_runtime(generated: GeneratedProgram, *, workers: int, shuffle: int = 0) -> Trace:
    return run_traced(
        generated.program,
        workers=workers,
        shuffle=shuffle,
        timeout=generated.timeout,
        seed=generated.seed,
        physical_events=generated.physical_events,
    )
