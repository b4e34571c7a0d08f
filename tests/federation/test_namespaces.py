# SPDX-License-Identifier: Apache-2.0
"""Two hosts, made of network namespaces: a wire that is cut, for long and for short."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from reactorl import FederationError
from reactorl._federation.certificate import Certificate
from reactorl._federation.endpoint import Address
from reactorl._federation.handshake import Purpose
from reactorl._federation.launch.job import source_of
from reactorl._federation.launch.joining import Gather, run_joining
from reactorl._federation.link_errors import PeerLostError
from reactorl._federation.watch import IDLE_SECONDS, INTERVAL_SECONDS, PROBES, Watch
from reactorl._program.placement import Federation
from tests.federation.networked import ALL
from tests.federation.pairs import HANG, caught, put
from tests.federation.test_processes import Parent

if TYPE_CHECKING:
    from collections.abc import Iterator

NAME = f"rl{os.getpid() % 100_000}"
ROOT = Path(__file__).parents[2]
HERE, THERE = "10.213.77.1", "10.213.77.2"


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, timeout=HANG)


@pytest.fixture(scope="module")
def hosts() -> Iterator[None]:
    """Make another host, with a wire to this one."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        pytest.skip("network namespaces need root and the command ip")
    try:
        ip("netns", "add", NAME)
    except subprocess.CalledProcessError as error:
        pytest.skip(f"no network namespaces here: {error.stderr.decode().strip()}")
    try:
        try:
            ip("link", "add", f"{NAME}a", "type", "veth", "peer", f"{NAME}b")
        except subprocess.CalledProcessError as error:
            pytest.skip(f"no virtual wires here: {error.stderr.decode().strip()}")
        ip("link", "set", f"{NAME}b", "netns", NAME)
        ip("addr", "add", f"{HERE}/24", "dev", f"{NAME}a")
        ip("link", "set", f"{NAME}a", "up")
        ip("-n", NAME, "addr", "add", f"{THERE}/24", "dev", f"{NAME}b")
        ip("-n", NAME, "link", "set", f"{NAME}b", "up")
        ip("-n", NAME, "link", "set", "lo", "up")
        yield
    finally:
        subprocess.run(
            ["ip", "link", "del", f"{NAME}a"], check=False, capture_output=True
        )
        ip("netns", "del", NAME)


def cut() -> None:
    """Cut the wire. This end stays up, so that only packets are lost."""
    ip("-n", NAME, "link", "set", f"{NAME}b", "down")


def join() -> None:
    ip("-n", NAME, "link", "set", f"{NAME}b", "up")


@pytest.fixture
def parent(hosts: None) -> Iterator[tuple[Parent, Watch]]:
    """Return federate 0 here, linked to federate 1 on the other host."""
    join()
    made = Parent(Address.parse(f"{HERE}:0"), Certificate())
    prefix = ("ip", "netns", "exec", NAME)
    made.start(encrypt=True, prefix=prefix)
    connections = [made.connection(), made.connection()]
    by_purpose = {each.purpose: each for each in connections}
    made.end.link.attach(by_purpose[Purpose.FRAMES])
    watch = Watch(by_purpose[Purpose.WATCH], "federate 1", made.end.link.lose)
    try:
        yield made, watch
    finally:
        join()
        watch.close()
        made.close()


def test_watch_is_quick_enough_and_patient_enough() -> None:
    assert IDLE_SECONDS + INTERVAL_SECONDS * PROBES < 10
    assert INTERVAL_SECONDS * PROBES > 5


@pytest.mark.parametrize("state", ["idle", "sending"])
def test_cut_wire_is_noticed_within_10_seconds_and_named(
    parent: tuple[Parent, Watch], state: str
) -> None:
    federate, _ = parent
    assert federate.echo("x") == "x"
    cut()
    began = time.monotonic()
    if state == "sending":
        put(federate.end.link, np.zeros(1 << 23, np.uint8), target=1)
        federate.end.link.flush()

    error = caught(PeerLostError, federate.end.end())
    took = time.monotonic() - began
    assert error.wire
    assert error.peer == "federate 1"
    assert re.search("federate 1 was lost: (Connection timed out|No route)", str(error))
    # Timers of the kernel: about 9 s. A busy machine may take longer to notice.
    assert INTERVAL_SECONDS * PROBES - 1 < took < 60


def test_cut_of_5_seconds_is_no_failure(parent: tuple[Parent, Watch]) -> None:
    federate, _ = parent
    block = np.arange(1 << 20)
    assert federate.echo("x") == "x"
    cut()
    for _ in range(4):
        put(federate.end.link, block, target=1)
    federate.end.link.flush()
    threading.Event().wait(5)  # the subject: the kernel's time, not the machine's
    assert federate.end.link.is_connected
    join()

    for item in federate.end.take(4):
        assert np.array_equal(item.value, block)
    assert federate.end.ends.empty()


# -- a whole federation ----------------------------------------------------------------

JOIN = """
import sys
sys.path.insert(0, {root!r})
from reactorl import join_federation
sys.exit(join_federation({address!r}, {token!r}, name={name!r}))
"""


def test_cut_wire_ends_a_federation_and_names_the_federate(
    hosts: None, tmp_path: Path
) -> None:
    join()
    case = ALL["endless"]
    program, cut_in_parts, options = case.parts()
    token = tmp_path / "token"
    processes: list[subprocess.Popen[str]] = []
    both = threading.Event()

    def start(address: str, names: tuple[str, ...]) -> None:
        for prefix, name in zip(
            ((), ("ip", "netns", "exec", NAME)), names, strict=True
        ):
            code = JOIN.format(
                root=str(ROOT), address=address, token=str(token), name=name
            )
            command = [*prefix, sys.executable, "-c", code]
            processes.append(
                subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
            )

    def joined(_name: str, _host: str) -> None:
        if len(processes) == 2:
            both.set()

    def cut_later() -> None:
        both.wait(HANG)
        time.sleep(3)  # nothing depends on it: the run is endless
        cut()

    threading.Thread(target=cut_later, daemon=True).start()
    try:
        with pytest.raises(FederationError) as lost:
            run_joining(
                source_of(case.main),
                program,
                Federation(case.placement),
                cut_in_parts,
                options,
                Gather(f"{HERE}:0", token, None, start, joined),
            )
    finally:
        join()
        for process in processes:
            process.kill()
            process.communicate()

    assert "federate b" in str(lost.value)
    assert "was lost" in str(lost.value)
