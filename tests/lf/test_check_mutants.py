# SPDX-License-Identifier: Apache-2.0
"""``check`` reports errors of randomly mutated programs; it never raises."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from reactorl.lf.diagnostics import Report
from reactorl.lf.loader import check

TESTS = Path(__file__).parents[1]
TOKEN = re.compile(r"\w+|\{=|=\}|->|~>|\s+|.", re.DOTALL)
PROGRAMS = [
    TOKEN.findall(path.read_text(encoding="utf-8"))
    for path in sorted(TESTS.glob("conformance/*/*.lf"))
]
TOKENS = sorted({token for tokens in PROGRAMS for token in tokens if len(token) < 12})
MUTANTS = 250  # per seed


def mutant(rng: random.Random) -> str:
    tokens = list(rng.choice(PROGRAMS))
    for _ in range(rng.choice([1, 1, 2, 3])):
        at, other = rng.randrange(len(tokens)), rng.randrange(len(tokens))
        match rng.choice(["delete", "replace", "insert", "swap", "repeat"]):
            case "delete":
                tokens[at : at + rng.choice([1, 2, 4])] = [" "]
            case "replace":
                tokens[at] = rng.choice(TOKENS)
            case "insert":
                tokens.insert(at, rng.choice(TOKENS))
            case "swap":
                tokens[at], tokens[other] = tokens[other], tokens[at]
            case "repeat":
                tokens[at:at] = tokens[at : at + 30]
    return "".join(tokens)


@pytest.mark.parametrize("seed", range(4))
def test_check_of_mutated_programs_does_not_raise(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    path = tmp_path / "Main.lf"
    failed = 0
    for _ in range(MUTANTS):
        path.write_text(mutant(rng), encoding="utf-8")
        report = Report()
        check(path, report)
        failed += report.failed

    assert failed > MUTANTS // 3  # most mutations break something
