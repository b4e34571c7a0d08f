# SPDX-License-Identifier: Apache-2.0
"""What a native body reproduces: a class of Gymnasium, its attributes and its state.

A body has numbers: first its state, then its parameters. A kind reads them from an
environment and writes the state back, in the very form in which Gymnasium keeps it, so
that drawing, saving and stepping in Python continue from there.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np
from gymnasium.spaces import Box, Discrete

from reactorl.rl.envs.native.foreign import ForeignError, NotYetError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reactorl.rl.envs.native._bodies import Table
    from reactorl.rl.envs.observation_buffer import Array
    from reactorl.rl.envs.sub_env import Info

_ENV: Final = frozenset(
    {
        "render_mode",
        "_np_random",
        "_np_random_seed",
        "action_space",
        "observation_space",
        "spec",
    }
)
LARGEST: Final = 2**53
"""Integers up to this one are float64 numbers."""


class Kind(ABC):
    """A class of Gymnasium with a native body."""

    body: ClassVar[str]
    """Name of the body."""
    entry: ClassVar[str]
    """The class, as in the entry points of Gymnasium's ids."""
    sources: ClassVar[tuple[str, ...]]
    """What the body reproduces, besides the class; see ``sources``."""
    actions: int | None
    """Number of actions; None: one number."""
    width: ClassVar[int]
    """Length of an observation of float32 numbers; 0: integers."""
    parts: ClassVar[int] = 1
    """Number of arrays that an observation consists of."""
    attributes: ClassVar[frozenset[str]]
    """Attributes that an environment may have, besides those of every environment."""

    def check(self, core: Any) -> None:  # noqa: ANN401
        """Check that an environment has nothing that the body does not know.

        Raises:
            ForeignError: It has.
        """
        held = vars(core)
        unknown = held.keys() - self.attributes - _ENV
        if unknown:
            msg = f"it has an unknown attribute {min(unknown)!r}"
            raise ForeignError(msg)
        if held.get("render_mode") == "human":
            msg = "it is drawn on the screen in each step"
            raise ForeignError(msg)
        space = held["action_space"]
        if self.actions is None:
            fits = type(space) is Box and space.shape == (1,)
            fits = fits and space.dtype == np.float32
        else:
            fits = type(space) is Discrete and space.start == 0
            fits = fits and space.n == self.actions
        if not fits:
            msg = f"its actions are those of {space}"
            raise ForeignError(msg)

    def generator(self, core: Any) -> Any:  # noqa: ANN401
        """Return the random generator of an environment.

        Raises:
            NotYetError: It has none yet.
            ForeignError: It is of another class.
        """
        found = vars(core).get("_np_random")
        if found is None:
            raise NotYetError
        if type(found) is not np.random.Generator:  # noqa: TID251
            msg = f"its random generator is a {type(found).__qualname__}"
            raise ForeignError(msg)
        return found

    @abstractmethod
    def read(self, core: Any) -> list[float]:  # noqa: ANN401
        """Return the numbers of the body.

        Raises:
            ForeignError: A parameter is not a number.
            NotYetError: The state is not in its usual form.
        """

    @abstractmethod
    def write(self, core: Any, numbers: Sequence[float]) -> None:  # noqa: ANN401
        """Write the state of the body into an environment."""

    def table(self, core: Any) -> Table | None:  # noqa: ANN401
        """Return the table of transitions that all environments of a group share."""
        return None

    def check_table(self, core: Any) -> None:  # noqa: ANN401
        """Check that an environment has the transitions of the table.

        Raises:
            ForeignError: It has others.
        """
        return

    def last(self, arrays: Sequence[Array], at: int) -> Any:  # noqa: ANN401
        """Return the observation in a row, as the environment returns it."""
        row = arrays[0][at]
        return row.copy() if self.width else int(row)

    has_infos: ClassVar[bool] = False
    """Whether infos are not empty."""

    @property
    def masks(self) -> Array | None:
        """The action mask of each observation, an index; None: there are none."""
        return None

    def info(self, transition: int, state: int) -> Info:
        """Return the info of a step."""
        return {}

    def first_info(self, state: int) -> Info:
        """Return the info of a reset."""
        return {}


def parameter(core: Any, name: str) -> float:  # noqa: ANN401
    """Return a number that an environment or its class has.

    Raises:
        ForeignError: It is not a finite float, or an integer that a float can hold.
    """
    value = getattr(core, name)
    kind = type(value)
    if kind is float or kind is np.float64:
        if math.isfinite(value):
            return float(value)
    elif kind is int and abs(value) <= LARGEST:
        return float(value)
    msg = f"{name} is {value!r}, not a finite Python number"
    raise ForeignError(msg)


def divisors(core: Any, *names: str) -> None:  # noqa: ANN401
    """Check numbers by which a step divides: Python raises or warns for zero.

    Raises:
        ForeignError: One is zero.
    """
    for name in names:
        if parameter(core, name) == 0:
            msg = f"{name} is zero"
            raise ForeignError(msg)


def parameters(core: Any, names: Sequence[str]) -> list[float]:  # noqa: ANN401
    """Return numbers that an environment or its class has."""
    return [parameter(core, name) for name in names]


def flag(core: Any, name: str) -> float:  # noqa: ANN401
    """Return whether an attribute counts as true."""
    value = getattr(core, name)
    if type(value) not in (bool, int):
        msg = f"{name} is {value!r}, not a bool"
        raise ForeignError(msg)
    return float(bool(value))


def array_state(core: Any, size: int, dtypes: Sequence[Any]) -> Array:  # noqa: ANN401
    """Return a state that is an array.

    Raises:
        NotYetError: It is not, or it has another form.
    """
    state = vars(core).get("state")
    if type(state) is not np.ndarray or state.shape != (size,):
        raise NotYetError
    if state.dtype not in dtypes or not np.isfinite(state).all():
        raise NotYetError
    return state
