# SPDX-License-Identifier: Apache-2.0
"""Names in the tables of "Coming from RLlib" exist, in Ray and here."""

from __future__ import annotations

import re
from dataclasses import fields
from importlib.util import find_spec
from pathlib import Path

import pytest

import reactorl.rl
from reactorl.rl.flow.flow import FlowOptions

PAGE = Path(__file__).parents[2] / "docs" / "coming-from" / "rllib.md"
MAPPINGS = {
    "AlgorithmConfig, for all algorithms": ("PPO", "DQN"),
    "Model": ("PPO",),
    "PPO": ("PPO",),
    "IMPALA": ("IMPALA",),
    "DQN": ("DQN",),
    "SAC": ("SAC",),
    "EnvRunners and Learners": ("PPO",),
}
"""Headings whose tables map names; the algorithms whose fields ours may be."""
OTHER_NAMES = {"Algorithm", "TorchAlgorithm", "IPPO", "learning_rate_at", "action_mask"}
SOURCES = ("algorithms", "connectors", "core", "env", "utils", "callbacks")


def rows(heading: str) -> list[list[str]]:
    """Return the cells of the table below a heading."""
    text = PAGE.read_text("utf-8")
    _, _, rest = text.partition(f" {heading}\n")
    lines = rest.partition("\n#")[0].splitlines()
    table = [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in lines
        if line.startswith("|")
    ]
    assert len(table) > 5, heading
    return table[2:]


def names(cell: str) -> list[str]:
    """Return the names in a cell; of ``key=value``, the key."""
    found = []
    for text in re.findall(r"`([^`]+)`", cell):
        name = re.match(r"[A-Za-z_]\w*", text)
        if name is not None and not text.startswith(('"', "--")):
            found.append(name[0])
    return found


@pytest.mark.parametrize("heading", MAPPINGS)
def test_names_of_ours_exist(heading: str) -> None:
    algorithms = [getattr(reactorl.rl, name) for name in MAPPINGS[heading]]
    known = {one.name for each in algorithms for one in fields(each)}
    known |= {one.name for one in fields(FlowOptions)}
    known |= {one.name for one in fields(reactorl.rl.Flow)}
    known |= {one.name for one in fields(reactorl.rl.TrainerOptions)}
    known |= {"Flow"} | OTHER_NAMES
    column = 2 if len(rows(heading)[0]) > 3 else 1

    for cells in rows(heading):
        for name in names(cells[column]):
            # A quoted value, such as the name of a network, is no field.
            assert name in known or "-" in cells[column], (heading, name)


@pytest.mark.parametrize("heading", MAPPINGS)
def test_names_of_rllib_exist(heading: str) -> None:
    ray = find_spec("ray")
    if ray is None or ray.origin is None:
        pytest.skip("Ray has no wheels for this Python")
    library = Path(ray.origin).parent / "rllib"
    source = "\n".join(
        file.read_text("utf-8")
        for folder in SOURCES
        for file in sorted((library / folder).rglob("*.py"))
        if "tests" not in file.parts
    )
    words = set(re.findall(r"\w+", source))

    for cells in rows(heading):
        for name in names(cells[0]):
            assert name in words, (heading, name)


@pytest.mark.parametrize("heading", ["PPO", "IMPALA", "DQN", "SAC"])
def test_numbers_of_ours_are_the_defaults(heading: str) -> None:
    default = getattr(reactorl.rl, heading)()
    for cells in rows(heading):
        ours, text = cells[2], cells[3]
        found = names(ours)
        if len(found) != 1 or found[0] not in vars(default):
            continue
        value, number = vars(default)[found[0]], re.match(r"[\d.,e-]+\b", text)
        if number is not None and not isinstance(value, bool | tuple):
            assert float(number[0].replace(",", "")) == value, (heading, found, text)
