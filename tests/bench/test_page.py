# SPDX-License-Identifier: Apache-2.0
"""The page is what stored results say, and nothing else.

``sample`` holds results with made-up numbers, and the page that they give. After a
change that is meant, look at the difference and accept it with
``REACTORL_ACCEPT=1 pytest tests/bench/test_page.py``.
"""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

from benchmarks.evidence import page
from benchmarks.harness.claims import Claim
from benchmarks.harness.command import write_page
from benchmarks.harness.outcome import headline
from benchmarks.harness.plots import Plot, draw
from benchmarks.harness.store import Store
from benchmarks.harness.results import Spread

if TYPE_CHECKING:
    from collections.abc import Sequence

SAMPLE = Path(__file__).parent / "sample"
PNG = b"\x89PNG\r\n"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory with the page of the sample and its pictures.

    What is said of missed figures changes with what is known of them: not here.
    """
    target = tmp_path_factory.mktemp("page")
    notes = target / "notes.toml"
    notes.write_text("")
    write_page(*Store(SAMPLE).read(), target, notes)
    return target


def test_page_is_the_golden_one(written: Path) -> None:
    golden = SAMPLE / "benchmarks.md"
    text = (written / "benchmarks.md").read_text()

    if os.environ.get("REACTORL_ACCEPT"):
        golden.write_text(text)

    assert text == golden.read_text()


def test_pictures_are_there_in_both_kinds_and_the_same_each_time(
    written: Path, tmp_path: Path
) -> None:
    write_page(*Store(SAMPLE).read(), tmp_path)

    shown = re.findall(
        r"!\[.+?\]\((.+?\.svg)\)", (written / "benchmarks.md").read_text()
    )
    assert len(shown) == 2
    for path in shown:
        svg = written / path
        assert svg.read_bytes() == (tmp_path / path).read_bytes()
        assert svg.with_suffix(".png").read_bytes().startswith(PNG)
        texts = {"".join(e.itertext()) for e in ElementTree.parse(svg).iter()}
        assert "ReactoRL 3.14t" in texts  # text, so that it can be read and searched


def test_numbers_of_the_page_follow_the_results(written: Path) -> None:
    run, results = Store(SAMPLE).read()
    slower = [m for m in results.measurements if m.job.engine == "ours-ft"]
    results.measurements = [
        m
        if m not in slower
        else type(m)(
            m.job,
            m.repeat,
            tuple(1_000 * s for s in m.seconds),
            m.cpu,
            m.calm,
            m.unit,
            m.digest,
            m.gil,
        )
        for m in results.measurements
    ]

    text = page.render(run, results, {})

    before = (written / "benchmarks.md").read_text()
    assert "| ✓ kept |" in before
    assert "| ✗ missed |" in before
    assert "| ✓ kept |" not in text


def test_engines_that_disagree_are_shown() -> None:
    run, results = Store(SAMPLE).read()
    first = results.measurements[0]
    results.measurements[0] = type(first)(
        first.job,
        first.repeat,
        first.seconds,
        first.cpu,
        first.calm,
        first.unit,
        "other",
        first.gil,
    )

    text = page.render(run, results, {})

    assert "Engines disagree: actors empty-2: ours-ft computed other" in text


def claim(values: Sequence[float] | None, **more: bool) -> Claim:
    measured = None if values is None else Spread(tuple(values))
    return Claim("some-key", "some figure", measured, 2.0, **more)


@pytest.mark.parametrize(
    ("values", "bound", "verdict"),
    [
        ([1, 2, 3], "least", "kept"),
        ([1, 1.9, 3], "least", "missed"),
        ([1, 2, 3], "most", "kept"),
        ([1, 2.1, 3], "most", "missed"),
        (None, "most", "not measured"),
    ],
)
def test_the_median_decides(
    values: list[float] | None, bound: str, verdict: str
) -> None:
    assert claim(values, at_most=bound == "most").verdict == verdict


def test_a_cause_is_shown_only_while_its_figure_is_missed() -> None:
    causes = {"some-key": "Because of\n  this."}

    (missed,) = page._claims([claim([1])], causes)
    (kept,) = page._claims([claim([3])], causes)

    assert "- **some figure**: Because of this." in missed
    assert "Because" not in kept


def test_causes_are_texts() -> None:
    causes = tomllib.loads(page.NOTES.read_text(encoding="utf-8"))

    assert all(isinstance(cause, str) and cause.strip() for cause in causes.values())


def test_the_line_that_says_what_is_wrong() -> None:
    error = 'Traceback (...):\n  File "x", line 1\n    y\nKeyError: 1\nmore words'

    assert headline(error) == "KeyError: 1"
    assert headline("one\nERROR: two\n") == "ERROR: two"
    assert headline("") == "no reason given"


def test_bars_are_drawn_where_an_engine_has_no_number(tmp_path: Path) -> None:
    bars = {
        "ours-ft": {"one": Spread((1.0, 2.0)), "two": Spread((3.0,))},
        "plain": {"two": Spread((2.0,))},
    }
    plot = Plot("some", "Title", "x", "steps per second", bars=bars, y_unit="")

    assert draw(plot, tmp_path) == ["some.svg", "some.png"]

    texts = {
        "".join(e.itertext()) for e in ElementTree.parse(tmp_path / "some.svg").iter()
    }
    assert {"one", "two", "ReactoRL 3.14t", "plain loop"} <= texts
