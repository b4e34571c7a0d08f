"""Work on pictures. Use `reactorl.rl.wrappers.resize`."""

from typing import Annotated

import numpy
from numpy.typing import NDArray


class AreaMean:
    """Shrinks pictures of one shape by area."""

    def __init__(self, *, height: int, width: int, channels: int, new_height: int, new_width: int) -> None: ...

    def __call__(self, picture: Annotated[NDArray[numpy.uint8], dict(order='C', device='cpu', writable=False)], result: Annotated[NDArray[numpy.uint8], dict(order='C', device='cpu')]) -> None:
        """Write a picture in its new size into the result."""
