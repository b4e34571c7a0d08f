# SPDX-License-Identifier: Apache-2.0
"""The mutants that ``mutate.py`` applies: wrong code that tests must notice.

A name is the area of the code and what is wrong. ``before`` occurs exactly once in the
file, which a test checks, so a change of the code updates the list.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mutants.bindings import BINDINGS
from mutants.core import CORE
from mutants.federation import FEDERATION
from mutants.lf import LF
from mutants.program import PROGRAM
from mutants.rl_algorithms import RL_ALGORITHMS
from mutants.rl_envs import RL_ENVS
from mutants.rl_flow import RL_FLOW
from mutants.runtime import RUNTIME
from mutants.stopping import STOPPING

if TYPE_CHECKING:
    from mutants.mutant import Mutant

MUTANTS: Final[tuple[Mutant, ...]] = (
    *CORE,
    *BINDINGS,
    *PROGRAM,
    *RUNTIME,
    *FEDERATION,
    *RL_ALGORITHMS,
    *RL_FLOW,
    *RL_ENVS,
    *LF,
    *STOPPING,
)
