# SPDX-License-Identifier: Apache-2.0
"""Sends the run's secret through Ray, which may log, store or send it in clear.

The receiver makes a key pair for the purpose; the sender encrypts the secret so that
only the private key, which never leaves the receiver's memory, can decrypt it (X25519,
HKDF, AES-GCM). Who only listens learns nothing; who can change what Ray sends can
execute code in its workers anyway.
"""

from __future__ import annotations

import os
from typing import Any, Final, NoReturn

from reactorl._federation.link_errors import SecretError
from reactorl._federation.secret import RunSecret

_PUBLIC_BYTES: Final = 32
_LABEL: Final = b"reactorl sealed secret 1"
_NONCE: Final = bytes(12)  # each key encrypts one message


class SealingKey:
    """A key pair of one keeper."""

    __slots__ = ("_private", "public")

    def __init__(self) -> None:
        """Generate a key pair.

        Raises:
            ImportError: ``cryptography`` is missing.
        """
        from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

        self._private = X25519PrivateKey.generate()
        self.public: bytes = self._private.public_key().public_bytes_raw()
        """What the sender needs."""

    def open(self, sealed: bytes) -> RunSecret:
        """Return the secret that was sealed for this key.

        Raises:
            SecretError: It was sealed for another key, or was changed.
        """
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PublicKey

        sender, box = sealed[:_PUBLIC_BYTES], sealed[_PUBLIC_BYTES:]
        try:
            shared = self._private.exchange(X25519PublicKey.from_public_bytes(sender))
            cipher = _cipher(shared, sender + self.public)
            return RunSecret(cipher.decrypt(_NONCE, box, None))
        except (InvalidTag, ValueError):
            msg = "opening the run's secret failed: it was not sealed for this process"
            raise SecretError(msg) from None

    def __reduce__(self) -> NoReturn:
        msg = "a SealingKey cannot be copied or pickled"
        raise TypeError(msg)


def seal(secret: RunSecret, public: bytes) -> bytes:
    """Return a secret that only the owner of a public key can open."""
    from cryptography.hazmat.primitives.asymmetric.x25519 import (
        X25519PrivateKey,
        X25519PublicKey,
    )

    private = X25519PrivateKey.generate()
    sender: bytes = private.public_key().public_bytes_raw()
    shared = private.exchange(X25519PublicKey.from_public_bytes(public))
    cipher = _cipher(shared, sender + public)
    return sender + bytes(cipher.encrypt(_NONCE, _key(secret), None))


def _cipher(shared: bytes, publics: bytes) -> Any:  # noqa: ANN401
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    key = HKDF(SHA256(), 32, salt=None, info=_LABEL + publics).derive(shared)
    return AESGCM(key)


def _key(secret: RunSecret) -> bytes:
    """Return the bytes of a secret, by the only way out that it has."""
    reader, writer = os.pipe()
    try:
        secret.send(writer)
        return os.read(reader, 64)
    finally:
        os.close(reader)
