# SPDX-License-Identifier: Apache-2.0
"""A real browser for tests of pages: the fixture ``browser_page``.

The browser is Debian's chromium, driven by Playwright. Where either is missing, tests
that use it are skipped.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page, Route

FLAGS = (
    "--no-sandbox",  # which root cannot have
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--force-color-profile=srgb",
)
LOCAL = ("file:", "data:", "blob:", "about:", "http://127.0.0.1:", "http://localhost:")


@pytest.fixture(scope="module")  # Playwright has an event loop run until it is closed
def chromium() -> Iterator[Browser]:
    """The browser, without a window; one for all tests of a file."""
    path = shutil.which("chromium")
    if path is None:
        pytest.skip("chromium is not installed (apt install chromium)")
    api = pytest.importorskip("playwright.sync_api", reason="playwright is missing")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture
def browser_page(chromium: Browser) -> Iterator[Page]:
    """A new, empty page in a light theme, 1280 by 800.

    Afterwards the test fails if an exception of a script was not caught, if the
    browser complained in its console, or if anything but files, data and this machine
    was asked for.
    """
    context = chromium.new_context(
        viewport={"width": 1280, "height": 800}, color_scheme="light"
    )
    trouble: list[str] = []

    def answer(route: Route) -> None:
        if route.request.url.startswith(LOCAL):
            route.continue_()
        else:
            trouble.append(f"asked for {route.request.url}")
            route.abort()

    context.route("**/*", answer)
    page = context.new_page()
    page.on("pageerror", lambda error: trouble.append(f"not caught: {error}"))
    page.on(
        "console",
        lambda said: trouble.append(said.text) if said.type == "error" else None,
    )
    page.set_default_timeout(20_000)
    yield page
    context.close()
    assert trouble == []
