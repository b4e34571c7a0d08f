# SPDX-License-Identifier: Apache-2.0
"""Area downscaling equals OpenCV's INTER_AREA up to rounding."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from math import gcd
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reactorl.rl.wrappers.resize import AreaResize

Shape = tuple[int, ...]


def picture(shape: Shape, seed: int = 0) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).integers(0, 256, shape, np.uint8)


def mean_by_definition(source: np.ndarray[Any, Any], size: tuple[int, int]) -> Any:
    """Return exact means, by fractions."""
    parts = []
    for old, new in zip(source.shape, size[::-1], strict=True):
        scale = Fraction(old, new)
        parts.append(
            [
                [
                    max(
                        Fraction(0),
                        min((k + 1) * scale, Fraction(j + 1))
                        - max(k * scale, Fraction(j)),
                    )
                    / scale
                    for j in range(old)
                ]
                for k in range(new)
            ]
        )
    rows, columns = (np.array(part, object) for part in parts)
    return rows @ source.astype(object) @ columns.T


@given(
    shape=st.tuples(st.integers(1, 12), st.integers(1, 12)),
    shrink=st.tuples(st.integers(0, 11), st.integers(0, 11)),
    seed=st.integers(0, 100),
)
def test_a_pixel_is_the_rounded_mean_of_its_area(
    shape: tuple[int, int], shrink: tuple[int, int], seed: int
) -> None:
    height, width = shape
    size = (max(1, width - shrink[1]), max(1, height - shrink[0]))
    source = picture(shape, seed)

    found = AreaResize(shape, size)(source)

    exact = mean_by_definition(source, size)
    assert found.dtype == np.uint8
    assert found.tolist() == [[round(mean) for mean in row] for row in exact]


def units(length: int, new_length: int) -> np.ndarray[Any, Any]:
    """Return how many units of each old pixel each new one covers."""
    common = gcd(length, new_length)
    old, new = new_length // common, length // common
    begin = np.arange(new_length)[:, np.newaxis] * new
    pixels = np.arange(length) * old
    covered = np.minimum(begin + new, pixels + old) - np.maximum(begin, pixels)
    return np.maximum(covered, 0)


def mean_by_numpy(source: np.ndarray[Any, Any], size: tuple[int, int]) -> Any:
    """Return rounded means: exact sums, one division, ties to even."""
    rows, columns = map(units, source.shape[:2], size[::-1])
    sums = np.tensordot(rows, source.astype(np.int64), 1)
    sums = np.moveaxis(np.tensordot(columns, sums, (1, 1)), 0, 1)
    total = rows[0].sum() * columns[0].sum()
    quotient = np.float32 if 255 * total < 2**16 else np.float64
    return np.rint(sums.astype(quotient) / quotient(total)).astype(np.uint8)


@given(
    shape=st.tuples(st.integers(1, 260), st.integers(1, 260)),
    shrink=st.tuples(st.integers(0, 259), st.integers(0, 259)),
    channels=st.sampled_from([(), (1,), (3,)]),
    seed=st.integers(0, 100),
)
@example(shape=(210, 160), shrink=(126, 76), channels=(), seed=0)
@example(shape=(210, 160), shrink=(126, 76), channels=(3,), seed=0)
@example(shape=(250, 160), shrink=(166, 76), channels=(), seed=0)
@example(shape=(210, 160), shrink=(0, 0), channels=(3,), seed=0)
def test_pictures_of_all_shapes_are_numpys(
    shape: tuple[int, int], shrink: tuple[int, int], channels: Shape, seed: int
) -> None:
    height, width = shape
    size = (max(1, width - shrink[1]), max(1, height - shrink[0]))
    source = picture((*shape, *channels), seed)

    found = AreaResize(source.shape, size)(source)

    expected = mean_by_numpy(source, size)
    assert found.shape == expected.shape
    assert found.tobytes() == expected.tobytes()


@pytest.mark.parametrize("shape", [(1, 257), (1, 259), (4103, 4105), (4105, 4107)])
def test_sums_are_wide_enough_for_white(shape: tuple[int, int]) -> None:
    found = AreaResize(shape, (2, 1))(np.full(shape, 255, np.uint8))

    assert found.tolist() == [[255, 255]]


def test_channels_are_pictures_of_their_own() -> None:
    source = picture((21, 16, 3))

    found = AreaResize(source.shape, (9, 8))(source)

    alone = AreaResize((21, 16), (9, 8))
    for channel in range(3):
        expected = alone(np.ascontiguousarray(source[..., channel]))
        assert found[..., channel].tolist() == expected.tolist()


def test_results_are_not_changed_by_later_ones() -> None:
    resize = AreaResize((20, 20), (10, 10))
    first = resize(picture((20, 20), 1))
    kept = first.copy()

    resize(picture((20, 20), 2))

    assert first.flags.c_contiguous
    assert (first == kept).all()


def test_pictures_need_not_be_contiguous_or_writable() -> None:
    source = picture((20, 20))
    expected = AreaResize((20, 10), (5, 5))(source[:, ::2].copy())
    source.flags.writeable = False

    assert (AreaResize((20, 10), (5, 5))(source[:, ::2]) == expected).all()


def test_copies_do_the_same() -> None:
    source = picture((20, 20))
    resize = AreaResize((20, 20), (9, 7))

    for other in (pickle.loads(pickle.dumps(resize)), copy.deepcopy(resize)):
        assert (other(source) == resize(source)).all()


def test_threads_may_share_one() -> None:
    resize = AreaResize((210, 160), (84, 84))
    sources = [picture((210, 160), seed) for seed in range(8)]
    alone = [resize(source) for source in sources]

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(resize, sources * 20))

    for index, result in enumerate(found):
        assert (result == alone[index % len(sources)]).all()


def test_a_picture_of_another_shape_is_refused() -> None:
    with pytest.raises(ValueError, match=r"shape \(20, 10\), got \(10, 20\)"):
        AreaResize((20, 10), (5, 5))(picture((10, 20)))


def test_pixels_of_another_type_are_refused() -> None:
    with pytest.raises(TypeError, match="dtype=uint8"):
        AreaResize((20, 10), (5, 5))(np.zeros((20, 10)))


@pytest.mark.parametrize("size", [(21, 5), (5, 21), (0, 5), (5, 0)])
def test_pictures_are_not_made_larger(size: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match=f"20x20, got {size[0]}x"):
        AreaResize((20, 20), size)


@pytest.mark.parametrize("channels", [(), (3,)])
@pytest.mark.parametrize("size", [(84, 84), (96, 96), (64, 64), (42, 42), (84, 110)])
@pytest.mark.parametrize("height", [210, 250])
def test_it_is_opencvs_but_for_one_level(
    height: int, size: tuple[int, int], channels: Shape
) -> None:
    cv2 = pytest.importorskip("cv2", reason="OpenCV is not installed")
    source = picture((height, 160, *channels))

    found = AreaResize(source.shape, size)(source).astype(int)

    theirs = cv2.resize(source, size, interpolation=cv2.INTER_AREA).astype(int)
    assert np.abs(found - theirs).max() <= 1
    assert (found != theirs).mean() < 0.002  # ties, which floats cannot tell
