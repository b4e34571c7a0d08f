# SPDX-License-Identifier: Apache-2.0
"""The run's secret: handed over by pipe or private file, and shown to nothing else."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
import traceback
from typing import TYPE_CHECKING

import pytest

from reactorl._federation.link_errors import SecretError
from reactorl._federation.secret import SECRET_BYTES, RunSecret

if TYPE_CHECKING:
    from pathlib import Path

KEY = bytes(range(100, 132))
SPELLINGS = (KEY.hex(), repr(KEY), repr(KEY)[2:-1], str(list(KEY))[1:-1])


def test_secrets_are_256_random_bits() -> None:
    macs = {RunSecret.generate().mac(b"x") for _ in range(100)}

    assert SECRET_BYTES == 32
    assert len(macs) == 100


def test_secret_needs_32_bytes() -> None:
    with pytest.raises(SecretError, match=r"must have 32 bytes, got 31") as caught:
        RunSecret(KEY[:31])

    assert all(each not in str(caught.value) for each in SPELLINGS)


def test_mac_depends_on_secret_label_and_where_parts_end() -> None:
    secret, other = RunSecret(KEY), RunSecret(bytes(32))

    assert secret.mac(b"a", b"b") == RunSecret(KEY).mac(b"a", b"b")
    assert (
        len(
            {
                secret.mac(b"a", b"bc"),
                secret.mac(b"ab", b"c"),
                secret.mac(b"a", b"b", b"c"),
                secret.mac(b"abc"),
                other.mac(b"a", b"bc"),
            }
        )
        == 5
    )
    assert secret.verify(secret.mac(b"a", b"b"), b"a", b"b")
    assert not secret.verify(secret.mac(b"a", b"b"), b"a", b"c")
    assert not secret.verify(b"", b"a", b"b")


def test_secret_passes_through_a_pipe_that_a_child_inherits() -> None:
    reader, writer = os.pipe()
    code = (
        "import sys; from reactorl._federation.secret import RunSecret; "
        "print(RunSecret.receive(int(sys.argv[1])).mac(b'label').hex())"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", code, str(reader)],
        pass_fds=[reader],
        stdout=subprocess.PIPE,
        text=True,
    )
    os.close(reader)
    RunSecret(KEY).send(writer)
    output, _ = child.communicate(timeout=60)

    assert output.strip() == RunSecret(KEY).mac(b"label").hex()
    with pytest.raises(OSError, match="Bad file"):
        os.fstat(writer)


@pytest.mark.parametrize("data", [b"", KEY[:-1], KEY + b"x", KEY * 1000])
def test_pipe_with_other_bytes_is_refused(data: bytes) -> None:
    reader, writer = os.pipe()
    os.write(writer, data)
    os.close(writer)

    with pytest.raises(SecretError, match="must be 32 bytes in a pipe"):
        RunSecret.receive(reader)
    with pytest.raises(OSError, match="Bad file"):
        os.fstat(reader)


def test_pipe_whose_reader_has_gone_is_an_error() -> None:
    reader, writer = os.pipe()
    os.close(reader)

    with pytest.raises(SecretError, match="handing over the run's secret failed"):
        RunSecret(KEY).send(writer)


def test_file_is_private_and_can_be_loaded(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    before = os.umask(0)
    try:
        RunSecret(KEY).save(path)
    finally:
        os.umask(before)

    assert path.stat().st_mode & 0o777 == 0o600
    assert RunSecret.load(path).mac(b"x") == RunSecret(KEY).mac(b"x")


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602, 0o610, 0o601, 0o644])
def test_file_that_others_can_use_is_refused(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "secret"
    RunSecret(KEY).save(path)
    path.chmod(mode)

    with pytest.raises(SecretError, match=f"must have mode 600, got {mode:o}"):
        RunSecret.load(path)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_file_of_another_user_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    RunSecret(KEY).save(path)
    os.chown(path, 12345, -1)

    with pytest.raises(SecretError, match="must belong to you, got user id 12345"):
        RunSecret.load(path)


def test_existing_file_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    path.write_text("mine")

    with pytest.raises(SecretError, match="File exists"):
        RunSecret(KEY).save(path)
    assert path.read_text() == "mine"


def test_symbolic_links_are_not_followed(tmp_path: Path) -> None:
    path, link = tmp_path / "secret", tmp_path / "link"
    RunSecret(KEY).save(path)
    link.symlink_to(path)

    with pytest.raises(SecretError):
        RunSecret.load(link)
    link.unlink()
    link.symlink_to(tmp_path / "new")
    with pytest.raises(SecretError):
        RunSecret(KEY).save(link)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    "text",
    [b"", b"\n", KEY.hex().encode(), b"zz" * 32 + b"\n", b"0" * 10_000, b"\xff" * 65],
)
def test_file_with_other_content_is_refused_without_showing_it(
    tmp_path: Path, text: bytes
) -> None:
    path = tmp_path / "secret"
    path.touch(0o600)
    path.write_bytes(text)

    with pytest.raises(SecretError, match="must contain 64 hexadecimal") as caught:
        RunSecret.load(path)
    assert KEY.hex() not in str(caught.value)


def test_what_is_not_a_file_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe", 0o600)

    with pytest.raises(SecretError, match="must be a regular file"):
        RunSecret.load(tmp_path / "pipe")
    with pytest.raises(SecretError, match="must be a regular file"):
        RunSecret.load(tmp_path)
    with pytest.raises(SecretError, match="No such file"):
        RunSecret.load(tmp_path / "nothing")


def test_secret_is_in_no_text_copy_or_pickle() -> None:
    secret = RunSecret(KEY)

    for text in (repr(secret), str(secret), f"{secret}", f"{[secret]!r}"):
        assert all(each not in text for each in SPELLINGS)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(TypeError, match="cannot be copied or pickled"):
            pickle.dumps(secret, protocol)
    for function in (copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="cannot be copied or pickled"):
            function(secret)
    with pytest.raises(TypeError, match="vars"):
        vars(secret)


def test_tracebacks_with_local_variables_do_not_show_it(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    RunSecret(KEY).save(path)
    path.write_bytes(KEY.hex().encode() + b"0\n")
    reader, writer = os.pipe()
    os.write(writer, KEY + b"x")
    os.close(writer)
    gone, closed = os.pipe()
    os.close(gone)
    calls = [
        lambda: RunSecret.load(path),
        lambda: RunSecret.receive(reader),
        lambda: RunSecret(KEY).send(closed),
        lambda: RunSecret(KEY).save(path),
        lambda: pickle.dumps(RunSecret(KEY)),
        lambda: RunSecret(KEY).mac("no bytes"),  # type: ignore[arg-type]
    ]

    for call in calls:
        with pytest.raises(Exception, match=r".") as caught:
            call()
        shown = traceback.TracebackException.from_exception(
            caught.value, capture_locals=True
        )
        # Locals of this test are not those of the package.
        text = "".join(
            line
            for frame in shown.stack
            if "secret.py" in frame.filename and "test_secret" not in frame.filename
            for line in (frame.locals or {}).values()
        )
        assert all(each not in text for each in SPELLINGS)
