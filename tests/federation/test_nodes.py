# SPDX-License-Identifier: Apache-2.0
"""What is measured between machines: links, clocks, open ports."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import suppress

import pytest

from reactorl._federation.link_errors import HandshakeError, LinkError
from reactorl._federation.nodes import link_probe
from reactorl._federation.nodes.link_probe import LinkProbe, measure_link
from reactorl._federation.nodes.ports import RAY_PORTS, open_ports
from reactorl._federation.secret import RunSecret

SECRET = RunSecret.generate()


@pytest.mark.parametrize("links", ["plain", "encrypted", "default"])
def test_a_link_is_measured(links: str) -> None:
    encrypt = {"plain": False, "encrypted": True}.get(links)
    with LinkProbe("127.0.0.1", SECRET, encrypt=encrypt) as probe:
        found = measure_link(probe.address, SECRET, encrypt=encrypt)
        again = measure_link(probe.address, SECRET, encrypt=encrypt)

    assert found.encrypted is again.encrypted is bool(encrypt)
    assert 0 < found.latency < 30
    assert 1e3 < found.bandwidth < 1e13
    assert abs(found.clock_offset) < 30


def test_the_offset_of_another_clock_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: real() + 3_600 * 10**9)
    with LinkProbe("127.0.0.1", SECRET) as probe:
        found = measure_link(probe.address, SECRET)

    assert 3_600 - 30 < found.clock_offset < 3_600 + 30


def test_the_latency_is_that_of_the_wire(monkeypatch: pytest.MonkeyPatch) -> None:
    send = link_probe._send

    def slow(wire: object, *pieces: bytes) -> None:
        time.sleep(0.02)
        send(wire, *pieces)  # type: ignore[arg-type]

    monkeypatch.setattr(link_probe, "_send", slow)
    with LinkProbe("127.0.0.1", SECRET) as probe:
        assert measure_link(probe.address, SECRET).latency >= 0.04


def test_strangers_cannot_use_a_probe() -> None:
    with LinkProbe("127.0.0.1", SECRET) as probe:
        with pytest.raises(HandshakeError, match="secrets"):
            measure_link(probe.address, RunSecret.generate())
        host, _, port = probe.address.partition(":")
        where = (host, int(port))
        # It may be closed at once.
        with socket.create_connection(where) as stranger, suppress(ConnectionError):
            stranger.sendall(b"GET / HTTP/1.1\r\n\r\n" * 20)
            assert stranger.recv(100)[:2] != b"HT"
        assert measure_link(probe.address, SECRET).latency > 0


def test_a_probe_that_is_closed_does_not_answer() -> None:
    probe = LinkProbe("127.0.0.1", SECRET)
    address = probe.address
    probe.close()

    with pytest.raises(LinkError, match="failed"):
        measure_link(address, SECRET)
    names = [thread.name for thread in threading.enumerate()]
    assert not any(name.startswith("listener") for name in names)


def test_open_ports_are_found() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        found = open_ports("127.0.0.1", {"one": port, "none": 1}, seconds=20)
        assert found == {"one": port}
        # Bound to one address only: it is closed at another.
        assert open_ports("127.0.0.2", {"one": port}, seconds=20) == {}
    assert open_ports("127.0.0.1", {"one": port}, seconds=20) == {}
    assert sorted(RAY_PORTS.values()) == [6379, 8265, 10_001]
