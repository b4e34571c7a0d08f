# SPDX-License-Identifier: Apache-2.0
"""Convolutional networks against loops, and their gradients against differences."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from reactorl.rl import FlowError
from reactorl.rl.algorithms.networks.cnn import (
    CNN,
    NATURE_CNN,
    SMALL_CNN,
    ImpalaCNN,
    convolve,
    max_pool,
)
from reactorl.rl.algorithms.networks.images import image_layout
from reactorl.rl.flow.encoding import network_input


def generator(seed: int = 1) -> Any:
    return np.random.Generator(np.random.PCG64(seed))


def looped(layer: Any, images: Any, stride: int, padding: int) -> Any:
    """Return a convolution, one product after the other."""
    around = (padding, padding)
    images = np.pad(images, ((0, 0), around, around, (0, 0)))
    count, height, width, _ = images.shape
    kernel, filters = layer["w"].shape[0], layer["w"].shape[3]
    down, right = (height - kernel) // stride + 1, (width - kernel) // stride + 1
    found = np.zeros((count, down, right, filters))
    for row in range(down):
        for column in range(right):
            top, left = row * stride, column * stride
            patch = images[:, top : top + kernel, left : left + kernel]
            for place in range(filters):
                product = patch * layer["w"][..., place]
                found[:, row, column, place] = product.sum((1, 2, 3))
    return found + layer["b"]


@pytest.mark.parametrize("xp", [np, jnp], ids=["numpy", "jax"])
@pytest.mark.parametrize(
    ("size", "kernel", "stride", "padding"),
    [
        ((7, 7), 3, 1, 0),
        ((9, 8), 3, 2, 0),
        ((10, 13), 4, 3, 0),
        ((5, 6), 3, 1, 1),
        ((20, 21), 8, 4, 0),
        ((9, 8), 4, 2, 1),
        ((7, 9), 3, 3, 0),
    ],
)
def test_convolution_equals_loops(
    xp: Any, size: tuple[int, int], kernel: int, stride: int, padding: int
) -> None:
    random = generator()
    images = random.standard_normal((2, *size, 3)).astype(np.float32)
    layer = {
        "w": random.standard_normal((kernel, kernel, 3, 4)).astype(np.float32),
        "b": random.standard_normal(4).astype(np.float32),
    }

    found = convolve(layer, images, xp, stride=stride, padding=padding)

    due = looped(layer, images, stride, padding)
    np.testing.assert_allclose(found, due, rtol=1e-4, atol=1e-5)
    theirs = jax.lax.conv_general_dilated(
        images,
        layer["w"],
        (stride, stride),
        [(padding, padding)] * 2,
        dimension_numbers=("NHWC", "HWIO", "NHWC"),
    )
    np.testing.assert_allclose(found, theirs + layer["b"], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("xp", [np, jnp], ids=["numpy", "jax"])
def test_max_pool_equals_hand_computed_numbers(xp: Any) -> None:
    image = np.float32([[1, 2, 3, 4, 5], [9, 8, 7, 6, 5], [-1, -2, -3, -4, -5]])

    found = max_pool(image[None, :, :, None], xp)

    # Neighborhoods of every second pixel, from the corner on; the border counts not.
    assert found.shape == (1, 2, 3, 1)
    np.testing.assert_array_equal(found[0, :, :, 0], [[9, 8, 6], [9, 8, 6]])


@pytest.mark.parametrize(
    ("shape", "layout"),
    [
        ((84, 84, 4), (84, 84, 4)),
        ((4, 84, 84), (84, 84, 4)),
        ((84, 84), (84, 84, 1)),
        ((210, 160, 3), (210, 160, 3)),
        ((10, 10, 10), (10, 10, 10)),
        ((7, 7, 3), (7, 7, 3)),
        ((4, 96, 97, 3), (96, 97, 12)),
        ((4, 3, 96, 97), (96, 97, 12)),
        ((128,), None),
        ((2, 3, 4, 5, 6), None),
    ],
)
def test_layout_finds_the_channels(
    shape: tuple[int, ...], layout: tuple[int, int, int] | None
) -> None:
    found = image_layout(shape)

    assert (found and (found.height, found.width, found.channels)) == layout


def test_frames_first_and_channels_last_give_the_same_features() -> None:
    images = generator().integers(0, 256, (2, 40, 41, 4), dtype=np.uint8)
    params = NATURE_CNN.init(generator(), (40, 41, 4))

    last = NATURE_CNN.apply(params, network_input({}, images, np), np)
    first = np.moveaxis(images, 3, 1)
    found = NATURE_CNN.apply(params, network_input({}, first, np), np)

    assert last.shape == (2, 512)
    np.testing.assert_array_equal(found, last)
    stacked = images.reshape(2, 40, 41, 2, 2).transpose(0, 3, 1, 2, 4)
    found = NATURE_CNN.apply(params, network_input({}, stacked, np), np)
    np.testing.assert_array_equal(found, last)


@pytest.mark.parametrize(
    ("network", "shape", "layers"),
    [
        (NATURE_CNN, (84, 84, 4), [(8, 8, 4, 32), (4, 4, 32, 64), (3, 3, 64, 64)]),
        (SMALL_CNN, (10, 10, 4), [(3, 3, 4, 16), (3, 3, 16, 32)]),
    ],
)
def test_parameters_have_the_published_shapes(
    network: CNN, shape: tuple[int, ...], layers: list[tuple[int, ...]]
) -> None:
    *convolutions, last = network.init(generator(), shape)

    assert [layer["w"].shape for layer in convolutions] == layers
    flat = {512: 7 * 7 * 64, 128: 6 * 6 * 32}[network.features]
    assert last["w"].shape == (flat, network.features)


@pytest.mark.parametrize(
    ("network", "shape"),
    [(SMALL_CNN, (7, 7, 3)), (ImpalaCNN((2, 3), 5), (6, 9, 2)), (NATURE_CNN, (36, 36))],
)
def test_numpy_and_jax_give_the_same_features(
    network: Any, shape: tuple[int, ...]
) -> None:
    rows = generator().standard_normal((3, *shape)).astype(np.float32)
    params = network.init(generator(), shape)

    found = network.apply(params, rows, np)

    assert found.shape == (3, network.size(shape))
    assert (found > 0).any()
    theirs = jax.jit(lambda p, r: network.apply(p, r, jnp))(params, rows)
    np.testing.assert_allclose(found, theirs, rtol=1e-4, atol=1e-5)


def test_impala_cnn_equals_its_definition() -> None:
    """One section, with images as small as possible."""
    network = ImpalaCNN((2,), 3)
    rows = generator(2).standard_normal((2, 4, 4, 1)).astype(np.float32)
    section, last = network.init(generator(), (4, 4, 1))

    found = network.apply([section, last], rows, np)

    def conv(name: str, images: Any) -> Any:
        return looped(section[name], images, 1, 1)

    x = conv("first", rows)
    pooled = np.full((2, 2, 2, 2), -np.inf)
    for row in range(2):
        for column in range(2):
            top, left = max(2 * row - 1, 0), max(2 * column - 1, 0)
            near = x[:, top : 2 * row + 2, left : 2 * column + 2]
            pooled[:, row, column] = near.max((1, 2))
    x = pooled
    for block in ("block0", "block1"):
        x = x + conv(f"{block}b", np.maximum(conv(f"{block}a", np.maximum(x, 0)), 0))
    due = np.maximum(np.maximum(x, 0).reshape(2, -1) @ last["w"] + last["b"], 0)
    np.testing.assert_allclose(found, due, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("network", [CNN(((2, 3, 2),), 3), ImpalaCNN((2,), 3)])
def test_gradients_equal_finite_differences(network: Any) -> None:
    random = generator(3)
    rows = random.standard_normal((2, 5, 5, 2)).astype(np.float32)
    params = network.init(generator(), (5, 5, 2))
    weights = random.standard_normal((2, 3)).astype(np.float32)

    def loss(params: Any) -> Any:
        return (network.apply(params, rows, jnp) * weights).sum()

    gradient = jax.grad(loss)(params)

    wide = jax.tree.map(lambda leaf: leaf.astype(np.float64), params)

    def exact(params: Any) -> float:
        found = network.apply(params, rows.astype(np.float64), np)
        return float((found * weights).sum())

    leaves, structure = jax.tree.flatten(wide)
    for place, found in enumerate(jax.tree.leaves(gradient)):
        for index in list(np.ndindex(found.shape))[::7]:
            each = []
            for step in (1e-6, -1e-6):
                changed = [leaf.copy() for leaf in leaves]
                changed[place][index] += step
                each.append(exact(jax.tree.unflatten(structure, changed)))
            due = (each[0] - each[1]) / 2e-6
            assert found[index] == pytest.approx(due, rel=1e-2, abs=1e-3)


def test_images_that_are_too_small_raise() -> None:
    with pytest.raises(FlowError, match=r"of at least 36x36 pixels .* \[35, 84, 3\]"):
        NATURE_CNN.init(generator(), (35, 84, 3))
    with pytest.raises(FlowError, match=r"must be an image .* got shape \[128\]"):
        ImpalaCNN().init(generator(), (128,))
