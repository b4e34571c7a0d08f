# SPDX-License-Identifier: Apache-2.0
"""The certificate of a federate, made for one run, and TLS 1.3 between two of them.

The standard library can use keys, but cannot make them, so encrypted links need
``cryptography`` (extra ``federation``). Pre-shared keys would need nothing, but Python
3.11 and 3.12 cannot use them, and federates of different Pythons must understand each
other.

No authority signs these certificates. A federate learns the SHA-256 of its peer's one
in the handshake, authenticated by the run's secret, and TLS accepts this one only.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import ssl
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn

if TYPE_CHECKING:
    import socket

CERTIFICATE_BYTES: Final = 4096
"""Ours have some 350; a longer one is refused before it is received."""


class Certificate:
    """A self-signed certificate and its private key. Each run and life has its own."""

    __slots__ = ("_password", "_private", "der")

    def __init__(self) -> None:
        """Generate a key.

        Raises:
            ImportError: ``cryptography`` is missing; the message has the pip command.
        """
        self._password = secrets.token_bytes(32)
        self.der, self._private = _generate(self._password)

    @property
    def fingerprint(self) -> bytes:
        """SHA-256 of the certificate."""
        return hashlib.sha256(self.der).digest()

    def wrap(
        self, sock: socket.socket, peer: bytes, *, is_server: bool
    ) -> ssl.SSLSocket:
        """Encrypt a connection to the owner of one certificate; handshake comes later.

        Args:
            sock: The connection; its new owner is the result.
            peer: The only certificate (DER) that is accepted.
            is_server: Whether this end accepted the connection.
        """
        protocol = ssl.PROTOCOL_TLS_SERVER if is_server else ssl.PROTOCOL_TLS_CLIENT
        context = ssl.SSLContext(protocol)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.check_hostname = False  # the certificate itself is known
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(cadata=peer)
        if is_server:
            context.num_tickets = 0  # connections are never resumed
        self._load_into(context)
        return context.wrap_socket(
            sock, server_side=is_server, do_handshake_on_connect=False
        )

    def _load_into(self, context: ssl.SSLContext) -> None:
        # ssl reads keys from files only. This one is encrypted, private, and soon gone.
        fd, name = tempfile.mkstemp(prefix="reactorl-")
        try:
            with os.fdopen(fd, "wb") as file:
                file.write(self._private)
            context.load_cert_chain(name, password=lambda: self._password)
        finally:
            Path(name).unlink()

    def __repr__(self) -> str:
        return f"Certificate({self.fingerprint.hex()[:16]})"

    def __reduce__(self) -> NoReturn:
        msg = "a Certificate has a private key, so it cannot be copied or pickled"
        raise TypeError(msg)


def is_pinned(der: bytes | None, fingerprint: bytes) -> bool:
    """Return whether a certificate is the one with this SHA-256."""
    found = hashlib.sha256(der or b"").digest()
    return der is not None and hmac.compare_digest(found, fingerprint)


def _generate(password: bytes) -> tuple[bytes, bytes]:
    """Return a certificate (DER), and it with its encrypted key (PEM)."""
    try:
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes, serialization
        from cryptography.hazmat.primitives.asymmetric import ec
        from cryptography.x509.oid import NameOID
    except ModuleNotFoundError as error:
        msg = (
            "encrypted links need cryptography: pip install 'reactorl[federation]'. "
            "Or use --no-encryption, on a network that you trust"
        )
        raise ImportError(msg, name=error.name) from error
    from datetime import UTC, datetime

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "reactorl federate")])
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key())
        .serial_number(x509.random_serial_number())
        # Lives as long as its run. Clocks of hosts may differ, so dates say nothing.
        .not_valid_before(datetime(2000, 1, 1, tzinfo=UTC))
        .not_valid_after(datetime(9999, 12, 31, tzinfo=UTC))
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(password),
    )
    encoding = serialization.Encoding
    pem = certificate.public_bytes(encoding.PEM)
    return certificate.public_bytes(encoding.DER), private + pem
