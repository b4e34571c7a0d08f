# SPDX-License-Identifier: Apache-2.0
"""Docstrings of the fields of dataclasses in ``__doc__``."""

import inspect
from dataclasses import dataclass, field, fields

import pytest

from reactorl import rl
from reactorl._util.dataclass_fields import DocWithFields, field_docs


@dataclass
class Base:
    """Not shown."""

    rate: float = 0.1
    """Inherited."""


@dataclass
class Sample(Base):
    """A sample.

    Raises:
        ValueError: Never.
    """

    count: int = 1
    """How many, in a sentence that is so long that it does not fit into one line of the
    text."""
    bare: int = 2
    derived: int = field(default=3, init=False)
    """Not an argument."""


Sample.__doc__ = DocWithFields(Sample.__doc__)  # type: ignore[assignment]


def test_doc_has_the_fields_before_the_errors() -> None:
    assert Sample.__doc__ == (
        "A sample.\n"
        "\n"
        "Attributes:\n"
        "    rate: Inherited.\n"
        "    count: How many, in a sentence that is so long that it does not fit into "
        "one line of\n"
        "        the text.\n"
        "\n"
        "Raises:\n"
        "    ValueError: Never."
    )
    assert Sample().__doc__ == Sample.__doc__


def test_class_without_documented_fields_keeps_its_doc() -> None:
    @dataclass
    class Empty:
        """Nothing."""

    Empty.__doc__ = DocWithFields(Empty.__doc__)  # type: ignore[assignment]

    assert Empty.__doc__ == "Nothing."


@pytest.mark.parametrize(
    "name",
    [
        "Trainer",
        "TrainerOptions",
        "Flow",
        "MultiAgentFlow",
        "ReplayConfig",
        "DQN",
        "PPO",
        "IMPALA",
        "IPPO",
        "QLearning",
    ],
)
def test_help_explains_every_argument(name: str) -> None:
    pytest.importorskip("jax")
    cls = getattr(rl, name)

    text = inspect.getdoc(cls) or ""

    assert text.count("Attributes:") == 1
    for one in fields(cls):
        assert f"\n    {one.name}: {field_docs(cls)[one.name].split()[0]}" in text
