# SPDX-License-Identifier: Apache-2.0
"""Encrypted links: pinned certificates, and hosts in between that are refused."""

from __future__ import annotations

import copy
import pickle

import pytest

from reactorl._federation.certificate import Certificate
from reactorl._federation.handshake import (
    HELLO,
    Connection,
)
from reactorl._federation.link_errors import HandshakeError, LinkError, Refusal
from tests.federation.pairs import (
    caught,
)
from tests.federation.relays import VERDICT_BYTES, Interceptor, Proxy, refused


def tls(**changes: object) -> dict[str, object]:
    return {
        "first": {"certificate": Certificate()},
        "second": {"certificate": Certificate()},
        **changes,
    }


def test_encrypted_relay_that_changes_nothing_sees_ciphertext_only() -> None:
    proxy = Proxy()
    first, second = proxy.run(**tls())
    assert isinstance(first, Connection)
    assert isinstance(second, Connection)


@pytest.mark.parametrize("announce", [True, False])
def test_man_in_the_middle_who_relays_the_handshake_is_refused(
    *, announce: bool
) -> None:
    """With its own certificate, or with those of the peers but without their keys."""
    interceptor = Interceptor(announce=announce)
    first, second = interceptor.run()

    for error in (first, second):
        assert caught(HandshakeError, error).reason in (
            Refusal.CERTIFICATE,
            Refusal.CLOSED,
        )
    assert Refusal.CERTIFICATE in (first.reason, second.reason)  # type: ignore[attr-defined]
    assert not any(interceptor.read)


def test_absurd_size_of_a_certificate_is_refused() -> None:
    position = HELLO.size + VERDICT_BYTES

    def change(side: int, start: int, data: bytes) -> bytes:
        at = position - start
        if side != 1 or not 0 <= at < len(data):
            return data
        return data[:at] + b"\xff\xff" + data[at + 2 :]

    first, second = Proxy(change).run(**tls())

    refused(first, Refusal.CERTIFICATE, by_peer=False)
    assert isinstance(second, HandshakeError)


def test_certificates_differ_and_keep_their_keys() -> None:
    first, second = Certificate(), Certificate()

    assert first.fingerprint != second.fingerprint
    assert len(first.der) < 1000
    assert "PRIVATE" not in repr(first)
    for function in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="cannot be copied or pickled"):
            function(first)


def test_link_errors_have_the_grammar_of_errors() -> None:
    error = LinkError("x failed: y", "Do z.", peer="federate 1")

    assert str(error) == "x failed: y. Do z."
    assert pickle.loads(pickle.dumps(error)).peer == "federate 1"
