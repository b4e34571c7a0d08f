# SPDX-License-Identifier: Apache-2.0
"""Values as bytes: equal, aligned, read-only, and copied no more than needed."""

from __future__ import annotations

import dataclasses
import pickle
import subprocess
import sys
import tracemalloc
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from reactorl._federation.codec import ALIGNMENT, Payload, allocate, decode, encode
from reactorl._federation.link_errors import CodecError

if TYPE_CHECKING:
    from pathlib import Path


def through(value: Any) -> Any:
    """Return a value as a receiver gets it."""
    payload = encode(value)
    received = []
    for buffer in payload.buffers:
        memory = allocate(buffer.nbytes)
        memory[:] = buffer
        received.append(memory)
    return decode(payload.data, received)


def assert_received(array: np.ndarray, original: np.ndarray) -> None:
    assert type(array) is np.ndarray
    assert array.dtype == original.dtype
    assert array.shape == original.shape
    assert array.tobytes() == original.tobytes()
    assert not array.flags.writeable
    if array.nbytes:
        with pytest.raises(ValueError, match="cannot set WRITEABLE"):
            array.flags.writeable = True
        assert array.ctypes.data % ALIGNMENT == 0


@dataclasses.dataclass
class Sample:
    name: str
    data: np.ndarray


SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False)
VALUES = st.recursive(
    SCALARS | st.text() | st.binary(),
    lambda inner: (
        st.lists(inner)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(), inner)
        | st.frozensets(st.integers())
    ),
    max_leaves=20,
)


@given(VALUES)
def test_plain_values_are_equal(value: Any) -> None:
    received = through(value)

    assert received == value
    assert type(received) is type(value)


DTYPES = (
    hnp.scalar_dtypes()
    | hnp.array_dtypes(max_size=3)
    | hnp.unicode_string_dtypes(max_len=4)
    | hnp.byte_string_dtypes(max_len=4)
)


@given(hnp.arrays(DTYPES, hnp.array_shapes(min_dims=0, min_side=0, max_side=4)))
def test_arrays_are_equal_aligned_and_read_only(array: np.ndarray) -> None:
    assert_received(through(array), array)


@given(
    hnp.arrays(st.sampled_from(["i2", ">f8", "M8[s]", "?"]), (4, 3, 5)),
    st.permutations([0, 1, 2]),
    st.tuples(*[st.sampled_from([-2, -1, 1, 2])] * 3),
)
def test_views_of_any_layout_are_equal(
    array: np.ndarray, axes: list[int], steps: tuple[int, ...]
) -> None:
    view = array.transpose(axes)[tuple(slice(None, None, step) for step in steps)]

    assert_received(through(view), view)


def test_fortran_order_is_kept_without_a_copy() -> None:
    array = np.asfortranarray(np.arange(12.0).reshape(3, 4))
    array.flags.writeable = False
    (buffer,) = encode(array).buffers
    received = through(array)

    assert received.strides == array.strides
    assert np.shares_memory(np.frombuffer(buffer, "u1"), array)


@pytest.mark.parametrize(
    "array",
    [
        np.zeros((0, 3)),
        np.zeros(()),
        np.zeros(3, "V0"),
        np.array(["2020-01-01", "NaT"], "M8[D]"),
        np.array([1, 2], "m8[ns]")[::-1],
        np.zeros(3, [("a", "<i4"), ("b", ">f8", (2,)), ("c", "S3")]),
        np.zeros(2, np.longdouble),
        np.broadcast_to(np.arange(3), (4, 3)),
        np.zeros(2, np.dtype("i4", metadata={"x": 1})),
    ],
    ids=str,
)
def test_unusual_arrays_are_equal_aligned_and_read_only(array: np.ndarray) -> None:
    assert_received(through(array), array)


def test_arrays_of_objects_are_equal_and_read_only() -> None:
    array = np.array([1, "a", None, (2, 3)], dtype=object)
    received = through(array)

    assert received.tolist() == array.tolist()
    assert not received.flags.writeable


def test_arrays_in_containers_are_received_apart() -> None:
    value = {"w": [np.arange(5), (np.zeros((2, 2)),)], "s": Sample("a", np.ones(3))}
    received = through(value)

    assert_received(received["w"][0], value["w"][0])
    assert_received(received["w"][1][0], value["w"][1][0])
    assert_received(received["s"].data, value["s"].data)
    assert received["s"].name == "a"


def test_one_array_twice_in_a_value_stays_one() -> None:
    array = np.arange(3)
    first, second = through([array, array])

    assert first is second


def test_jax_arrays_become_numpy_arrays() -> None:
    jax = pytest.importorskip("jax")
    value = {
        "w": jax.numpy.arange(6.0).reshape(2, 3),
        "h": jax.numpy.ones(3, "bfloat16"),
    }
    received = through(value)

    for name, array in value.items():
        assert_received(received[name], np.asarray(array))


def test_memory_that_can_be_written_to_is_copied_before_it_is_sent() -> None:
    array = np.arange(4)
    payload = encode(array)
    array[:] = 0

    assert decode(payload.data, payload.buffers).tolist() == [0, 1, 2, 3]


def test_read_only_memory_is_not_copied() -> None:
    array = np.zeros(1 << 20, np.uint8)
    array.flags.writeable = False
    tracemalloc.start()
    try:
        payload = encode(array)
        decode(payload.data, payload.buffers)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < 100_000


@pytest.mark.parametrize("size", [0, 1, 63, 64, 1000, 1 << 20, (1 << 20) + 1])
def test_allocated_memory_is_aligned(size: int) -> None:
    for _ in range(20):
        memory = allocate(size)
        assert memory.nbytes == size
        assert not memory.readonly
        if size:
            assert np.frombuffer(memory, "u1").ctypes.data % ALIGNMENT == 0


def test_values_without_arrays_need_no_numpy() -> None:
    code = (
        "import sys\n"
        "from reactorl._federation.codec import *\n"
        "from reactorl._federation import link, endpoint, watch\n"
        "import pickle, ctypes\n"
        "assert decode(*encode({'a': [1]})) == {'a': [1]}\n"
        "for size in (0, 1, 100, 1 << 20):\n"
        "    memory = allocate(size)\n"
        "    assert len(memory) == size\n"
        "    if size:\n"
        "        memory[-1] = 7\n"
        "        char = ctypes.c_char.from_buffer(memory)\n"
        "        assert ctypes.addressof(char) % ALIGNMENT == 0\n"
        "print('numpy' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, text=True
    )

    assert done.stdout == "False\n"


def test_classes_of_the_main_module_are_sent_by_value(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import pickle, sys\n"
        "from dataclasses import dataclass\n"
        "import numpy as np\n"
        "from reactorl._federation.codec import encode\n"
        "@dataclass\n"
        "class Local:\n"
        "    x: object\n"
        "    def double(self): return 2 * self.x\n"
        "data, buffers = encode(Local(np.arange(6)[::2]))\n"
        "assert len(buffers) == 1\n"
        "pickle.dump((data, [bytes(b) for b in buffers]), sys.stdout.buffer)\n"
    )
    done = subprocess.run(
        [sys.executable, script], capture_output=True, check=True, timeout=300
    )
    data, buffers = pickle.loads(done.stdout)
    received = decode(data, [memoryview(each) for each in buffers])

    assert received.double().tolist() == [0, 4, 8]
    assert not received.x.flags.writeable


def test_functions_are_sent_by_value() -> None:
    assert through(lambda x: x + 1)(2) == 3


def test_values_that_cannot_be_pickled_are_named() -> None:
    with pytest.raises(CodecError, match=r"a value of type generator failed: .*pickle"):
        encode(each for each in ())


def test_values_that_cannot_be_made_here_are_named() -> None:
    data = pickle.dumps(Sample("a", np.zeros(1))).replace(b"Sample", b"Simple")

    with pytest.raises(CodecError, match="received value failed: AttributeError"):
        decode(data)
    with pytest.raises(CodecError, match="deserializing a received value failed"):
        decode(b"")
    with pytest.raises(CodecError, match="deserializing a received value failed"):
        decode(encode(np.zeros(3)).data, [])


def test_size_counts_pickle_and_buffers() -> None:
    payload = Payload(b"abc", (memoryview(bytes(10)), memoryview(bytes(7))))

    assert payload.size == 20
