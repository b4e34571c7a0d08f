# SPDX-License-Identifier: Apache-2.0
"""Assertions about traces: equality, and determinism."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reactorl.trace import Trace, diff, parse, text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reactorl import Program, Reactor, Result

_CHILD = """\
import json, sys
from reactorl.testing.compare import trace_text
main, options = json.loads(sys.stdin.read())
sys.stdout.buffer.write(trace_text(main, **options).encode())
"""


def assert_same_trace(actual: Trace, expected: Trace) -> None:
    """Assert that two traces are equal; the message says where they diverge.

    Raises:
        AssertionError: They differ. ``A`` is the actual run, ``B`` the expected one.
    """
    found = diff(actual, expected)
    if found is not None:
        around = "\n".join(
            f"{name}: {_at(trace, found.tag)}"
            for name, trace in (("A", actual), ("B", expected))
        )
        msg = f"{found}\n{around}"
        raise AssertionError(msg)


def assert_deterministic(
    main: type[Reactor] | Reactor | Program | str,
    *,
    workers: Sequence[int] = (1, 2, 4, 8),
    shuffle_seeds: Sequence[int] = (0, 1, 2),
    hash_seeds: Sequence[int] = (),
    **options: Any,  # noqa: ANN401 - options of run()
) -> Result:
    """Assert that a program gives the same trace however it is run; return one result.

    It runs, as fast as possible, with each number of workers and each shuffle seed.
    The program must end by itself or by ``timeout``.

    Args:
        main: What to run. For ``hash_seeds`` write it as ``"module:Class"``, so that
            another process can find it.
        workers: Numbers of workers to try.
        shuffle_seeds: Orders of ready reactions to try.
        hash_seeds: Values of ``PYTHONHASHSEED`` to try, each in a process of its own.
        options: Other options of ``run()``.

    Raises:
        AssertionError: Two runs differ; names the settings, the first tag, reaction
            and port.
        ValueError: There are hash seeds, but ``main`` is not a name.
    """
    from reactorl import run

    if hash_seeds and not isinstance(main, str):
        msg = 'hash seeds need other processes: give main as "module:Class"'
        raise ValueError(msg)
    subject = find(main) if isinstance(main, str) else main
    fixed = {"fast": True, "trace": True, **options}
    first: Result | None = None
    first_settings = ""
    for count in workers:
        for seed in shuffle_seeds:
            result = run(subject, workers=count, shuffle=seed, **fixed)
            settings = f"workers={count}, shuffle={seed}"
            if first is None:
                first, first_settings = result, settings
            else:
                _compare(result.trace, settings, first.trace, first_settings)
    if first is None:
        msg = "workers and shuffle_seeds must not be empty"
        raise ValueError(msg)
    for seed in hash_seeds:
        trace = parse(_elsewhere(str(main), seed, {"workers": workers[0], **fixed}))
        settings = f"PYTHONHASHSEED={seed}"
        _compare(trace, settings, first.trace, first_settings)
    return first


def find(name: str) -> type[Reactor]:
    """Return the reactor class that ``"module:Class"`` names.

    Raises:
        ValueError: It is not of that form.
    """
    module, colon, attribute = name.partition(":")
    if not colon:
        msg = f'the name of a program must be "module:Class", got {name!r}'
        raise ValueError(msg)
    found: Any = import_module(module)
    for part in attribute.split("."):
        found = getattr(found, part)
    cls: type[Reactor] = found
    return cls


def trace_text(main: str, **options: Any) -> str:  # noqa: ANN401 - options of run()
    """Run the program named ``"module:Class"`` and return the text of its trace."""
    from reactorl import run

    return text(run(find(main), **options).trace)


def _elsewhere(main: str, hash_seed: int, options: dict[str, object]) -> str:
    """Return the text of the trace of a run in another process."""
    path = os.pathsep.join(entry or str(Path.cwd()) for entry in sys.path)
    done = subprocess.run(
        [sys.executable, "-c", _CHILD],
        input=json.dumps([main, options]).encode(),
        env={**os.environ, "PYTHONHASHSEED": str(hash_seed), "PYTHONPATH": path},
        capture_output=True,
        check=False,
    )
    if done.returncode != 0:
        msg = f"PYTHONHASHSEED={hash_seed} {main}:\n{done.stderr.decode()}"
        raise RuntimeError(msg)
    return done.stdout.decode()


def _compare(
    actual: Trace, settings: str, expected: Trace, expected_settings: str
) -> None:
    try:
        assert_same_trace(actual, expected)
    except AssertionError as error:
        msg = f"A is {settings}; B is {expected_settings}: {error}"
        raise AssertionError(msg) from None


def _at(trace: Trace, tag: tuple[int, int]) -> str:
    """Return the text of one tag."""
    records = [record for record in trace if record.tag == tag]
    return text(records).rstrip("\n") if records else "nothing at that tag"
