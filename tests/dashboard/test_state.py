# SPDX-License-Identifier: Apache-2.0
"""From counters and metrics to the content of the page."""

from __future__ import annotations

import io
import json
import math
import sys
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from reactorl import FederateSample, Sample
from reactorl.dashboard import Feed, Series, json_in_page
from reactorl.dashboard.activity import Lately
from reactorl.dashboard.board import Board
from reactorl.dashboard.chart import Line, line_chart, short, ticks
from reactorl.dashboard.echo import copy_lines
from reactorl.dashboard.feed import plain
from reactorl.dashboard.state import State, logical

if TYPE_CHECKING:
    from collections.abc import Sequence


def sample(at: float, costs: Sequence[int], tags: int = 0, cpu: float = 0.0) -> Sample:
    return Sample(at, 0, tags, 0, 0, (cpu, None), costs)


def test_series_keeps_its_shape_however_long_it_gets() -> None:
    series = Series(64)
    for x in range(10_000):
        series.add(x, 2.0 * x)

    points = series.points()
    assert 32 <= len(points) <= 64
    assert len(series) == len(points)
    xs = [x for x, _ in points]
    assert xs == sorted(xs)
    assert xs[-1] == 9_999
    total = 10_000 * 9_999  # each point stands for as many values, but the last
    assert sum(y for _, y in points) / len(points) == pytest.approx(
        total / 10_000, rel=0.05
    )


def test_series_leaves_out_nan_and_infinity() -> None:
    series = Series()
    for value in (1.0, math.nan, math.inf, 3.0):
        series.add(1, value)

    assert series.points() == [(1, 1.0), (1, 3.0)]


def test_shares_and_rates_are_those_of_the_last_seconds() -> None:
    lately = Lately()
    # Reaction 0 runs 10 times for 0.05 s each; 1 is not timed lately; 2 does not run.
    lately.add(sample(0.0, [5, 5, 10**9, 4, 4, 4_000_000, 9, 9, 9]), 100)
    later = [15, 15, 10**9 + 5 * 10**8, 24, 4, 4_000_000, 9, 9, 9]
    lately.add(sample(1.0, later, tags=7, cpu=0.25), 160)

    first, second = lately.busy()
    assert (first.reaction, first.rate) == (0, 10)
    assert first.mean == pytest.approx(0.05)
    assert first.share == pytest.approx(0.5)
    assert (second.reaction, second.rate) == (1, 20)
    assert second.mean == pytest.approx(0.001)
    assert second.share == pytest.approx(0.02)
    assert lately.steps_rate == 60
    assert lately.tags_rate == 7
    assert lately.workers == [0.25, None]


def test_federates_have_rows_of_their_own() -> None:
    state = State(Feed())
    before = [FederateSample("a", 0, 0, 1.0), FederateSample("b", 0, 0, 0.0)]
    after = [
        FederateSample("a", 3_000_000, 8, 2.0),
        FederateSample("b", 2_000_000, 6, 9.0),
    ]
    state.begin(replace(sample(0.0, [1, 1, 1]), federates=tuple(before)))
    watch = SimpleNamespace(
        sample=lambda: replace(sample(2.0, [1, 1, 1], cpu=0.5), federates=tuple(after))
    )
    state.take(watch)  # type: ignore[arg-type]

    work = state.work()

    # What the process of b did before its first answer is not recent.
    assert work["federates"] == [["a", "3.000 ms", 4.0, 0.5], ["b", "2.000 ms", 3.0, 0]]
    assert [name for name, _ in work["workers"]] == ["a 0", "b 0"]


def test_reaction_takes_no_more_than_all_of_the_time() -> None:
    lately = Lately()
    lately.add(sample(0.0, [1, 1, 60 * 10**9]), 0)  # the first run compiled something
    lately.add(sample(2.0, [11, 1, 60 * 10**9]), 0)

    (busy,) = lately.busy()
    assert busy.share == pytest.approx(1.0)


def test_old_samples_do_not_count() -> None:
    lately = Lately()
    for second in range(10):
        lately.add(sample(second, [second * second, 1, 1]), 0)

    assert lately.busy()[0].rate == (81 - 49) / 2
    lately.add(sample(9, [0, 1, 1]), 0)  # the same moment: the run is over
    assert lately.busy()[0].rate == (81 - 49) / 2


def test_numbers_of_a_training_become_tiles_and_curves() -> None:
    feed = Feed(total=1_000)
    state = State(feed)
    for step in (10, 20, 30):
        feed.number(step, "charts/episodic_return", step)
    feed.number(30, "losses/td_loss", 0.5)
    feed.number(30, "losses/q_values", 7.0)
    feed.number(40, "eval/mean_return", math.inf)
    feed.steps = 250
    feed.note("hello")
    state.take(None)

    now = state.now("running", "")
    tiles = {name: value for name, value, *_ in now["tiles"]}
    assert now["done"] == 0.25
    assert tiles["Steps"] == "250"
    assert tiles["Return, last 100"] == "20"
    assert tiles["Loss"] == "0.5"
    assert tiles["Evaluation"] == "inf"
    returns, loss, _ = state.charts()
    assert returns["lines"][0]["points"] == [(10, 10.0), (20, 15.0), (30, 20.0)]
    assert loss["lines"][0]["points"] == [(30, 0.5)]
    lines = [text for _, text in state.log() or ()]
    assert lines == ["evaluation at step 40: inf", "hello"]
    assert state.log() is None  # nothing is new
    json.dumps([now, state.charts(), state.work()], allow_nan=False)


def test_board_gives_each_reader_the_changed_parts() -> None:
    board = Board()
    board.show(a=1, b=[2])
    seen, news, over = board.news(0, 0)
    assert (json.loads(news), over) == ({"a": 1, "b": [2]}, False)
    board.show(a=1, b=[3])
    seen, news, over = board.news(seen, 0)
    assert (json.loads(news), over) == ({"b": [3]}, False)
    board.show(over=True)
    assert json.loads(board.news(seen, 0)[1]) == {}
    assert board.news(seen, 0)[2]


def test_printed_lines_are_copied(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    out, lines = io.StringIO(), list[str]()
    monkeypatch.setattr(sys, "stdout", out)
    with copy_lines(lines.append, "stdout"):
        print("one", 1)
        print("two\nthree", end="")
        print()
        sys.stdout.writelines(["four", "\n", "not whole"])
        assert sys.stdout.getvalue().endswith("whole")  # type: ignore[attr-defined]

    assert sys.stdout is out
    assert out.getvalue() == "one 1\ntwo\nthree\nfour\nnot whole"
    assert lines == ["one 1", "two", "three", "four"]


def test_text_of_a_log_is_harmless() -> None:
    assert plain("\x1b[31mred\x1b[0m \x07 \u2028 a\tb") == "red \ufffd \ufffd a\tb"
    assert len(plain("x" * 10_000)) < 2_100


def test_charts_have_round_numbers() -> None:
    assert ticks(0, 500, 5) == [0, 100, 200, 300, 400, 500]
    assert [short(v) for v in (0, 1.5, 12_000, 2.5e6, 0.0023)] == [
        "0", "1.5", "12k", "2.5M", "0.0023",
    ]  # fmt: skip
    assert [logical(n) for n in (5, 5_000, 5_000_000, 61 * 10**9)] == [
        "5 ns", "5.000 us", "5.000 ms", "61.000 s",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "points", [[], [(0, 0.0)], [(5, -1.0)], [(0, 1.0), (1, 1.0)], [(0, -2.0), (9, 4.0)]]
)
def test_any_points_can_be_drawn(points: list[tuple[float, float]]) -> None:
    drawn = line_chart("<b>", [Line("<i>", points), Line("'\"", points, "dots")])

    assert "<b>" not in drawn
    assert "<i>" not in drawn
    assert "nan" not in drawn
    assert ("no numbers" in drawn) == (not points)


def test_json_in_a_page_cannot_end_its_element() -> None:
    text = json_in_page(["</script><script>alert(1)</script>", "<!--", "\u2028"])

    assert "<" not in text
    assert "\u2028" not in text
    assert json.loads(text)[0].startswith("</script>")
