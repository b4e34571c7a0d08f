# SPDX-License-Identifier: Apache-2.0
"""Small programs with the traces that the rules of reactors prescribe, by name.

``RULES`` is run against the oracle and against the runtime alike.
"""

from tests.programs import (
    actions,
    classes,
    connections,
    modal_actions,
    modal_connections,
    modes,
    ports,
    timing,
)
from tests.programs.ports import Diamond
from tests.programs.rule import RULES, Rule

__all__ = [
    "RULES",
    "Diamond",
    "Rule",
    "actions",
    "classes",
    "connections",
    "modal_actions",
    "modal_connections",
    "modes",
    "ports",
    "timing",
]
