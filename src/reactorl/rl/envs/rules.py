# SPDX-License-Identifier: Apache-2.0
"""Settings that all sub-environments of a vector or rollout share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from gymnasium.vector import AutoresetMode

if TYPE_CHECKING:
    from collections.abc import Callable

Restart: TypeAlias = Literal["never", "reset", "recreate"]
MAX_ENVS: Final = 1_000_000
"""Sub-environments of a vector or a training; each is an object of Python."""
MAX_TIMEOUT: Final = 1_000_000.0
"""Seconds; the operating system cannot wait for much longer ones."""
RESTARTS: Final[tuple[Restart, ...]] = ("never", "reset", "recreate")
NativeOption: TypeAlias = Literal["auto"] | bool


@dataclass(frozen=True, slots=True)
class Rules:
    """How sub-environments are reset, restarted and checked."""

    autoreset: AutoresetMode = AutoresetMode.NEXT_STEP
    restart: Restart = "never"
    check_nan: bool = False
    timeout: float | None = None
    """Limit for one step or reset, in seconds."""
    sub_env: Callable[..., Any] | None = None
    """Class of the sub-environments; None: ``SubEnv``."""
    resumable: bool = False
    """Whether snapshots are taken of them; see ``snapshot``."""
    native: NativeOption = False
    """Whether Gymnasium's own environments are stepped in native code."""
    sent_infos: frozenset[str] | None = None
    """Keys of infos that a worker process sends; None: all."""

    def check(self) -> None:
        """Check the values.

        Raises:
            TypeError: ``timeout`` is not a number.
            ValueError: ``restart`` or ``native`` is unknown, or ``timeout`` is not
                positive, or longer than 11 days.
        """
        native: object = self.native
        if native != "auto" and not isinstance(native, bool):
            msg = f"native must be 'auto', True or False, got {native!r}"
            raise ValueError(msg)
        if self.restart not in RESTARTS:
            msg = f"restart must be one of {', '.join(RESTARTS)}, got {self.restart!r}"
            raise ValueError(msg)
        timeout: object = self.timeout
        if timeout is None:
            return
        if not isinstance(timeout, int | float):
            msg = f"timeout must be a number of seconds or None, got {timeout!r}"
            raise TypeError(msg)
        if not timeout > 0:
            msg = f"timeout must be above 0 seconds, got {timeout}"
            raise ValueError(msg)
        if timeout > MAX_TIMEOUT:
            msg = (
                f"timeout must be at most {MAX_TIMEOUT:.0f} seconds, or None for no "
                f"limit, got {timeout}"
            )
            raise ValueError(msg)
