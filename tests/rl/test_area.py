# SPDX-License-Identifier: Apache-2.0
"""Pictures are made smaller by averaging areas, as OpenCV does."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reactorl.rl.area import AreaResize

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


@pytest.mark.parametrize("size", [(21, 5), (5, 21), (0, 5), (5, 0)])
def test_pictures_are_not_made_larger(size: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match=f"20x20 can be made smaller, not {size[0]}x"):
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
