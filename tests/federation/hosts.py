# SPDX-License-Identifier: Apache-2.0
"""Several hosts on this machine: network namespaces.

They are joined by a switch, or by a wire in user space that delays and loses packets:
the kernel may not have netem.
"""

from __future__ import annotations

import ctypes
import fcntl
import heapq
import itertools
import os
import select
import shutil
import struct
import subprocess
import threading
import time
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

from tests.federation.pairs import HANG

if TYPE_CHECKING:
    from collections.abc import Sequence

_NEW_NETWORK = 0x40000000  # CLONE_NEWNET
_TUNSETIFF = 0x400454CA
_TUN_WITHOUT_HEADER = 0x1001  # IFF_TUN | IFF_NO_PI
_RUNS = itertools.count()


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, timeout=HANG)


class Hosts:
    """Hosts with the addresses 10.213.78.1, .2 and so on, at one switch.

    Args:
        count: Their number.
    """

    def __init__(self, count: int) -> None:
        if os.geteuid() != 0 or shutil.which("ip") is None:
            pytest.skip("network namespaces need root and the command ip")
        self.name = f"rh{os.getpid() % 100_000}x{next(_RUNS)}"
        self.names = [f"{self.name}n{number}" for number in range(count)]
        self.addresses = [f"10.213.78.{number + 1}" for number in range(count)]
        self._made: list[tuple[str, ...]] = []

    def make(self) -> None:
        """Make the hosts. Skips the test where the system has none."""
        try:
            for name in self.names:
                ip("netns", "add", name)
                self._made.append(("netns", "del", name))
                ip("-n", name, "link", "set", "lo", "up")
        except subprocess.CalledProcessError as error:
            self.close()
            pytest.skip(f"no network namespaces here: {error.stderr.decode().strip()}")

    def join(self) -> None:
        """Connect all hosts to a switch."""
        try:
            switch = f"{self.name}s"
            ip("link", "add", switch, "type", "bridge")
            self._made.append(("link", "del", switch))
            ip("link", "set", switch, "up")
            for name, address in zip(self.names, self.addresses, strict=True):
                ip("link", "add", f"{name}a", "type", "veth", "peer", f"{name}b")
                self._made.append(("link", "del", f"{name}a"))
                ip("link", "set", f"{name}b", "netns", name)
                ip("link", "set", f"{name}a", "master", switch, "up")
                ip("-n", name, "addr", "add", f"{address}/24", "dev", f"{name}b")
                ip("-n", name, "link", "set", f"{name}b", "up")
        except subprocess.CalledProcessError as error:
            self.close()
            pytest.skip(f"no virtual wires here: {error.stderr.decode().strip()}")

    def cut(self, host: int) -> None:
        """Cut the wire of a host at the switch, so that only packets are lost."""
        ip("link", "set", f"{self.names[host]}a", "nomaster")

    def mend(self, host: int) -> None:
        """Put the wire back."""
        ip("link", "set", f"{self.names[host]}a", "master", f"{self.name}s")

    def run(self, host: int, command: Sequence[str]) -> subprocess.Popen[str]:
        """Start a program on a host."""
        return subprocess.Popen(
            ["ip", "netns", "exec", self.names[host], *command],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def close(self) -> None:
        for words in reversed(self._made):
            subprocess.run(["ip", *words], check=False, capture_output=True)
        self._made = []


class SlowWire:
    """A wire between two hosts that delays all packets and loses some.

    Args:
        hosts: Two hosts, without a switch.
        delay: Seconds in each direction.
        loss: How many packets of 100 are lost.
    """

    def __init__(self, hosts: Hosts, *, delay: float, loss: int, seed: int = 1) -> None:
        self._delay = delay
        self._loss = loss
        self._random = Random(seed)
        self.carried = self.lost = 0
        device = f"{hosts.name}t"
        self._ends = [_tun(name, device) for name in hosts.names]
        for number, name in enumerate(hosts.names):
            mine, other = hosts.addresses[number], hosts.addresses[1 - number]
            ip("-n", name, "addr", "add", mine, "peer", other, "dev", device)
            ip("-n", name, "link", "set", device, "up")
        self._stop, self._stopper = os.pipe()
        self._thread = threading.Thread(target=self._carry, daemon=True)
        self._thread.start()

    def close(self) -> None:
        os.close(self._stopper)
        self._thread.join(HANG)
        for end in (*self._ends, self._stop):
            os.close(end)

    def _carry(self) -> None:
        waiting: list[tuple[float, int, int, bytes]] = []  # in the order of arrival
        while True:
            left = None
            if waiting:
                left = max(waiting[0][0] - time.monotonic(), 0)
            ready, _, _ = select.select([*self._ends, self._stop], [], [], left)
            if self._stop in ready:
                return
            now = time.monotonic()
            for number, end in enumerate(self._ends):
                if end not in ready:
                    continue
                packet = os.read(end, 1 << 16)
                self.carried += 1
                if self._random.random() * 100 < self._loss:
                    self.lost += 1
                    continue
                place = (now + self._delay, self.carried, 1 - number, packet)
                heapq.heappush(waiting, place)
            while waiting and waiting[0][0] <= now:
                _, _, to, packet = heapq.heappop(waiting)
                os.write(self._ends[to], packet)


def _tun(host: str, device: str) -> int:
    """Return the end of a network device of a host, which is made."""
    found: list[int] = []
    problems: list[OSError] = []

    def make() -> None:  # in a thread of its own, which alone moves to the host
        libc = ctypes.CDLL(None, use_errno=True)
        try:
            with Path(f"/run/netns/{host}").open() as namespace:
                if libc.setns(namespace.fileno(), _NEW_NETWORK):
                    number = ctypes.get_errno()
                    raise OSError(number, os.strerror(number))
            end = os.open("/dev/net/tun", os.O_RDWR)
            request = struct.pack("16sH22x", device.encode(), _TUN_WITHOUT_HEADER)
            fcntl.ioctl(end, _TUNSETIFF, request)
            found.append(end)
        except OSError as error:
            problems.append(error)

    thread = threading.Thread(target=make)
    thread.start()
    thread.join()
    if problems:
        pytest.skip(f"no wires in user space here: {problems[0]}")
    return found[0]
