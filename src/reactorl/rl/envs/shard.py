# SPDX-License-Identifier: Apache-2.0
"""Environments that are together on one thread, or in one process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from reactorl.rl.envs._stepping import StepperGroup
from reactorl.rl.envs.buffer_pool import HOME
from reactorl.rl.envs.commands import Answer, Reset, Step
from reactorl.rl.envs.errors import EnvError
from reactorl.rl.envs.sub_env import SubEnv
from reactorl.rl.envs.timeout import no_guard

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from reactorl.rl.envs.commands import Actions, Command
    from reactorl.rl.envs.factory import Maker
    from reactorl.rl.envs.sub_env import Infos, Rules
    from reactorl.rl.envs.timeout import Guard

    Replies = dict[int, Any]
    """By index; those who have nothing to say are missing."""


class EnvShard:
    """Some of the environments of a vector, made by whoever makes this.

    An environment that cannot be made replies so to every command.

    Args:
        makers: Make the environments, by index.
        rules: What holds for all of them.
        guard: Returns what breaks off what takes too long, for one each.
    """

    def __init__(
        self,
        makers: Mapping[int, Maker],
        rules: Rules,
        guard: Callable[[], Guard] = no_guard,
    ) -> None:
        self.seats: list[SubEnv] = []
        self.unmade: dict[int, EnvError] = {}
        self._place = HOME
        seat = rules.seat or SubEnv
        for index, maker in makers.items():
            try:
                self.seats.append(seat(index, maker, rules, guard()))
            except EnvError as failure:
                self.unmade[index] = failure
        self._crew = StepperGroup([seat.stepper for seat in self.seats])

    def step(self, actions: Actions) -> Replies:
        """Step all of them."""
        if type(actions) is np.ndarray and actions.ndim > 1:
            actions = actions.copy()  # a row is the environment's own; see ``Step``
        replies: Replies = {}
        first = 0
        while (stop := self._crew.step(first, actions)) is not None:
            at, rest = stop
            seat = self.seats[at]
            try:
                reply: Infos | EnvError = seat.step_on(actions[seat.index], rest)
            except EnvError as failure:
                reply = failure
            if reply:
                replies[seat.index] = reply
            first = at + 1
        return replies

    def land(self, place: int) -> None:
        """Let observations land at a place from now on."""
        if place != self._place:
            self._place = place
            for seat in self.seats:
                seat.land(place)

    def obey(self, command: Command) -> Replies:
        """Let all of them obey a command."""
        if type(command) is Step:
            self.land(command.place)
            return self.step(command.actions)
        if type(command) is Reset:
            self._place = command.place
            for seat in self.seats:
                seat.land(command.place)
        replies: Replies = dict(self.unmade)
        for seat in self.seats:
            reply = self.one(command, seat)
            if reply is not None:
                replies[seat.index] = reply
        return replies

    def one(self, command: Command, seat: SubEnv) -> Any:  # noqa: ANN401
        """Let one of them obey; a failure is a reply, too."""
        try:
            reply = command.apply(seat)
        except EnvError as failure:
            return failure
        if isinstance(reply, Answer) and reply.error is not None:
            reply.error.add_note(f"in environment {seat.index} ({seat.name})")
        return reply

    def close(self) -> None:
        """Close the environments; the first that objects is heard when all are closed.

        Raises:
            EnvError: One raised while it was closed.
        """
        first: EnvError | None = None
        seats, self.seats = self.seats, []
        for seat in seats:
            try:
                seat.close()
            except EnvError as failure:
                first = first or failure
        if first is not None:
            raise first
