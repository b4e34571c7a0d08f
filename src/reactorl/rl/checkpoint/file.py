# SPDX-License-Identifier: Apache-2.0
"""Checkpoints: the complete state of a training run in one file.

A file is a line of text, a tree in JSON, the arrays, and a digest of all of it::

    reactorl-checkpoint 2 <bytes of the tree> <bytes of the arrays>
    {"identity": ..., "about": ..., "arrays": [[type, shape, offset], ...], "data": ...}
    <arrays, each at a multiple of 64 bytes>
    <SHA-256, 32 bytes>

Reading a file executes no code from it. Writing is atomic: readers find the old file
or the new one, even if the process or the machine stopped in between.
"""

from __future__ import annotations

import hashlib
import json
import math
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
from reactorl.rl.checkpoint.not_exact import not_exact

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from reactorl.rl.checkpoint.registry import Data
    from reactorl.rl.flow.algorithm import Array
    from reactorl.rl.flow.task import Task

VERSION: Final = 2
_MAGIC: Final = b"reactorl-checkpoint"
_ALIGNED: Final = 64
_LONGEST_LINE: Final = 200
_MOST_EMPTY: Final = 1 << 20
"""Largest size of an array whose elements take no bytes."""
_DIGEST: Final = hashlib.sha256().digest_size


@public
class CheckpointError(ReactorlError):
    """A checkpoint cannot be used.

    Attributes:
        path: The file.
        what: What is wrong.
        remedy: How to fix it.
    """

    def __init__(self, path: Path, what: str, remedy: str) -> None:
        super().__init__(what, Position(str(path)), remedy)
        self.args = (path, what, remedy)
        self.path = path


@dataclass(frozen=True)
class Checkpoint:
    """The content of a file. Its arrays are read-only."""

    identity: dict[str, Any]
    """Of the task; see ``reactorl.rl.checkpoint.identity``."""
    about: dict[str, Any]
    """Versions of the packages that wrote it, and ``not_exact``: environments that
    begin a new episode in a resumed run; for information."""
    data: Data
    """The state; see ``DrivenRun.save``."""


# -- writing --------------------------------------------------------------------------


@public
def write_checkpoint(path: Path, data: Data, task: Task) -> None:
    """Write the state of a run, atomically.

    Args:
        path: The file; one process at a time writes it.
        data: The state; see ``DrivenRun.save``.
        task: The task.

    Raises:
        OSError: It cannot be written; an older file is unchanged.
        TypeError: The state is not plain data.
    """
    packer = Packer()
    packed = packer.pack(data)
    arrays = [np.ascontiguousarray(a).reshape(a.shape) for a in packer.arrays]
    places, end = [], 0
    for array in arrays:
        places.append([array.dtype.str, list(array.shape), end])
        end += _padded(array.nbytes)
    about: dict[str, Any] = {"versions": dict(versions())}
    if inexact := not_exact(data):
        about["not_exact"] = inexact
    content = {"identity": identity(task), "about": about}
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


@public
def read_checkpoint(
    path: Path, task: Task | None = None, *, may_differ: Collection[str] = ()
) -> Checkpoint:
    """Read a checkpoint; executes no code from it.

    Args:
        path: The file.
        task: The task that resumes from it; None: any.
        may_differ: Names of hyperparameters that may have other values in the task.

    Raises:
        CheckpointError: There is none, it is damaged, of another version, or of
            another task.
    """
    found = _read(path)
    if task is not None:
        ours = json.loads(json.dumps(identity(task)))
        theirs = dict(found.identity)
        for each in (ours, theirs):
            each["algorithm"] = _without(each.get("algorithm"), may_differ)
        other = list(islice(differences(ours, theirs), 4))
        if other:
            more = ", and more" if len(other) == 4 else ""
            what = f"the checkpoint is of another task: {'; '.join(other[:3])}{more}"
            remedy = (
                "Resume with the settings that it was made with, or start a new run."
            )
            raise CheckpointError(path, what, remedy)
    return found


def _without(algorithm: Any, names: Collection[str]) -> Any:  # noqa: ANN401
    """Return the identity of an algorithm without some of its hyperparameters."""
    if not isinstance(algorithm, dict):  # of a file that another program wrote
        return algorithm
    return {key: value for key, value in algorithm.items() if key not in names}


def _read(path: Path) -> Checkpoint:
    try:
        with path.open("rb") as file:
            return _content(path, file)
    except FileNotFoundError:
        what = "there is no checkpoint"
        remedy = "A run writes the first one after --checkpoint-every steps."
        raise CheckpointError(path, what, remedy) from None
    except OSError as error:
        what = (
            f"the checkpoint cannot be read: {(error.strerror or str(error)).lower()}"
        )
        raise CheckpointError(
            path, what, "Check the permissions of the file."
        ) from error


def _content(path: Path, file: IO[bytes]) -> Checkpoint:
    line = file.readline(_LONGEST_LINE)
    words = line.split(b" ")
    if words[0] != _MAGIC or len(words) != 4 or not line.endswith(b"\n"):
        what = "the file is not a checkpoint of reactorl"
        raise CheckpointError(path, what, "Use the file that a run has written.")
    try:
        version, tree_size, size = (int(word) for word in words[1:])
    except ValueError:
        raise _damaged(path, "its first line is invalid") from None
    if version != VERSION:
        what = f"the checkpoint must have format {VERSION}, got {version}"
        remedy = "Use the version of reactorl that wrote it, or start a new run."
        raise CheckpointError(path, what, remedy)
    whole = os.fstat(file.fileno()).st_size
    due = len(line) + tree_size + size + _DIGEST
    if whole != due or tree_size < 0 or size < 0:
        raise _damaged(path, f"it must have {due} bytes, got {whole}")
    tree, store = file.read(tree_size), _aligned(size)
    file.readinto(store.data)  # type: ignore[attr-defined]
    digest = hashlib.sha256(line)
    digest.update(tree)
    digest.update(store.data)
    if digest.digest() != file.read():
        raise _damaged(path, "its digest does not match")
    store.flags.writeable = False
    try:
        content = json.loads(tree)
        arrays = [_array(store, *place) for place in content["arrays"]]
        data = unpack(content["data"], arrays)
        return Checkpoint(content["identity"], content["about"], data)
    except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
        # The digest matches: another program wrote it.
        raise _damaged(path, f"its content is invalid ({error})") from error
    except RecursionError:
        raise _damaged(path, "its content is nested too deeply") from None


def _aligned(size: int) -> Array:
    """Return a buffer of bytes that starts at an aligned address."""
    room = np.empty(size + _ALIGNED, np.uint8)
    first = -room.ctypes.data % _ALIGNED
    return room[first : first + size]


def _array(store: Array, dtype: str, shape: list[int], offset: int) -> Array:
    kind = dtype_of(dtype)
    count = math.prod(shape)
    size = count * kind.itemsize
    if min([0, offset, *shape]) < 0 or offset + size > len(store):
        msg = "an array is outside"
        raise ValueError(msg)
    if kind.itemsize == 0:  # no bytes in the file, but some in memory
        if count > _MOST_EMPTY:
            msg = f"an array of {count} empty strings"
            raise ValueError(msg)
        return np.zeros(shape, kind)
    found: Array = store[offset : offset + size].view(kind).reshape(shape)
    return found


def _damaged(path: Path, how: str) -> CheckpointError:
    what = f"the checkpoint is damaged: {how}"
    return CheckpointError(path, what, "Use a copy of it, or start a new run.")
