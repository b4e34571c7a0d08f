# SPDX-License-Identifier: Apache-2.0
"""Evaluation during multi-agent training: all agents act greedily."""

from __future__ import annotations

from typing import Any

from reactorl import MultiInput, reaction
from reactorl.rl.flow.evaluation import Evaluation


class AgentsEvaluation(Evaluation):
    """Evaluates the weights of all agents together."""

    learned = MultiInput[Any]()
    """New weights of each agent, in order; used from the next tag on."""

    @reaction(learned)
    def note(self) -> None:
        """Use these weights in the next evaluation.

        After the steps of this tag, which therefore do not wait for the learners.
        """
        agents = list(self.latest)
        arrived = {agents[k]: port.value for k, port in self.learned.present()}
        self.latest = {**self.latest, **arrived}
