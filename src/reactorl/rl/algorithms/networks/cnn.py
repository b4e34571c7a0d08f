# SPDX-License-Identifier: Apache-2.0
"""Convolutional networks.

A convolution is a product of two matrices: the patches of all images, and the filters.
XLA compiles convolutions inside loops, such as the loop over minibatches, to code for
CPUs that is ten times slower than this. Patches of large strides are not copied: see
``_convolve_blocks``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from reactorl.rl.algorithms.networks.images import ImageLayout, image_layout
from reactorl.rl.algorithms.networks.layers import make_layer, orthogonal
from reactorl.rl.algorithms.networks.mlp import apply_hidden
from reactorl.rl.algorithms.networks.network import Network
from reactorl.rl.flow.algorithm import FlowError

if TYPE_CHECKING:
    from types import ModuleType

_GAIN = float(np.sqrt(2))


def make_convolution(
    random: Any,  # noqa: ANN401
    kernel: int,
    channels: int,
    filters: int,
    scale: float = _GAIN,
) -> dict[str, Any]:
    """Return filters ``w`` ``[row, column, channel, filter]`` and a bias of 0."""
    matrix = orthogonal(random, kernel * kernel * channels, filters, scale)
    weights = matrix.reshape(kernel, kernel, channels, filters)
    return {"w": weights, "b": np.zeros(filters, np.float32)}


def convolve(
    layer: dict[str, Any],
    images: Any,  # noqa: ANN401
    xp: ModuleType,
    *,
    stride: int = 1,
    padding: int = 0,
) -> Any:  # noqa: ANN401
    """Return the convolution of images ``[row, height, width, channel]``.

    The border is padded with zeros, by so many pixels on each side.
    """
    weights = layer["w"]
    kernel, filters = weights.shape[0], weights.shape[3]
    if padding:
        around = (padding, padding)
        images = xp.pad(images, ((0, 0), around, around, (0, 0)))
    if stride > 1 and kernel % stride == 0:
        return _convolve_blocks(weights, images, xp, stride) + layer["b"]
    shifted = _windows(images, kernel, stride)
    count, height, width = shifted[0].shape[:3]
    patches = xp.concatenate(shifted, axis=3).reshape(count * height * width, -1)
    found = patches @ weights.reshape(-1, filters) + layer["b"]
    return found.reshape(count, height, width, filters)


def _convolve_blocks(weights: Any, images: Any, xp: ModuleType, stride: int) -> Any:  # noqa: ANN401
    """Return the convolution with a kernel of whole blocks of ``stride`` pixels.

    Images become images of blocks, where the stride is 1. Every block is multiplied by
    all parts of the filters at once, and the products that belong together are added.
    So each pixel is read once, where overlapping patches hold it several times.
    """
    kernel, _, channels, filters = weights.shape
    count, height, width, _ = images.shape
    per_side = kernel // stride
    down, right = (height - kernel) // stride + 1, (width - kernel) // stride + 1
    rows, columns = down + per_side - 1, right + per_side - 1
    size = stride * stride * channels
    blocks = images[:, : rows * stride, : columns * stride]
    blocks = blocks.reshape(count, rows, stride, columns, stride, channels)
    blocks = blocks.transpose(0, 1, 3, 2, 4, 5).reshape(-1, size)
    parts = weights.reshape(per_side, stride, per_side, stride, channels, filters)
    parts = parts.transpose(1, 3, 4, 0, 2, 5).reshape(size, -1)
    products = (blocks @ parts).reshape(count, rows, columns, -1, filters)
    first, *rest = [
        products[:, row : row + down, column : column + right, row * per_side + column]
        for row in range(per_side)
        for column in range(per_side)
    ]
    for shifted in rest:
        first = first + shifted
    return first


def max_pool(images: Any, xp: ModuleType) -> Any:  # noqa: ANN401
    """Return the maximum of every second 3x3 neighborhood: half the height and width.

    The border is padded with the smallest number, by one pixel.
    """
    lowest = float(np.finfo(np.float32).min)
    around = (1, 1)
    padded = xp.pad(
        images, ((0, 0), around, around, (0, 0)), constant_values=xp.float32(lowest)
    )
    first, *rest = _windows(padded, 3, 2)
    for shifted in rest:
        first = xp.maximum(first, shifted)
    return first


def _windows(images: Any, kernel: int, stride: int) -> list[Any]:  # noqa: ANN401
    """Return for each pixel of a kernel the pixels that it meets on the images."""
    _, height, width, _ = images.shape
    down = (height - kernel) // stride * stride + 1
    right = (width - kernel) // stride * stride + 1
    return [
        images[:, row : row + down : stride, column : column + right : stride]
        for row in range(kernel)
        for column in range(kernel)
    ]


@dataclass(frozen=True)
class CNN(Network):
    """Convolutions without padding, and one fully connected layer; all with ReLU.

    Attributes:
        filters: Number of filters, kernel size and stride of each convolution.
        features: Size of the fully connected layer.
    """

    filters: tuple[tuple[int, int, int], ...]
    features: int

    @property
    def smallest(self) -> int:
        """The smallest height and width of an image."""
        size = 1
        for _, kernel, stride in reversed(self.filters):
            size = (size - 1) * stride + kernel
        return size

    def check(self, shape: tuple[int, ...]) -> None:
        """Check that observations are images that are large enough."""
        _layout(shape, self.smallest)

    def init(self, random: Any, shape: tuple[int, ...]) -> list[Any]:  # noqa: ANN401
        """Return new parameters."""
        layout = _layout(shape, self.smallest)
        height, width, channels = layout.height, layout.width, layout.channels
        params = []
        for filters, kernel, stride in self.filters:
            params.append(make_convolution(random, kernel, channels, filters))
            height = (height - kernel) // stride + 1
            width = (width - kernel) // stride + 1
            channels = filters
        flat = height * width * channels
        return [*params, make_layer(random, flat, self.features, _GAIN)]

    def size(self, shape: tuple[int, ...]) -> int:
        """Return the number of features."""
        return self.features

    def apply(self, params: list[Any], rows: Any, xp: ModuleType) -> Any:  # noqa: ANN401
        """Return the features of each image."""
        *convolutions, last = params
        rows = _layout(rows.shape[1:], self.smallest).channels_last(rows, xp)
        for layer, (_, _, stride) in zip(convolutions, self.filters, strict=True):
            rows = xp.maximum(convolve(layer, rows, xp, stride=stride), 0)
        return apply_hidden([last], rows.reshape(len(rows), -1), xp, "relu")


NATURE_CNN = CNN(((32, 8, 4), (64, 4, 2), (64, 3, 1)), 512)
"""The network of DQN for Atari games (Mnih et al., 2015)."""
A3C_CNN = CNN(((16, 8, 4), (32, 4, 2)), 256)
"""The network of the first DQN (Mnih et al., 2013) and of A3C (Mnih et al., 2016): a
third of the multiplications of ``NATURE_CNN``, for machines without a GPU."""
SMALL_CNN = CNN(((16, 3, 1), (32, 3, 1)), 128)
"""For small grids, such as those of MinAtar."""


@dataclass(frozen=True)
class ImpalaCNN(Network):
    """The residual network of IMPALA (Espeholt et al., 2018).

    Each section has a convolution, max pooling, and two residual blocks of two
    convolutions; all kernels are 3x3.

    Attributes:
        filters: Number of filters of each section.
        features: Size of the fully connected layer at the end.
    """

    filters: tuple[int, ...] = (16, 32, 32)
    features: int = 256

    def check(self, shape: tuple[int, ...]) -> None:
        """Check that observations are images."""
        _layout(shape, 2)

    def init(self, random: Any, shape: tuple[int, ...]) -> list[Any]:  # noqa: ANN401
        """Return new parameters."""
        layout = _layout(shape, 2)
        height, width, channels = layout.height, layout.width, layout.channels
        params: list[Any] = []
        for filters in self.filters:
            # Blocks add to their input: a smaller gain keeps the sum at its scale.
            section = {"first": make_convolution(random, 3, channels, filters)}
            for block in ("block0", "block1"):
                for place in ("a", "b"):
                    section[f"{block}{place}"] = make_convolution(
                        random, 3, filters, filters, 1.0
                    )
            params.append(section)
            height, width, channels = -(-height // 2), -(-width // 2), filters
        flat = height * width * channels
        return [*params, make_layer(random, flat, self.features, _GAIN)]

    def size(self, shape: tuple[int, ...]) -> int:
        """Return the number of features."""
        return self.features

    def apply(self, params: list[Any], rows: Any, xp: ModuleType) -> Any:  # noqa: ANN401
        """Return the features of each image."""
        *sections, last = params
        rows = _layout(rows.shape[1:], 2).channels_last(rows, xp)
        for section in sections:
            rows = max_pool(convolve(section["first"], rows, xp, padding=1), xp)
            for block in ("block0", "block1"):
                inner = xp.maximum(rows, 0)
                inner = convolve(section[f"{block}a"], inner, xp, padding=1)
                inner = xp.maximum(inner, 0)
                rows = rows + convolve(section[f"{block}b"], inner, xp, padding=1)
        rows = xp.maximum(rows, 0).reshape(len(rows), -1)
        return apply_hidden([last], rows, xp, "relu")


def _layout(shape: tuple[int, ...], smallest: int) -> ImageLayout:
    layout = image_layout(tuple(shape))
    if layout is None or min(layout.height, layout.width) < smallest:
        shown = list(shape)
        msg = (
            f"observation must be an image of at least {smallest}x{smallest} pixels "
            f"for this network, got shape {shown}"
        )
        raise FlowError(msg, 'Use network="mlp", or "auto".')
    return layout
