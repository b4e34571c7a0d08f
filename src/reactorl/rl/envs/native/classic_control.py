# SPDX-License-Identifier: Apache-2.0
"""Gymnasium's classic control: how their states and parameters are read and written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from reactorl.rl.envs.native.foreign import ForeignError, NotYetError
from reactorl.rl.envs.native.kind import (
    Kind,
    array_state,
    divisors,
    flag,
    parameters,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

_PACKAGE: Final = "gymnasium.envs.classic_control"
_BOUNDS: Final = f"{_PACKAGE}.utils:maybe_parse_reset_bounds"
_DRAWING: Final = frozenset(
    {"screen", "clock", "isopen", "surf", "screen_width", "screen_height"}
)


class CartPole(Kind):
    """``CartPoleEnv``."""

    body = "CartPole"
    entry = f"{_PACKAGE}.cartpole:CartPoleEnv"
    sources = (entry, _BOUNDS)
    actions, width = 2, 4
    _names = (
        "gravity",
        "masspole",
        "total_mass",
        "length",
        "polemass_length",
        "force_mag",
        "tau",
    )
    _thresholds = ("theta_threshold_radians", "x_threshold")
    attributes = (
        _DRAWING
        | {*_names, *_thresholds, "masscart", "kinematics_integrator"}
        | {"_sutton_barto_reward", "state", "steps_beyond_terminated"}
    )

    def read(self, core: Any) -> list[float]:  # noqa: ANN401
        """Return the numbers of the body."""
        divisors(core, "total_mass", "length")
        state = array_state(core, 4, (np.float64,))
        beyond = core.steps_beyond_terminated
        if beyond is not None and type(beyond) is not int:
            raise NotYetError
        return [
            *state.tolist(),
            -1.0 if beyond is None else float(beyond),
            flag(core, "_sutton_barto_reward"),
            *parameters(core, self._names),
            float(core.kinematics_integrator == "euler"),
            *parameters(core, self._thresholds),
        ]

    def write(self, core: Any, numbers: Sequence[float]) -> None:  # noqa: ANN401
        """Write the state."""
        core.state = np.array(numbers[:4])
        beyond = numbers[4]
        core.steps_beyond_terminated = None if beyond < 0 else int(beyond)


class MountainCar(Kind):
    """``MountainCarEnv``."""

    body = "MountainCar"
    entry = f"{_PACKAGE}.mountain_car:MountainCarEnv"
    sources = (entry, _BOUNDS)
    actions, width = 3, 2
    _names = (
        "min_position",
        "max_position",
        "max_speed",
        "goal_position",
        "goal_velocity",
        "force",
        "gravity",
    )
    attributes = _DRAWING | {*_names, "low", "high", "state"}

    def read(self, core: Any) -> list[float]:  # noqa: ANN401
        """Return the numbers of the body."""
        state = vars(core).get("state")
        if type(state) is tuple:
            if len(state) != 2 or type(state[0]) not in (float, np.float64):
                raise NotYetError
            has_hit = type(state[1]) is int and state[1] == 0
            if not has_hit and type(state[1]) not in (float, np.float64):
                raise NotYetError
            numbers = [float(state[0]), float(state[1]), 1.0, float(has_hit)]
        else:
            found = array_state(core, 2, (np.float64,))
            numbers = [*found.tolist(), 0.0, 0.0]
        return [*numbers, *parameters(core, self._names)]

    def write(self, core: Any, numbers: Sequence[float]) -> None:  # noqa: ANN401
        """Write the state: an array after a reset, a tuple after a step."""
        position, velocity, has_stepped, has_hit = numbers[:4]
        if not has_stepped:
            core.state = np.array([position, velocity])
            return
        core.state = (np.float64(position), 0 if has_hit else np.float64(velocity))


class MountainCarContinuous(Kind):
    """``Continuous_MountainCarEnv``."""

    body = "MountainCarContinuous"
    entry = f"{_PACKAGE}.continuous_mountain_car:Continuous_MountainCarEnv"
    sources = (entry, _BOUNDS)
    actions, width = None, 2
    _names = (
        "min_action",
        "max_action",
        "min_position",
        "max_position",
        "max_speed",
        "goal_position",
        "goal_velocity",
        "power",
    )
    attributes = _DRAWING | {*_names, "low_state", "high_state", "state"}

    def read(self, core: Any) -> list[float]:  # noqa: ANN401
        """Return the numbers of the body."""
        state = array_state(core, 2, (np.float64, np.float32))
        single = float(state.dtype == np.float32)
        found = parameters(core, self._names)
        if found[0] > found[1]:
            msg = "min_action is above max_action"
            raise ForeignError(msg)
        return [*state.tolist(), single, *found]

    def write(self, core: Any, numbers: Sequence[float]) -> None:  # noqa: ANN401
        """Write the state: float64 after a reset, float32 after a step."""
        dtype = np.float32 if numbers[2] else np.float64
        core.state = np.array(numbers[:2], dtype=dtype)


class Pendulum(Kind):
    """``PendulumEnv``."""

    body = "Pendulum"
    entry = f"{_PACKAGE}.pendulum:PendulumEnv"
    sources = (
        entry,
        f"{_PACKAGE}.pendulum:angle_normalize",
        f"{_PACKAGE}.pendulum:DEFAULT_X",
        f"{_PACKAGE}.pendulum:DEFAULT_Y",
    )
    actions, width = None, 3
    _names = ("g", "m", "l", "dt", "max_speed", "max_torque")
    attributes = _DRAWING | {*_names, "screen_dim", "state", "last_u"}

    def read(self, core: Any) -> list[float]:  # noqa: ANN401
        """Return the numbers of the body."""
        divisors(core, "m", "l")
        state = array_state(core, 2, (np.float64,))
        torque = core.last_u
        if torque is not None and type(torque) is not np.float32:
            raise NotYetError
        held = [0.0, 0.0] if torque is None else [float(torque), 1.0]
        return [*state.tolist(), *held, *parameters(core, self._names)]

    def write(self, core: Any, numbers: Sequence[float]) -> None:  # noqa: ANN401
        """Write the state."""
        core.state = np.array(numbers[:2])
        core.last_u = np.float32(numbers[2]) if numbers[3] else None


class Acrobot(Kind):
    """``AcrobotEnv``; its parameters are attributes of the class."""

    body = "Acrobot"
    entry = f"{_PACKAGE}.acrobot:AcrobotEnv"
    sources = (
        entry,
        f"{_PACKAGE}.acrobot:wrap",
        f"{_PACKAGE}.acrobot:bound",
        f"{_PACKAGE}.acrobot:rk4",
        _BOUNDS,
    )
    actions, width = 3, 6
    _names = (
        "LINK_LENGTH_1",
        "LINK_MASS_1",
        "LINK_MASS_2",
        "LINK_COM_POS_1",
        "LINK_COM_POS_2",
        "LINK_MOI",
        "MAX_VEL_1",
        "MAX_VEL_2",
        "dt",
        "torque_noise_max",
    )
    attributes = _DRAWING | {
        *_names,
        "LINK_LENGTH_2",
        "AVAIL_TORQUE",
        "book_or_nips",
        "state",
    }

    def read(self, core: Any) -> list[float]:  # noqa: ANN401
        """Return the numbers of the body."""
        state = array_state(core, 4, (np.float64, np.float32))
        torques = core.AVAIL_TORQUE
        if type(torques) not in (list, tuple) or len(torques) != 3:
            msg = f"AVAIL_TORQUE is {torques!r}, not a list of three numbers"
            raise ForeignError(msg)
        for torque in torques:
            if type(torque) not in (float, int):
                msg = f"a torque is {torque!r}, not a Python number"
                raise ForeignError(msg)
        return [
            *state.tolist(),
            float(state.dtype == np.float64),
            *parameters(core, self._names),
            float(core.book_or_nips != "nips"),
            *map(float, torques),
            0.0,
        ]

    def write(self, core: Any, numbers: Sequence[float]) -> None:  # noqa: ANN401
        """Write the state: float32 after a reset, float64 after a step."""
        dtype = np.float64 if numbers[4] else np.float32
        core.state = np.array(numbers[:4], dtype=dtype)


CLASSIC_CONTROL: Final[tuple[type[Kind], ...]] = (
    CartPole,
    MountainCar,
    MountainCarContinuous,
    Pendulum,
    Acrobot,
)
