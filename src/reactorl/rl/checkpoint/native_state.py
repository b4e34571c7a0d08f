# SPDX-License-Identifier: Apache-2.0
"""The state of simulators that can save it themselves: ALE and MuJoCo.

Objects are recognized by the names of their classes, so that nothing is imported for
environments that do not use them.

ALE: the system state of the emulator, with its random generator. MuJoCo: the
integration state, and all arrays of fixed size: rewards and observations read values
that the last step computed from the position *before* it, and ``mj_forward`` would
compute others. Contacts and constraints are computed anew by every step. Of a model
the small arrays are stored, which environments change (the place of a goal, a mass),
and a checksum of the rest, which must match.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from reactorl.rl.checkpoint.object_graph import class_name

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from reactorl.rl.checkpoint.registry import Data

    Array: TypeAlias = np.ndarray[Any, Any]

MAX_CHANGED: Final = 1_024
"""Numbers of an array of a model that is stored; larger ones are meshes, textures."""


def native_state(value: object) -> tuple[str, Data] | None:
    """Return the name of a simulator and its state; None if it is not a known one."""
    for name, (known, save, _) in _SIMULATORS.items():
        if class_name(type(value)) in known:
            return name, save(value)
    return None


def restore_native(name: str, state: Data, held: object, where: str) -> None:
    """Restore the state of a simulator in one of the same kind.

    Args:
        name: From ``native_state``.
        state: From ``native_state``.
        held: The simulator of the new environment.
        where: Its name in an error.

    Raises:
        ValueError: It is of another kind.
    """
    known, _, restore = _SIMULATORS.get(name, ((), None, None))
    if restore is None or class_name(type(held)) not in known:
        msg = f"{where} was a simulator ({name}) and is a {class_name(type(held))}"
        raise ValueError(msg)
    restore(held, state, where)


# -- ALE ------------------------------------------------------------------------------


def _save_ale(ale: Any) -> Data:  # noqa: ANN401
    return np.frombuffer(ale.cloneSystemState().serialize(), np.uint8).copy()


def _restore_ale(ale: Any, state: Data, where: str) -> None:  # noqa: ANN401
    kind = type(ale.cloneSystemState())
    ale.restoreSystemState(kind(np.asarray(state, np.uint8).tobytes()))


# -- MuJoCo ---------------------------------------------------------------------------


def _save_mujoco(data: Any) -> Data:  # noqa: ANN401
    import mujoco

    kind = mujoco.mjtState.mjSTATE_INTEGRATION
    state = np.empty(mujoco.mj_stateSize(data.model, kind))
    mujoco.mj_getState(data.model, data, state, kind)
    # The arrays that a step fills with contacts and constraints are empty at first.
    fixed = {name for name, array in _arrays(mujoco.MjData(data.model)) if array.size}
    arrays = {name: array.copy() for name, array in _arrays(data) if name in fixed}
    return {"integration": state, "arrays": arrays}


def _restore_mujoco(data: Any, state: Data, where: str) -> None:  # noqa: ANN401
    import mujoco

    kind = mujoco.mjtState.mjSTATE_INTEGRATION
    integration = np.array(state["integration"])
    if len(integration) != mujoco.mj_stateSize(data.model, kind):
        msg = f"{where} must have {len(integration)} numbers of state, has others"
        raise ValueError(msg)
    mujoco.mj_setState(data.model, data, integration, kind)
    own = dict(_arrays(data))
    for name, array in state["arrays"].items():
        if name not in own or own[name].shape != array.shape:
            msg = f"{where}.{name} must have shape {array.shape}, got another"
            raise ValueError(msg)
        own[name][...] = array


def _arrays(owner: Any) -> list[tuple[str, Any]]:  # noqa: ANN401
    """Return the arrays of numbers, by name."""
    found = []
    for name in dir(owner):
        if not name.startswith("_"):
            value = getattr(owner, name)
            if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
                found.append((name, value))
    return found


def _save_model(model: Any) -> Data:  # noqa: ANN401
    """Return what environments change (goals, masses), and a checksum of the rest."""
    found = 0
    small: list[dict[str, Array]] = []
    for part in (model, model.opt):
        small.append({})
        for name, array in _arrays(part):
            if array.size <= MAX_CHANGED:
                small[-1][name] = array.copy()
            else:
                found = zlib.crc32(np.ascontiguousarray(array).tobytes(), found)
                found = zlib.crc32(name.encode(), found)
    return {"arrays": small, "timestep": float(model.opt.timestep), "rest": found}


def _restore_model(model: Any, state: Data, where: str) -> None:  # noqa: ANN401
    own = _save_model(model)
    if own["rest"] != state["rest"] or any(
        _shapes(mine) != _shapes(other)
        for mine, other in zip(own["arrays"], state["arrays"], strict=True)
    ):
        msg = f"{where} is another model: its environment makes it anew"
        raise ValueError(msg)
    for part, arrays in zip((model, model.opt), state["arrays"], strict=True):
        for name, array in arrays.items():
            there = getattr(part, name)
            if there.tobytes() != array.tobytes():  # some cannot be written
                there[...] = array
    model.opt.timestep = state["timestep"]


def _shapes(arrays: dict[str, Array]) -> dict[str, tuple[int, ...]]:
    return {name: array.shape for name, array in arrays.items()}


_SIMULATORS: Final[
    dict[
        str,
        tuple[tuple[str, ...], Callable[[Any], Data], Callable[[Any, Data, str], None]],
    ]
] = {
    "ale": (("ale_py._ale_py.ALEInterface",), _save_ale, _restore_ale),
    "mujoco": (("mujoco._structs.MjData",), _save_mujoco, _restore_mujoco),
    "mujoco model": (("mujoco._structs.MjModel",), _save_model, _restore_model),
}
