# SPDX-License-Identifier: Apache-2.0
"""The page of a dashboard in a real browser, while something runs."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from reactorl import elaborate, run
from reactorl.dashboard import Dashboard, Feed
from reactorl.dashboard.echo import copy_lines
from tests.dashboard.hostile import ALL, TEXTS, Evil, assert_harmless

if TYPE_CHECKING:
    from playwright.sync_api import Page


def test_hostile_names_and_values_are_text(browser_page: Page) -> None:
    page, go_on = browser_page, threading.Event()
    main = Evil(go_on=go_on)
    dashboard = Dashboard(
        elaborate(main), title=ALL, facts=[(text, text) for text in TEXTS]
    )
    threads = threading.active_count()
    with dashboard, copy_lines(dashboard.feed.note, "stdout"):
        thread = threading.Thread(
            target=run, args=(main,), kwargs={"at_start": dashboard.watch}
        )
        thread.start()
        page.goto(dashboard.link)
        page.locator("#log p").nth(1).wait_for()
        page.evaluate("reactorlDiagram.ready")
        assert page.locator("#phase").text_content() == "running"
        assert page.locator("h1").first.text_content() == ALL
        assert TEXTS[0] in (page.locator("#log").text_content() or "")
        page.locator(".reactorl-title").first.hover()
        assert_harmless(page)
        go_on.set()
        thread.join()
        dashboard.end("failed", ALL)
    page.locator('html[data-over="true"]').wait_for(state="attached")

    # The server is gone, and the page still shows how it was.
    assert threading.active_count() == threads
    assert page.locator("#phase").text_content() == "failed"
    assert page.locator("#note").text_content() == ALL
    assert page.locator("#busiest td").first.text_content() == "main.step"
    assert page.locator("#log p").count() == 3
    assert_harmless(page)


def test_numbers_of_a_training_are_drawn(browser_page: Page) -> None:
    page, feed = browser_page, Feed(total=100)
    with Dashboard(elaborate(Evil), title="DQN", feed=feed) as dashboard:
        page.goto(dashboard.link)
        page.locator("#tiles dd").first.wait_for()
        for step in range(1, 41):
            feed.number(step, "charts/episodic_return", step)
            feed.number(step, "losses/<script>", 1 / step)
        feed.number(40, "eval/mean_return", 500)
        feed.steps = 50
    page.locator('html[data-over="true"]').wait_for(state="attached")

    titles = page.locator(".chart h2").all_text_contents()
    assert titles == ["Return", "Loss", "Steps per second"]
    assert page.locator(".chart path.line").count() == 2
    assert page.locator(".chart circle.dot").count() == 1
    assert page.locator("#tiles dd").first.text_content() == "50of 100"
    width = page.locator("#bar > div").evaluate("e => e.style.width")
    assert width == "50%"
    box = page.locator(".chart svg").first.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] - 12, box["y"] + 40)
    assert "40 steps" in (page.locator(".chart svg").first.text_content() or "")


def test_closing_the_page_changes_nothing(browser_page: Page) -> None:
    program = elaborate(Evil(to=40))
    with Dashboard(program, title="Evil") as dashboard:
        page = browser_page.context.new_page()
        page.goto(dashboard.link)
        page.locator("#tiles dd").first.wait_for()
        page.close()
        watched = run(program, fast=True, trace="values", at_start=dashboard.watch)

    assert watched.digest == run(program, fast=True, trace="values").digest
