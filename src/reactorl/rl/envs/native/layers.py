# SPDX-License-Identifier: Apache-2.0
"""The wrappers of ``gymnasium.make`` around an environment.

``TimeLimit``, ``OrderEnforcing`` and ``PassiveEnvChecker``, in this order, each at most
once. The checker looks at the first reset and the first two steps; these are done in
Python.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from gymnasium.wrappers import OrderEnforcing, PassiveEnvChecker, TimeLimit

from reactorl.rl.envs.native.foreign import ForeignError, NotYetError

_BASE: Final = frozenset(
    {
        "env",
        "_saved_kwargs",
        "_action_space",
        "_observation_space",
        "_metadata",
        "_cached_spec",
    }
)
_KNOWN: Final[dict[type, frozenset[str]]] = {
    TimeLimit: _BASE | {"_max_episode_steps", "_elapsed_steps"},
    OrderEnforcing: _BASE | {"_has_reset", "_disable_render_order_enforcing"},
    PassiveEnvChecker: _BASE
    | {
        "checked_reset",
        "checked_step",
        "checked_render",
        "close_called",
        "checked_data_reuse",
        "_previous_data",
    },
}


@dataclass(frozen=True, slots=True)
class Layers:
    """An environment and its wrappers."""

    core: Any
    """The environment without wrappers."""
    limit: Any
    """The wrapper TimeLimit, if there is one."""
    order: Any
    checker: Any

    @classmethod
    def of(cls, env: Any) -> Layers:  # noqa: ANN401
        """Return the layers of an environment.

        Raises:
            ForeignError: There is another wrapper, or in another order.
        """
        found: dict[type, Any] = {}
        for kind in _KNOWN:
            if kind is type(env):
                found[kind] = env
                env = vars(env)["env"]
        if type(env) in _KNOWN or "env" in vars(env):
            msg = f"the wrapper {type(env).__qualname__} is not known in that place"
            raise ForeignError(msg)
        each = [found.get(kind) for kind in _KNOWN]
        return cls(env, *each)

    def check(self) -> None:
        """Check that nothing is unusual.

        Raises:
            ForeignError: A wrapper has attributes that are not known.
            NotYetError: The environment has not been reset, or is still checked.
        """
        for wrapper in (self.limit, self.order, self.checker):
            if wrapper is None:
                continue
            unknown = vars(wrapper).keys() - _KNOWN[type(wrapper)]
            if unknown:
                kind = type(wrapper).__qualname__
                msg = f"{kind} has an unknown attribute {min(unknown)!r}"
                raise ForeignError(msg)
        if self.order is not None and self.order._has_reset is not True:
            raise NotYetError
        checker = self.checker
        if checker is not None and not (
            checker.checked_reset is True
            and checker.checked_step is True
            and getattr(checker, "checked_data_reuse", True) is True
        ):
            raise NotYetError
        if self.limit is not None:
            if type(self.limit._elapsed_steps) is not int:
                raise NotYetError
            if type(self.limit._max_episode_steps) is not int:
                msg = "max_episode_steps is not an int"
                raise ForeignError(msg)
            if self.limit._max_episode_steps < 1:
                msg = "max_episode_steps is not positive"
                raise ForeignError(msg)

    @property
    def elapsed(self) -> int:
        """Steps of the episode, as the time limit counts them."""
        return 0 if self.limit is None else int(self.limit._elapsed_steps)

    @property
    def max_steps(self) -> int:
        """Steps after which an episode is truncated; 0: no limit."""
        return 0 if self.limit is None else int(self.limit._max_episode_steps)

    def put_elapsed(self, elapsed: int) -> None:
        """Write the number of steps of the episode."""
        if self.limit is not None:
            self.limit._elapsed_steps = elapsed
