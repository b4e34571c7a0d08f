# SPDX-License-Identifier: Apache-2.0
"""Names and values that would run a script, if they were taken for markup."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reactorl import LogicalAction, Reactor, param, reaction, startup

if TYPE_CHECKING:
    import threading

    from playwright.sync_api import Page

TEXTS = (
    "<script>window.hit = 1</script>",
    "</script><script>window.hit = 2</script>",
    "<img src=x onerror='window.hit = 3'>",
    '"\' onmouseover="window.hit = 4" x=\'',
    "</style><svg onload=window.hit=5>",
    "\u2028window.hit = 6\u2029//",
    "]]>--></title><script>window.hit = 7</script>",
    "${window.hit = 8}{{window.hit = 9}}",
)
ALL = " ".join(TEXTS)


class Evil(Reactor):
    """Says all of it, as often as told. <script>window.hit = 10</script>."""

    text: str = param(ALL)
    to: int = param(3)
    go_on: threading.Event | None = param(None)
    next = LogicalAction[str]()

    def setup(self) -> None:
        self.count = 0

    @reaction(startup, next, effects=[next])
    def step(self) -> None:
        print(self.text)
        self.count += 1
        if self.count == 2 and self.go_on is not None:
            assert self.go_on.wait(30)
        if self.count < self.to:
            self.next.schedule(value=self.text)


def assert_harmless(page: Page) -> None:
    """Fail if something of it ran, or became an element."""
    assert page.evaluate("typeof window.hit") == "undefined"
    assert page.locator("img").count() == 0
    assert page.evaluate("document.querySelectorAll('script:not([src])').length") <= 7
    assert page.evaluate("document.querySelectorAll('style').length") == 1
    assert page.locator("[onmouseover], [onload], [onerror]").count() == 0
