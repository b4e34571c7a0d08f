# SPDX-License-Identifier: Apache-2.0
"""Which observations are images, and where their channels are.

* ``[height, width]``: an image with one channel.
* ``[height, width, channels]`` or ``[channels, height, width]``: the shorter one of the
  first and the last axis has the channels; the last one if both are as long.
* ``[stack, ...]`` with four axes: images of the kind above, stacked; channels of all
  become the channels of one image.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import ModuleType


@dataclass(frozen=True)
class ImageLayout:
    """How the axes of an observation become ``[height, width, channels]``."""

    axes: tuple[int, ...]
    """The order of axes: height, width, and those that have channels."""
    height: int
    width: int
    channels: int

    def channels_last(self, rows: Any, xp: ModuleType) -> Any:  # noqa: ANN401
        """Return images ``[row, height, width, channels]``."""
        order = (0, *(axis + 1 for axis in self.axes))
        rows = xp.transpose(rows, order)
        return rows.reshape(len(rows), self.height, self.width, self.channels)


def image_layout(shape: tuple[int, ...]) -> ImageLayout | None:
    """Return the layout of an observation, None if it cannot be an image."""
    if len(shape) not in (2, 3, 4):
        return None
    stack = tuple(range(len(shape) - 3))
    first = len(stack)
    channel: tuple[int, ...]
    if len(shape) == 2:
        height, width, channel = 0, 1, ()
    elif shape[first] < shape[-1]:
        height, width, channel = first + 1, first + 2, (first,)
    else:
        height, width, channel = first, first + 1, (first + 2,)
    others = (*stack, *channel)
    channels = 1
    for axis in others:
        channels *= shape[axis]
    return ImageLayout((height, width, *others), shape[height], shape[width], channels)
