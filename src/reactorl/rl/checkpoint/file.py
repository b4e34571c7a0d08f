# SPDX-License-Identifier: Apache-2.0
"""Checkpoints: the whole state of a training in one file that can be trusted.

A file is a line of text, a tree in JSON, the arrays, and a digest of all that::

    reactorl-checkpoint 2 <bytes of the tree> <bytes of the arrays>
    {"identity": ..., "about": ..., "arrays": [[type, shape, offset], ...], "data": ...}
    <arrays, each at a multiple of 64 bytes>
    <SHA-256, 32 bytes>

Nothing in it is run when it is read. It is written beside its place and then takes it:
whoever reads finds the old file or the new one, also if the process or the machine
ended in between.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from itertools import islice
from typing import IO, TYPE_CHECKING, Any, Final

import numpy as np

from reactorl import Position, ReactorlError
from reactorl._util.files import atomic_writer, remove_unfinished
from reactorl.rl._public import public
from reactorl.rl.checkpoint.codec import Packer, dtype_of, unpack
from reactorl.rl.checkpoint.identity import differences, identity, versions

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from reactorl.rl.checkpoint.registry import Data
    from reactorl.rl.flow.algorithm import Array
    from reactorl.rl.flow.task import Task

VERSION: Final = 2
_MAGIC: Final = b"reactorl-checkpoint"
_ALIGNED: Final = 64
_LONGEST_LINE: Final = 200
_DIGEST: Final = hashlib.sha256().digest_size


@public
class CheckpointError(ReactorlError):
    """A checkpoint cannot be used.

    Attributes:
        path: Which file.
        what: The fact.
        remedy: What to do about it.
    """

    def __init__(self, path: Path, what: str, remedy: str) -> None:
        super().__init__(what, Position(str(path)), remedy)
        self.args = (path, what, remedy)
        self.path = path


@dataclass(frozen=True)
class Checkpoint:
    """What a file holds. Its arrays are read-only."""

    identity: dict[str, Any]
    """Of which task; see ``reactorl.rl.checkpoint.identity``."""
    about: dict[str, Any]
    """By which versions it was written; for information."""
    data: Data
    """What ``Training.save`` returned."""


# -- writing --------------------------------------------------------------------------


def write_checkpoint(path: Path, data: Data, flow: Task) -> None:
    """Write the state of a run, as a whole or not at all.

    Args:
        path: Where to; one process at a time writes there.
        data: What ``Training.save`` returned.
        flow: Of which task.

    Raises:
        OSError: It cannot be written; what was there is still there.
        TypeError: Something in it is not plain data.
    """
    packer = Packer()
    packed = packer.pack(data)
    arrays = [np.ascontiguousarray(a).reshape(a.shape) for a in packer.arrays]
    places, end = [], 0
    for array in arrays:
        places.append([array.dtype.str, list(array.shape), end])
        end += _padded(array.nbytes)
    about = {"versions": dict(versions())}
    content = {"identity": identity(flow), "about": about}
    tree = json.dumps(content | {"arrays": places, "data": packed}).encode()
    head = b"%s %d %d %d\n" % (_MAGIC, VERSION, len(tree), end)

    def parts() -> Iterator[bytes | memoryview]:
        yield head
        yield tree
        for array in arrays:
            yield array.reshape(-1).view(np.uint8).data
            yield bytes(_padded(array.nbytes) - array.nbytes)

    remove_unfinished(path)  # a run directory has one writer
    with atomic_writer(path) as file:
        digest = hashlib.sha256()
        for part in parts():
            digest.update(part)
            file.write(part)
        file.write(digest.digest())


def _padded(size: int) -> int:
    return -(-size // _ALIGNED) * _ALIGNED


# -- reading --------------------------------------------------------------------------


def read_checkpoint(path: Path, flow: Task | None = None) -> Checkpoint:
    """Read a checkpoint; nothing of it is run.

    Args:
        path: The file.
        flow: The task that is to go on from it; None: any.

    Raises:
        CheckpointError: There is none, it is damaged, of another version, or of
            another flow.
    """
    found = _read(path)
    if flow is not None:
        ours = json.loads(json.dumps(identity(flow)))
        other = list(islice(differences(ours, found.identity), 4))
        if other:
            more = ", and more" if len(other) == 4 else ""
            what = f"the checkpoint is of another flow: {'; '.join(other[:3])}{more}"
            remedy = "Go on with the settings it was made with, or begin a new run."
            raise CheckpointError(path, what, remedy)
    return found


def _read(path: Path) -> Checkpoint:
    try:
        with path.open("rb") as file:
            return _content(path, file)
    except FileNotFoundError:
        what = "there is no checkpoint"
        remedy = "A run has one once it has trained for a while."
        raise CheckpointError(path, what, remedy) from None
    except OSError as error:
        what = (
            f"the checkpoint cannot be read: {(error.strerror or str(error)).lower()}"
        )
        raise CheckpointError(path, what, "See to it that it can be.") from error


def _content(path: Path, file: IO[bytes]) -> Checkpoint:
    line = file.readline(_LONGEST_LINE)
    words = line.split(b" ")
    if words[0] != _MAGIC or len(words) != 4 or not line.endswith(b"\n"):
        what = "this is no checkpoint of reactorl"
        raise CheckpointError(path, what, "Name the file that a run has written.")
    try:
        version, tree_size, size = (int(word) for word in words[1:])
    except ValueError:
        raise _damaged(path, "its first line is not as written") from None
    if version != VERSION:
        what = f"the checkpoint has format {version}, and this is for {VERSION}"
        remedy = "Use the version of reactorl that wrote it, or begin a new run."
        raise CheckpointError(path, what, remedy)
    whole = os.fstat(file.fileno()).st_size
    due = len(line) + tree_size + size + _DIGEST
    if whole != due or tree_size < 0 or size < 0:
        raise _damaged(path, f"it has {whole} bytes and should have {due}")
    tree, store = file.read(tree_size), _aligned(size)
    file.readinto(store.data)  # type: ignore[attr-defined]
    digest = hashlib.sha256(line)
    digest.update(tree)
    digest.update(store.data)
    if digest.digest() != file.read():
        raise _damaged(path, "its digest is another")
    store.flags.writeable = False
    try:
        content = json.loads(tree)
        arrays = [_array(store, *place) for place in content["arrays"]]
        data = unpack(content["data"], arrays)
        return Checkpoint(content["identity"], content["about"], data)
    except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
        # The digest is right: it was written by something else.
        raise _damaged(path, f"it makes no sense ({error})") from error


def _aligned(size: int) -> Array:
    """Return room for bytes, which begins where arrays like to begin."""
    room = np.empty(size + _ALIGNED, np.uint8)
    first = -room.ctypes.data % _ALIGNED
    return room[first : first + size]


def _array(store: Array, dtype: str, shape: list[int], offset: int) -> Array:
    kind = dtype_of(dtype)
    count = int(np.prod(shape, dtype=np.int64))
    size = count * kind.itemsize
    if min([0, offset, *shape]) < 0 or offset + size > len(store):
        msg = "an array is outside"
        raise ValueError(msg)
    if kind.itemsize == 0:
        return np.zeros(shape, kind)
    found: Array = store[offset : offset + size].view(kind).reshape(shape)
    return found


def _damaged(path: Path, how: str) -> CheckpointError:
    what = f"the checkpoint is damaged: {how}"
    return CheckpointError(path, what, "Use a copy of it, or begin a new run.")
