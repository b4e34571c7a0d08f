# SPDX-License-Identifier: Apache-2.0
"""What can go wrong with an environment, as data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reactorl import ReactorlError
from reactorl.rl._public import public

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["EnvError", "SharedStateError", "stamped"]


@public
class EnvError(ReactorlError):
    """An environment raised, hung, died, or returned what it may not.

    The original exception is ``__cause__`` where it happened in this process.

    Attributes:
        index: Which environment of the vector.
        env: What it calls itself.
        step: How many steps it had begun; 0 if it failed before the first.
        tag: The tag at which it failed, elapsed; empty if there was none yet.
        what: What happened, e.g. ``ValueError: bad action``.
        trace: The traceback as text, if there is one.
        deed: ``"reset"`` or ``"close"`` if that failed; empty: a step, or being made.
    """

    def __init__(
        self,
        index: int,
        env: str,
        step: int,
        tag: str,
        what: str,
        trace: str = "",
        deed: str = "",
    ) -> None:
        super().__init__(index, env, step, tag, what, trace, deed)
        self.index = index
        self.env = env
        self.step = step
        self.tag = tag
        self.what = what
        self.trace = trace
        self.deed = deed

    def at(self, tag: str) -> EnvError:
        """Return it with the tag at which it happened."""
        found = EnvError(
            self.index, self.env, self.step, tag, self.what, self.trace, self.deed
        )
        found.__cause__ = self.__cause__
        return found

    def __str__(self) -> str:
        when = f"in step {self.step}" if self.step else "before its first step"
        if self.deed:
            after = f"after step {self.step}" if self.step else when
            when = f"in a {self.deed} {after}"
        at = f", tag {self.tag}" if self.tag else ""
        text = f"environment {self.index} ({self.env}) failed {when}{at}: {self.what}"
        if self.trace and self.__cause__ is None:
            text += f"\n\nIts own traceback:\n{self.trace.rstrip()}"
        return text


def stamped(reply: Any, tag: Callable[[], str]) -> Any:  # noqa: ANN401
    """Return a reply whose failures say at which tag they happened.

    Args:
        reply: A failure; or infos, where the log of a restart becomes a text; or what
            an environment with several agents says, whose infos are by agent.
        tag: Returns the tag at which it was given; asked only if something failed.
    """
    if type(reply) is tuple:
        for info in reply:
            if "failure" in info or "final_info" in info:
                return tuple([_stamped_info(info, tag) for info in reply])
        return reply
    if isinstance(reply, EnvError):
        return reply.at(tag())
    if getattr(reply, "restarted", False):
        infos = {agent: _stamped_info(each, tag) for agent, each in reply.infos.items()}
        return reply._replace(infos=infos)
    return reply


def _stamped_info(info: dict[str, Any], tag: Callable[[], str]) -> dict[str, Any]:
    failure = info.get("failure")
    if isinstance(failure, EnvError):
        info = {**info, "failure": str(failure.at(tag()))}
    final = info.get("final_info")
    if type(final) is dict and isinstance(final.get("failure"), EnvError):
        info = {**info, "final_info": _stamped_info(final, tag)}
    return info


@public
class SharedStateError(ReactorlError):
    """Environments that give other results among others than alone.

    Found by ``VectorEnv(..., check=True)``.

    Attributes:
        alone: Indices of environments that differ even from themselves, run alone.
        among: Indices of environments that differ once others run, too.
        first: For each of these, the first step at which they differ.
    """

    def __init__(
        self,
        alone: tuple[int, ...],
        among: tuple[int, ...],
        first: tuple[tuple[int, int], ...],
    ) -> None:
        super().__init__(alone, among, first)
        self.alone = alone
        self.among = among
        self.first = first

    def __str__(self) -> str:
        steps = dict(self.first)
        lines = []
        if self.alone:
            lines.append(
                "not repeatable, even alone with one seed: "
                f"{_listed(self.alone, steps)}"
            )
        if self.among:
            lines.append(
                "share hidden global state, and differ when others run between their "
                f"steps: {_listed(self.among, steps)}"
            )
        return (
            "environments "
            + "; ".join(lines)
            + ". Give each its own random generator and no module-level state, or use "
            "placement='process' with as many workers as environments, and no check."
        )


def _listed(indices: tuple[int, ...], first: dict[int, int]) -> str:
    return ", ".join(f"{i} (from step {first[i]})" for i in indices)
