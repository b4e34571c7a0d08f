# SPDX-License-Identifier: Apache-2.0
"""Errors of environments, with the facts as attributes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from reactorl import ReactorlError
from reactorl.rl._public import public

if TYPE_CHECKING:
    from collections.abc import Callable

    from reactorl import Diagnostic

__all__ = [
    "FAILURES",
    "EnvError",
    "ForkedProcessError",
    "SharedStateError",
    "ThreadSafetyError",
    "stamped",
]

FAILURES: Final = (Exception, SystemExit, GeneratorExit)
"""What an environment may raise as its own failure. Ctrl-C is not: it is for the whole
program. The native stepper has the same list."""


@public
class EnvError(ReactorlError):
    """An environment raised, exceeded its timeout, died, or returned an invalid value.

    The original exception is ``__cause__`` if it was raised in this process.

    Attributes:
        index: The index of the environment in its vector.
        env: The id or class of the environment.
        step: Number of steps begun; 0 if it failed before the first.
        tag: The tag of the failure, elapsed; empty if there was none yet.
        what: The cause, e.g. ``ValueError: bad action``.
        trace: The traceback as text, if there is one.
        operation: ``"reset"`` or ``"close"`` if that failed; empty: a step, or the
            construction.
    """

    def __init__(
        self,
        index: int,
        env: str,
        step: int,
        tag: str,
        what: str,
        trace: str = "",
        operation: str = "",
    ) -> None:
        super().__init__(what)
        self.args = (index, env, step, tag, what, trace, operation)
        self.index = index
        self.env = env
        self.step = step
        self.tag = tag
        self.trace = trace
        self.operation = operation

    def at(self, tag: str) -> EnvError:
        """Return a copy with the tag of the failure."""
        found = EnvError(
            self.index, self.env, self.step, tag, self.what, self.trace, self.operation
        )
        found.__cause__ = self.__cause__
        return found

    @property
    def diagnostic(self) -> Diagnostic:
        """The error as data: which environment failed, when, and why."""
        return replace(super().diagnostic, what=str(self))

    def __str__(self) -> str:
        when = f"in step {self.step}" if self.step else "before its first step"
        if self.operation:
            after = f"after step {self.step}" if self.step else when
            when = f"in a {self.operation} {after}"
        at = f", tag {self.tag}" if self.tag else ""
        text = f"environment {self.index} ({self.env}) failed {when}{at}: {self.what}"
        if self.trace and self.__cause__ is None:
            text += f"\n\nIts own traceback:\n{self.trace.rstrip()}"
        return text


def stamped(reply: Any, tag: Callable[[], str]) -> Any:  # noqa: ANN401
    """Return a reply with the tag in its failures.

    Args:
        reply: A failure; or infos, in which the failure of a restart becomes text; or
            the result of a multi-agent step, with infos by agent.
        tag: Returns the tag of the reply; called only if something failed.
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
    """Environments whose results depend on others, or are not reproducible even alone.

    Raised by ``VectorEnv(..., check=True)``.

    Attributes:
        alone: Indices of environments that are not reproducible even alone.
        among: Indices of environments that are reproducible only alone.
        first: For each of these, the first step at which two runs diverge.
    """

    def __init__(
        self,
        alone: tuple[int, ...],
        among: tuple[int, ...],
        first: tuple[tuple[int, int], ...],
    ) -> None:
        super().__init__(_shared(alone, among, dict(first)), remedy=_UNSHARED)
        self.args = (alone, among, first)
        self.alone = alone
        self.among = among
        self.first = first


_UNSHARED = (
    "Give each its own random generator and no module-level state, or use "
    "placement='process' with as many workers as environments, and no check."
)


def _shared(
    alone: tuple[int, ...], among: tuple[int, ...], first: dict[int, int]
) -> str:
    found = []
    if alone:
        found.append(
            f"not reproducible, even alone with one seed: {_listed(alone, first)}"
        )
    if among:
        found.append(
            "share hidden global state, and diverge when others run between their "
            f"steps: {_listed(among, first)}"
        )
    return f"environments {'; '.join(found)}"


def _listed(indices: tuple[int, ...], first: dict[int, int]) -> str:
    return ", ".join(f"{i} (from step {first[i]})" for i in indices)


@public
class ThreadSafetyError(ReactorlError):
    """Environments whose results change if several run concurrently in threads.

    Raised by ``VectorEnv(..., placement="thread", check=True)``; without ``check`` it
    is a ``ReactorlWarning``, if it is known about the environment.

    Attributes:
        env: The id or class of the environment.
        reason: The reason, as a predicate whose subject is the environment.
    """

    def __init__(self, env: str, reason: str) -> None:
        super().__init__(
            f"{env} is not safe in threads: it {reason}",
            remedy="Use placement='process' or 'auto', or workers=1.",
        )
        self.args = (env, reason)
        self.env = env
        self.reason = reason


class ForkedProcessError(ReactorlError):
    """Worker processes or threads are used in a forked child of their owner."""

    def __init__(self) -> None:
        super().__init__(
            "the environments belong to the process that made them, not to its forked "
            "child",
            remedy="Make a vector environment in the child.",
        )
        self.args = ()
