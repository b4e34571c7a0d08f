# SPDX-License-Identifier: Apache-2.0
"""Checkpoints: complete, whole or absent, and refused if they are anything else."""

from __future__ import annotations

import errno
import functools
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from reactorl.rl import (
    DQN,
    CheckpointError,
    Flow,
    read_checkpoint,
    write_checkpoint,
)
from reactorl.rl.checkpoint import file as module
from reactorl.rl.checkpoint.identity import described
from tests.rl.trained import bits, tuned

FLOW = Flow(
    "CartPole-v1",
    DQN(
        num_envs=4,
        num_steps=4,
        total_timesteps=30 * 16,
        hidden=(8,),
        buffer_size=200,
        batch_size=8,
        learning_starts=30,
        train_frequency=8,
        target_network_frequency=24,
        lag=1,
    ),
    rollouts=2,
    eval_every=48,
    eval_episodes=2,
)


# -- what is in it --------------------------------------------------------------------

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(-(2**200), 2**200),
    st.floats(),
    st.text(),
    st.binary(max_size=20),
    hnp.scalar_dtypes()
    .flatmap(lambda dtype: hnp.arrays(dtype, ()))
    .map(lambda a: a[()]),
    hnp.arrays(
        hnp.scalar_dtypes(), hnp.array_shapes(min_dims=0, min_side=0, max_side=3)
    ),
)
KEYS = st.one_of(st.text(), st.integers(), st.tuples(st.integers(), st.text()))
DATA = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(KEYS, inner, max_size=4),
    ),
    max_leaves=12,
)


def same(a: Any, b: Any) -> bool:
    """Whether two values are the same to the last bit, in type, form and order."""
    if type(a) is not type(b):
        return False
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return same(list(a), list(b)) and same([*a.values()], [*b.values()])
    if isinstance(a, np.ndarray | np.generic):
        return (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())
    if isinstance(a, float):
        return np.float64(a).tobytes() == np.float64(b).tobytes()
    return bool(a == b)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=DATA)
def test_data_is_read_back_bit_identical(tmp_path: Path, data: Any) -> None:
    write_checkpoint(tmp_path / "c", data, FLOW)

    assert same(read_checkpoint(tmp_path / "c", FLOW).data, data)


def test_arrays_are_stored_once_and_read_back_read_only(tmp_path: Path) -> None:
    big = np.arange(100_000.0)
    write_checkpoint(tmp_path / "c", [big, {"again": big}, big[::2]], FLOW)

    one, two, half = read_checkpoint(tmp_path / "c").data

    assert one is two["again"]
    assert (tmp_path / "c").stat().st_size < 1.6 * big.nbytes
    np.testing.assert_array_equal(half, big[::2])
    assert all(a.ctypes.data % 64 == 0 for a in (one, half))
    with pytest.raises(ValueError, match="read-only"):
        one[0] = 1


@dataclass
class Thing:
    x: int = 1


@pytest.mark.parametrize(
    ("value", "match"),
    [
        ({"a": [1, Thing()]}, r"data\['a'\]\[1\] is a .*Thing: not plain data"),
        ([np.array([Thing()])], r"data\[0\] has values of type object"),
        (lambda: 1, "data is a builtins.function: not plain data"),
        (np.zeros(2, [("a", int)]), "not plain data"),
    ],
)
def test_data_that_is_not_plain_raises(value: Any, match: str, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=match):
        write_checkpoint(tmp_path / "c", value, FLOW)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def saved() -> Any:
    with FLOW.start(workers=2) as run:
        for _ in range(7):
            run.step()
        return run.save()


@functools.cache
def uninterrupted() -> bytes:
    with FLOW.start(workers=1) as run:
        list(run.iterations())
        return bits(run.weights)


def test_a_run_resumed_from_a_file_ends_with_the_same_bits(
    tmp_path: Path, saved: Any
) -> None:
    write_checkpoint(tmp_path / "c", saved, FLOW)

    found = read_checkpoint(tmp_path / "c", FLOW)
    with FLOW.start(workers=2, saved=found.data) as run:
        list(run.iterations())
        assert bits(run.weights) == uninterrupted()
    assert same(found.data, saved)
    assert found.identity["seed"] == 1
    assert found.about["versions"]["numpy"] == np.__version__


# -- what is refused ------------------------------------------------------------------


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "small.checkpoint"
    write_checkpoint(path, {"a": np.arange(3), "b": [1, "text", 2.5]}, FLOW)
    return path


def test_any_changed_byte_is_detected(file: Path) -> None:
    whole = file.read_bytes()
    for place in range(len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << place % 8
        file.write_bytes(damaged)
        with pytest.raises(CheckpointError):
            read_checkpoint(file)


def test_truncated_and_extended_files_are_detected(file: Path) -> None:
    whole = file.read_bytes()
    for content in (*(whole[:n] for n in range(len(whole))), whole + b"\0"):
        file.write_bytes(content)
        with pytest.raises(CheckpointError):
            read_checkpoint(file)


def test_errors_name_cause_file_and_remedy(file: Path) -> None:
    whole = file.read_bytes()
    cases = {
        b"PK\x03\x04 something else": "the file is not a checkpoint of reactorl",
        whole.replace(b"checkpoint 2 ", b"checkpoint 3 ", 1): (
            "the checkpoint must have format 2, got 3. Use the version of"
        ),
        whole[:-1]: "the checkpoint is damaged: it must have .* bytes, got",
        whole.replace(b"text", b"test"): ".* is damaged: its digest does not match",
    }
    for content, match in cases.items():
        file.write_bytes(content)
        with pytest.raises(CheckpointError, match=rf"small.checkpoint: {match}"):
            read_checkpoint(file)
    with pytest.raises(CheckpointError, match="there is no checkpoint"):
        read_checkpoint(file.with_name("none"))
    with pytest.raises(CheckpointError, match="cannot be read: is a directory"):
        read_checkpoint(file.parent)


def forge(file: Path, change: dict[str, Any], data: bytes = b"") -> None:
    """Write a checkpoint with other content, and the digest of that."""
    write_checkpoint(file, {"a": np.arange(3)}, FLOW)
    line, rest = file.read_bytes().split(b"\n", 1)
    size, room = (int(word) for word in line.split()[2:])
    tree = json.dumps(json.loads(rest[:size]) | change).encode()
    tree = tree.replace(b'"DATA"', data)
    body = b"reactorl-checkpoint 2 %d %d\n" % (len(tree), room) + tree
    body += rest[size:-32]
    file.write_bytes(body + module.hashlib.sha256(body).digest())


def test_invalid_content_with_a_correct_digest_raises(file: Path) -> None:
    for change in (
        {"data": {"code": "print()"}},
        {"data": {"array": 7}},
        {"arrays": [["|O", [1], 0]]},
        {"arrays": [["<f8", [1000], 0]]},
        {"arrays": [["<f8", [-1], 0]]},
        {"arrays": [["<f8", [1 << 32, 1 << 32], 0]]},
        {"arrays": [["|S0", [1 << 50], 0]], "data": {"array": 0}},
        {"arrays": None},
    ):
        forge(file, change)
        with pytest.raises(CheckpointError, match="its content is invalid"):
            read_checkpoint(file)


def test_deeply_nested_content_raises(file: Path) -> None:
    forge(file, {"data": "DATA"}, b"[" * 100_000 + b"]" * 100_000)

    with pytest.raises(CheckpointError, match="its content is nested too deeply"):
        read_checkpoint(file)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"seed": 2}, "seed is 2 here and 1 there"),
        ({"algorithm": {"num_envs": 8}}, "algorithm.num_envs is 8 here and 4 there"),
        ({"algorithm": {"lag": 0}}, "algorithm.lag is 0 here and 1 there"),
        ({"env": "Acrobot-v1"}, "env is 'Acrobot-v1' here and 'CartPole-v1' there"),
        ({"algorithm": {"gamma": 0.5}}, "algorithm.gamma is 0.5 here and 0.99 there"),
        ({"env_kwargs": {"sutton_barto_reward": True}}, "env_kwargs.sutton"),
        ({"algorithm": {"buffer_size": 201}}, "algorithm.buffer_size is 201 here"),
    ],
)
def test_a_checkpoint_of_another_task_raises(
    change: dict[str, Any], match: str, file: Path
) -> None:
    algorithm = change.pop("algorithm", {})
    other = replace(tuned(FLOW, **algorithm), **change)
    with pytest.raises(CheckpointError, match=f"is of another task: .*{match}"):
        read_checkpoint(file, other)


def test_identity_consists_of_names_and_values() -> None:
    assert described(functools.partial(Thing, x=2)) == {
        "kind": "partial",
        "of": [f"{__name__}.Thing", [], {"x": 2}],
    }
    assert described(Thing()) == {"kind": f"{__name__}.Thing", "x": 1}
    assert described({"a": (1, np.float32(2)), "b": object()}) == {
        "a": [1, 2.0],
        "b": "builtins.object",
    }


# -- written as a whole or not at all -------------------------------------------------


def test_a_full_disk_leaves_the_old_checkpoint_and_nothing_else(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = file.read_bytes()

    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_checkpoint(file, {"new": 1}, FLOW)

    assert file.read_bytes() == before
    assert list(file.parent.iterdir()) == [file]


WRITER = """
import sys, numpy as np
from pathlib import Path
from tests.rl.checkpoint.test_file import FLOW, write_checkpoint
for number in range(100_000):
    write_checkpoint(Path(sys.argv[1]), [number, np.full(200_000, number)], FLOW)
    if number == 0:
        print("begun", flush=True)
"""


def test_a_process_killed_while_writing_leaves_a_complete_checkpoint(
    tmp_path: Path,
) -> None:
    path, random = tmp_path / "c", Random(1)
    with start(WRITER, path) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"begun\n"
        for _ in range(30):  # readers never find a part, either
            number, array = read_checkpoint(path).data
            assert (array == number).all()
        time.sleep(random.random() / 10)
        process.kill()
    number, array = read_checkpoint(path).data
    assert (array == number).all()


TRAINER = """
import sys
from pathlib import Path
from tests.rl.checkpoint.test_file import *
path = Path(sys.argv[1])
saved = read_checkpoint(path, FLOW).data if path.exists() else None
with FLOW.start(workers=2, saved=saved) as run:
    print("begun", flush=True)
    while run.done < FLOW.iterations:
        run.step()
        write_checkpoint(path, run.save(), FLOW)
        print(run.done, flush=True)
    print(bits(run.weights).hex())
"""


def start(code: str, path: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", code, str(path)],
        stdout=subprocess.PIPE,
        env={**os.environ, "JAX_PLATFORMS": "cpu"},
        cwd=Path(__file__).parents[3],
    )


@pytest.mark.slow
def test_a_training_killed_twenty_times_ends_with_the_same_bits(tmp_path: Path) -> None:
    path, random = tmp_path / "c", Random(1)
    killed = 0
    while killed < 20:
        with start(TRAINER, path) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"begun\n"
            before = read_checkpoint(path).data["round"] if path.exists() else 0
            # Somewhere in the round after the first or second line, or before that.
            said = [process.stdout.readline() for _ in range(random.randrange(3))]
            time.sleep(random.random() / 50)
            process.kill()
            said.append(process.stdout.read())
        if process.returncode == 0:  # it was done before: another one is to be killed
            last = b"".join(said).split()[-1]
            assert bytes.fromhex(last.decode()) == uninterrupted()
            path.unlink()
            continue
        assert process.returncode == -signal.SIGKILL
        killed += 1
        if path.exists():
            assert read_checkpoint(path, FLOW).data["round"] >= before
    done = subprocess.run(
        [sys.executable, "-c", TRAINER, str(path)], capture_output=True, check=True
    )
    assert bytes.fromhex(done.stdout.split()[-1].decode()) == uninterrupted()
