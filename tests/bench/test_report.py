# SPDX-License-Identifier: Apache-2.0
"""The report is made from stored results and nothing else.

``sample`` holds results with made-up numbers, and their report. After an intended
change, look at the difference and accept it with
``REACTORL_ACCEPT=1 pytest tests/bench/test_report.py``.
"""

from __future__ import annotations

import os
import re
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

from benchmarks.harness import report
from benchmarks.harness.claims import Claim
from benchmarks.harness.measurement import Measurement
from benchmarks.harness.outcome import headline, job_of
from benchmarks.harness.plots import Plot, draw
from benchmarks.harness.results import Results, Spread
from benchmarks.harness.store import Store
from benchmarks.workloads.atari_parts import PARTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.harness.store import Run

SAMPLE = Path(__file__).parent / "sample"
PNG = b"\x89PNG\r\n"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory with the report of the sample, without causes."""
    target = tmp_path_factory.mktemp("page")
    notes = target / "notes.toml"
    notes.write_text("")
    report.write(*Store(SAMPLE).read(), target, notes)
    return target


def test_report_equals_the_golden_one(written: Path) -> None:
    golden = SAMPLE / "benchmarks.md"
    text = (written / "benchmarks.md").read_text()

    if os.environ.get("REACTORL_ACCEPT"):
        golden.write_text(text)

    assert text == golden.read_text()


def test_plots_exist_in_both_formats_and_are_reproducible(
    written: Path, tmp_path: Path
) -> None:
    report.write(*Store(SAMPLE).read(), tmp_path)

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


def test_verdicts_follow_the_results(written: Path) -> None:
    run, results = Store(SAMPLE).read()
    results.measurements = [
        replace(m, seconds=tuple(1_000 * s for s in m.seconds))
        if m.job.engine == "ours-ft"
        else m
        for m in results.measurements
    ]

    text = report.render(run, results, {})

    before = (written / "benchmarks.md").read_text()
    assert "| ✓ kept |" in before
    assert "| ✗ missed |" in before
    assert "| ✓ kept |" not in text


def test_engines_that_disagree_are_reported() -> None:
    run, results = Store(SAMPLE).read()
    first = results.measurements[0]
    results.measurements[0] = replace(first, digest="other")

    text = report.render(run, results, {})

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
def test_median_decides_the_verdict(
    values: list[float] | None, bound: str, verdict: str
) -> None:
    assert claim(values, at_most=bound == "most").verdict == verdict


def test_cause_is_shown_only_while_its_claim_is_missed() -> None:
    causes = {"some-key": "Because of\n  this."}

    (missed,) = report._claims([claim([1])], causes)
    (kept,) = report._claims([claim([3])], causes)

    assert "- **some figure**: Because of this." in missed
    assert "Because" not in kept


def test_causes_are_strings() -> None:
    causes = tomllib.loads(report.NOTES.read_text(encoding="utf-8"))

    assert all(isinstance(cause, str) and cause.strip() for cause in causes.values())


def test_headline_is_the_line_that_names_the_error() -> None:
    error = 'Traceback (...):\n  File "x", line 1\n    y\nKeyError: 1\nmore words'

    assert headline(error) == "KeyError: 1"
    assert headline("one\nERROR: two\n") == "ERROR: two"
    assert headline("") == "no reason given"


def test_bars_are_drawn_where_an_engine_lacks_a_case(tmp_path: Path) -> None:
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


def two_builds(*ratios: float) -> tuple[Run, Results]:
    """Return a run in which this build takes ``ratio`` of the other's time, by set."""
    made = [
        Measurement(
            job=job_of("star", "16", engine),
            repeat=number,
            seconds=(seconds,) * 12,
            cpu=(seconds,) * 12,
            calm=(True,) * 12,
            unit="round",
            digest="same",
            gil=True,
        )
        for number, ratio in enumerate(ratios)
        for engine, seconds in (("ours-gil", ratio), ("ours-gil@0123abc", 1.0))
    ]
    run, _ = Store(SAMPLE).read()
    return replace(run, suite="runtime", workloads=["star"]), Results(made)


@pytest.mark.parametrize(
    ("ratios", "verdict"),
    [((1.0, 1.04, 2.0), "kept"), ((1.0, 1.06, 2.0), "missed"), ((0.5,), "kept")],
)
def test_two_builds_are_compared_by_the_median_over_sets(
    ratios: tuple[float, ...], verdict: str
) -> None:
    claims = report.claims_of(report.outcomes(*two_builds(*ratios)))

    (found,) = [claim for claim in claims if claim.key.startswith("against-")]
    assert found.text == "Star, 16 clients, ours-gil: time over that of 0123abc"
    assert found.verdict == verdict
    assert found.bound == 1.05


def test_two_builds_are_neighbours_in_the_table() -> None:
    run, results = two_builds(1.0)

    rows = report.render(run, results, {}).splitlines()

    first = next(i for i, row in enumerate(rows) if row.startswith("| ReactoRL GIL |"))
    assert rows[first + 1].startswith("| ReactoRL GIL @ 0123abc |")


def test_gil_in_free_threaded_python_is_an_error() -> None:
    run, results = Store(SAMPLE).read()
    results.measurements = [replace(m, gil=True) for m in results.measurements]

    text = report.render(run, results, {})

    assert "The GIL was on in free-threaded Python: ours-ft" in text


def test_docs_page_with_marks_gets_the_notes_between_them(tmp_path: Path) -> None:
    (tmp_path / "atari.md").write_text(
        f"before\n{report.BEGIN}\nold\n{report.END}\nafter\n"
    )
    timed = replace(
        two_builds(1.0)[1].measurements[0],
        more={"slices": [dict.fromkeys(PARTS, 1e-4)] * 2, "resets": [0.001, 0.001]},
    )
    made = [
        replace(timed, job=job_of("atari_parts", case, "plain"))
        for case in ("game-timed", "game-whole")
    ]
    run = replace(two_builds()[0], suite="atari", workloads=["atari_parts"])

    path = report.write_docs(run, Results(made), tmp_path)

    head, _, rest = path.read_text().partition(report.BEGIN)
    between, _, tail = rest.partition(report.END)
    assert (head, tail) == ("before\n", "\nafter\n")
    assert "| a reset with a seed | 1,000 |" in between
    assert "old" not in between
