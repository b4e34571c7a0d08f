# SPDX-License-Identifier: Apache-2.0
"""Federations over three hosts: partitions, and a wire that delays and loses."""

from __future__ import annotations

import json
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from reactorl import run
from tests.federation.hosts import Hosts, SlowWire
from tests.federation.networked import SLOW_CASE
from tests.federation.pairs import HANG

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
HEAD = """
import json, sys
from pathlib import Path
sys.path.insert(0, {root!r})
from reactorl import Federation, FederationError
from reactorl._federation.launch.job import source_of
from reactorl._federation.launch.joining import Gather, run_joining
from tests.federation.networked import SLOW_CASE
program, cut, options = SLOW_CASE.parts()
def waiting(address, names):
    print(json.dumps([address, names]), flush=True)
gather = Gather({address!r} + ":0", Path({token!r}), None, waiting, lambda *_: None)
try:
    result, _ = run_joining(
        source_of(SLOW_CASE.main), program, Federation(SLOW_CASE.placement), cut,
        options, gather,
    )
    print(json.dumps(result.digest))
except FederationError as error:
    print(json.dumps("failed: " + str(error)))
"""
JOIN = """
import sys
sys.path.insert(0, {root!r})
from reactorl import join_federation
sys.exit(join_federation({address!r}, {token!r}, name={name!r}))
"""


class Spread:
    """A federation with its coordinator and a federate on host 0, others elsewhere."""

    def __init__(self, hosts: Hosts, token: Path) -> None:
        code = HEAD.format(root=str(ROOT), address=hosts.addresses[0], token=str(token))
        self.head = hosts.run(0, [sys.executable, "-c", code])
        self.federates: list[subprocess.Popen[str]] = []
        assert self.head.stdout is not None
        address, names = json.loads(self.head.stdout.readline())
        count = len(hosts.names)
        for number, name in enumerate(names):
            code = JOIN.format(
                root=str(ROOT), address=address, token=str(token), name=name
            )
            command = [sys.executable, "-c", code]
            self.federates.append(hosts.run(number % count, command))

    def result(self) -> Any:
        out, err = self.head.communicate(timeout=HANG * 3)
        assert out, err
        return json.loads(out)

    def close(self) -> None:
        for process in (self.head, *self.federates):
            process.kill()
            process.communicate()


@pytest.fixture
def spread(tmp_path: Path) -> Iterator[Callable[[Hosts], Spread]]:
    made: list[Spread] = []

    def make(hosts: Hosts) -> Spread:
        made.append(Spread(hosts, tmp_path / "token"))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.fixture
def hosts(request: pytest.FixtureRequest) -> Iterator[Hosts]:
    made = Hosts(request.param)
    made.make()
    try:
        yield made
    finally:
        made.close()


def expected() -> str:
    options: dict[str, Any] = {"seed": 5, "fast": True, "trace": True}
    return run(SLOW_CASE.main, **options, **SLOW_CASE.options).digest


@pytest.mark.parametrize("hosts", [3], indirect=True)
@pytest.mark.parametrize("victim", [0, 1, 2])
def test_partition_of_5_seconds_changes_nothing(
    victim: int, hosts: Hosts, spread: Any
) -> None:
    hosts.join()
    run = spread(hosts)
    threading.Event().wait(8)  # nothing depends on it: any moment must be fine
    hosts.cut(victim)
    threading.Event().wait(5)  # the subject
    hosts.mend(victim)

    assert run.result() == expected()


@pytest.mark.parametrize("hosts", [3], indirect=True)
@pytest.mark.parametrize("victim", [0, 1, 2])
def test_partition_of_60_seconds_ends_the_run_and_names_the_link(
    victim: int, hosts: Hosts, spread: Any
) -> None:
    hosts.join()
    run = spread(hosts)
    threading.Event().wait(8)
    hosts.cut(victim)
    began = time.monotonic()
    try:
        result = run.result()
    finally:
        took = time.monotonic() - began
        threading.Event().wait(max(0, 60 - took))
        hosts.mend(victim)

    assert result.startswith("failed: ")
    assert "was lost: " in result
    assert any(f"federate {name}" in result for name in ("head", "b", "c"))
    assert 5 < took < 60  # by the kernels' timers about 9 s, on an idle machine
    for process in run.federates:  # those on the other side know as well
        assert process.wait(HANG) in (1, 3)


@pytest.mark.parametrize("hosts", [2], indirect=True)
def test_wire_that_delays_and_loses_changes_nothing(hosts: Hosts, spread: Any) -> None:
    wire = SlowWire(hosts, delay=0.01, loss=3)
    try:
        run = spread(hosts)

        assert run.result() == expected()
        assert wire.lost > 10
    finally:
        wire.close()
