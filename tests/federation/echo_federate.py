# SPDX-License-Identifier: Apache-2.0
"""Federate 1 of the tests: sends back what it gets, and connects again if cut."""

from __future__ import annotations

import queue
import sys
from typing import Any

from reactorl._federation.certificate import Certificate
from reactorl._federation.codec import encode
from reactorl._federation.endpoint import Address, connect
from reactorl._federation.handshake import Admission, Identity, Purpose
from reactorl._federation.link import Link
from reactorl._federation.messages import Message
from reactorl._federation.secret import RunSecret
from reactorl._federation.watch import Watch

DIGEST = bytes(range(32))


def main() -> None:
    address = Address.parse(sys.argv[1])
    secret = RunSecret.receive(int(sys.argv[2]))
    certificate = Certificate() if sys.argv[3] == "encrypt" else None
    identity = Identity(1, 1, DIGEST, secret, certificate, 60.0)
    events: queue.SimpleQueue[Any] = queue.SimpleQueue()
    link = Link(
        "federate 0",
        lambda batch: [events.put(each) for each in batch],
        lambda error: events.put(error or "over"),
    )

    def attach() -> None:
        admission = Admission(received=link.received)
        link.attach(connect(address, identity, 0, admission))

    attach()
    if "watch" in sys.argv:
        connection = connect(address, identity, 0, Admission(), purpose=Purpose.WATCH)
        Watch(connection, "federate 0", link.lose)
    while True:
        event = events.get()
        if event == "over":
            return
        if isinstance(event, Exception):
            print("lost", event, flush=True)
            if "watch" in sys.argv:
                return
            attach()
        elif isinstance(event, Message):
            if isinstance(event.value, str) and event.value == "end":
                link.close()
                return
            link.put_value(event._replace(value=encode(event.value), number=0))
            link.flush()


main()
