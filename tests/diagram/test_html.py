# SPDX-License-Identifier: Apache-2.0
"""The page that draws a program, in a real browser."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import pytest

import reactorl
from reactorl import Reactor, graph
from reactorl.diagram import Graph, Mark, html_page, html_parts
from tests.diagram import pictures

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page

WHOLE = ".reactorl-diagram[data-drawn='{}']"


def _open(page: Page, text: str, directory: Path, drawn: int = 1) -> None:
    """Show a page from a file, and wait until it is drawn."""
    file = directory / "page.html"
    file.write_text(text, encoding="utf-8")
    page.goto(file.as_uri())
    page.wait_for_selector(WHOLE.format(drawn))


def _show(page: Page, picture: Graph, directory: Path) -> None:
    _open(page, picture.html(), directory)


def _titles(page: Page) -> list[str]:
    shown = page.locator(".reactorl-box > .reactorl-title").all_text_contents()
    return sorted(shown)


def _count(page: Page, selector: str) -> int:
    return page.locator(selector).count()


# -- content ------------------------------------------------------------------------


def test_all_elements_are_drawn(browser_page: Page, tmp_path: Path) -> None:
    _show(browser_page, graph(pictures.Hierarchy), tmp_path)

    assert _titles(browser_page) == [
        "firstRelay",
        "mainHierarchy",
        "pair",
        "secondRelay",
    ]
    text = browser_page.locator(".reactorl-canvas").text_content() or ""
    for shown in ("tick(1 ms, 1 s)", "wish(5 ms)", "look at it", "deadline 10 ms"):
        assert shown in text
    assert _count(browser_page, ".reactorl-reaction") == 6
    assert _count(browser_page, ".reactorl-port") == 6
    # Every arrow of the scene has a line.
    edges = len(graph(pictures.Hierarchy).scene.edges)
    assert _count(browser_page, ".reactorl-edge") == edges
    assert _count(browser_page, ".reactorl-late") == 1


def test_arrows_lead_from_left_to_right(browser_page: Page, tmp_path: Path) -> None:
    _show(browser_page, graph(pictures.Hierarchy), tmp_path)

    def left(name: str) -> float:
        found = browser_page.locator(".reactorl-item", has_text=name).first
        box = found.bounding_box()
        assert box is not None
        return box["x"]

    assert left("startup") < left("begin") < left("wish") < left("look at it")


def test_modes_and_transitions_are_drawn(browser_page: Page, tmp_path: Path) -> None:
    _show(browser_page, graph(pictures.Modes), tmp_path)

    assert _count(browser_page, ".reactorl-mode") == 2
    assert _count(browser_page, ".reactorl-mode.reactorl-initial") == 1
    labels = browser_page.locator(".reactorl-transition text").all_text_contents()
    assert sorted(labels) == ["history", "reset"]


def test_loops_are_red_and_explained(browser_page: Page, tmp_path: Path) -> None:
    _show(browser_page, graph(pictures.Loop), tmp_path)

    line = browser_page.locator(".reactorl-edge.reactorl-loop .reactorl-line").first
    colour = line.evaluate("line => getComputedStyle(line).stroke")
    assert colour == "rgb(220, 38, 38)"
    assert _count(browser_page, ".reactorl-edge.reactorl-loop") == 7
    assert _count(browser_page, ".reactorl-reaction.reactorl-loop") == 3
    problem = browser_page.locator(".reactorl-problems").text_content() or ""
    assert "main.late.write sets main.late.y" in problem


def test_program_without_loops_has_no_alarm(browser_page: Page, tmp_path: Path) -> None:
    _show(browser_page, graph(pictures.Banks), tmp_path)

    assert not browser_page.locator(".reactorl-problems").is_visible()
    assert _count(browser_page, ".reactorl-loop") == 0


def test_nothing_shines_through_an_open_bank(
    browser_page: Page, tmp_path: Path
) -> None:
    _show(browser_page, graph(pictures.Banks), tmp_path)

    same = """bank => {
      const frame = bank.querySelector(".reactorl-frame");
      const behind = frame.previousElementSibling;
      return getComputedStyle(behind).fill + ["x", "y", "width", "height"].every(
        name => behind.getAttribute(name) === frame.getAttribute(name))
    }"""
    banks = browser_page.locator(".reactorl-open:has(.reactorl-stack)")
    assert (
        banks.evaluate_all(f"all => all.map({same})") == ["rgb(255, 255, 255)true"] * 2
    )


def test_line_through_a_reactor_leaves_the_names_of_its_ports_readable(
    browser_page: Page, tmp_path: Path
) -> None:
    _show(browser_page, graph(pictures.Ring), tmp_path)

    below = browser_page.locator(".reactorl-port").evaluate_all(
        """all => all.map(port => {
          const [name, sign] = [port.querySelector("text"), port.querySelector("path")];
          const line = sign.getBoundingClientRect();
          return name.getBoundingClientRect().bottom - (line.top + line.bottom) / 2;
        })"""
    )
    assert len(below) == 4
    assert max(below) < 1  # names end where the line is


# -- interaction --------------------------------------------------------------------


def test_bank_is_one_box_until_it_is_unfolded(
    browser_page: Page, tmp_path: Path
) -> None:
    _show(browser_page, graph(pictures.Banks), tmp_path)
    assert "actor ×3Relay" in _titles(browser_page)  # noqa: RUF001

    browser_page.locator("[data-fold]").first.click()
    browser_page.wait_for_selector(WHOLE.format(2))

    shown = _titles(browser_page)
    assert [t for t in shown if t.startswith("actor")] == [
        "actor[0]Relay",
        "actor[1]Relay",
        "actor[2]Relay",
    ]
    assert "pair ×2" in shown  # noqa: RUF001
    browser_page.get_by_role("button", name="Banks").click()
    browser_page.wait_for_selector(WHOLE.format(3))
    assert "actor ×3Relay" in _titles(browser_page)  # noqa: RUF001


def test_reactors_open_and_close(browser_page: Page, tmp_path: Path) -> None:
    _show(browser_page, graph(pictures.Hierarchy, depth=1), tmp_path)
    assert _titles(browser_page) == ["mainHierarchy", "pair"]

    browser_page.locator("[data-toggle]").click()
    browser_page.wait_for_selector(WHOLE.format(2))
    assert "firstRelay" in _titles(browser_page)
    browser_page.locator("[data-box='1'] > .reactorl-frame").dblclick(
        position={"x": 60, "y": 8}
    )
    browser_page.wait_for_selector(WHOLE.format(3))
    assert _titles(browser_page) == ["mainHierarchy", "pair"]
    browser_page.get_by_role("button", name="Open all").click()
    browser_page.wait_for_selector(WHOLE.format(4))
    assert len(_titles(browser_page)) == 4


def test_search_opens_enclosing_reactors(browser_page: Page, tmp_path: Path) -> None:
    _show(browser_page, graph(pictures.Banks, depth=1), tmp_path)

    browser_page.keyboard.press("/")
    browser_page.keyboard.type("pair[1].second.pass")
    found = browser_page.locator(".reactorl-found button")
    assert found.all_text_contents() == ["main.pair[1].second.pass_onreaction"]
    browser_page.keyboard.press("Enter")
    browser_page.wait_for_selector(WHOLE.format(2))

    here = browser_page.locator(".reactorl-here")
    assert here.count() == 1
    box = here.bounding_box()
    assert box is not None
    assert abs(box["x"] + box["width"] / 2 - 640) < 40
    assert "pair[1]Pair" in _titles(browser_page)


def test_list_of_finds_does_not_stay_in_the_way(
    browser_page: Page, tmp_path: Path
) -> None:
    _show(browser_page, graph(pictures.Banks, depth=1), tmp_path)
    field = browser_page.locator(".reactorl-search")
    found = browser_page.locator(".reactorl-found")

    field.fill("pass_on")
    assert found.is_visible()
    browser_page.keyboard.press("Enter")
    browser_page.wait_for_selector(WHOLE.format(2))
    assert not found.is_visible()
    browser_page.mouse.click(640, 780)
    field.click()
    assert found.is_visible()
    browser_page.mouse.click(640, 780)
    assert not found.is_visible()


def test_tooltips_show_types_and_positions(browser_page: Page, tmp_path: Path) -> None:
    _show(browser_page, graph(pictures.Hierarchy), tmp_path)

    browser_page.locator(".reactorl-port", has_text="x").first.hover()
    tip = browser_page.locator(".reactorl-tip")
    text = tip.text_content() or ""
    assert "main.pair.x" in text
    assert "typeint" in text
    assert re.search(r"pictures\.py:\d+", text)
    browser_page.locator("[data-box='0'] > .reactorl-title").hover()
    text = tip.text_content() or ""
    assert "factor3" in text
    assert "Reactors in reactors" in text


def test_wheel_and_drag_move_the_picture(browser_page: Page, tmp_path: Path) -> None:
    _show(browser_page, graph(pictures.Hierarchy), tmp_path)
    world = browser_page.locator(".reactorl-canvas > g")
    before = world.get_attribute("transform")

    browser_page.mouse.move(640, 700)
    browser_page.mouse.wheel(0, -200)
    browser_page.wait_for_function(
        "old => document.querySelector('.reactorl-canvas > g')"
        ".getAttribute('transform') !== old",
        arg=before,
    )
    zoomed = world.get_attribute("transform")
    browser_page.mouse.down()
    browser_page.mouse.move(700, 740, steps=4)
    browser_page.mouse.up()

    assert world.get_attribute("transform") != zoomed
    browser_page.get_by_role("button", name="Fit").click()
    assert world.get_attribute("transform") == before


def test_two_fingers_zoom(browser_page: Page, tmp_path: Path) -> None:
    _show(browser_page, graph(pictures.Hierarchy), tmp_path)
    fingers = browser_page.context.new_cdp_session(browser_page)

    def touch(kind: str, *xs: float) -> None:
        points = [{"x": x, "y": 400, "id": k} for k, x in enumerate(xs)]
        event = {"type": kind, "touchPoints": points}
        fingers.send("Input.dispatchTouchEvent", event)

    def scale() -> float:
        world = browser_page.locator(".reactorl-canvas > g")
        return float((world.get_attribute("transform") or "").split("scale(")[1][:-1])

    before = scale()
    touch("touchStart", 600, 680)
    for further in range(10, 50, 10):
        touch("touchMove", 600 - further, 680 + further)
    touch("touchEnd")

    assert 1.6 < scale() / before < 2.1  # from 80 to 160


def test_all_controls_are_visible_on_a_narrow_page(
    browser_page: Page, tmp_path: Path
) -> None:
    browser_page.set_viewport_size({"width": 360, "height": 640})
    _show(browser_page, graph(pictures.Banks, title="A long title " * 4), tmp_path)

    def fits(part: str) -> bool:
        box = browser_page.locator(part).bounding_box()
        assert box is not None
        return box["x"] >= 0 and box["x"] + box["width"] <= 360

    browser_page.locator(".reactorl-search").fill("pass")
    assert fits(".reactorl-found")
    browser_page.keyboard.press("Escape")
    browser_page.get_by_text("Legend").click()
    assert fits(".reactorl-legend dl")
    assert fits("[data-do=theme]")
    wide = "document.documentElement.scrollWidth"
    assert browser_page.evaluate(wide) == 360


def test_dark_and_light(browser_page: Page, tmp_path: Path) -> None:
    _show(browser_page, graph(pictures.Hierarchy), tmp_path)
    colour = "document.querySelector('.reactorl-diagram')"
    colour = f"getComputedStyle({colour}).backgroundColor"

    assert browser_page.evaluate(colour) == "rgb(251, 251, 253)"
    browser_page.emulate_media(color_scheme="dark")
    assert browser_page.evaluate(colour) == "rgb(20, 23, 29)"
    browser_page.get_by_role("button", name="Dark or light").click()
    assert browser_page.evaluate(colour) == "rgb(251, 251, 253)"


# -- many reactors ------------------------------------------------------------------


def test_two_thousand_reactors_begin_closed_and_can_be_searched(
    browser_page: Page, tmp_path: Path
) -> None:
    picture = graph(pictures.crowd(20, 100))
    assert len(picture.scene.boxes) == 2021
    _show(browser_page, picture, tmp_path)
    assert len(_titles(browser_page)) == 21

    browser_page.locator(".reactorl-search").fill("g7.r42")
    browser_page.keyboard.press("Enter")
    browser_page.wait_for_selector(WHOLE.format(2))

    assert len(_titles(browser_page)) == 121  # one group was opened
    assert browser_page.locator(".reactorl-here").count() == 1


def _shape(page: Page, selector: str) -> float:
    """Return how much wider than high something is."""
    box = page.locator(selector).bounding_box()
    assert box is not None
    return box["width"] / box["height"]


def test_long_rows_are_wrapped(browser_page: Page, tmp_path: Path) -> None:
    _show(browser_page, graph(pictures.crowd(40, 1)), tmp_path)
    assert 0.8 < _shape(browser_page, "[data-box='0'] > .reactorl-frame") < 4

    _show(browser_page, graph(pictures.crowd(10, 1)), tmp_path)
    assert _shape(browser_page, "[data-box='0'] > .reactorl-frame") > 4


def test_row_that_cannot_be_wrapped_is_drawn_all_the_same(
    browser_page: Page, tmp_path: Path
) -> None:
    text = graph(pictures.crowd(40, 1)).html()
    refused = "engine.layout(layout.graph(true))"
    assert refused in text
    # The page allows no script but its own: without the policy this one runs.
    broken = re.sub("<meta http-equiv.*?>", "", text)
    broken = broken.replace(refused, "Promise.reject(new Error())")
    _open(browser_page, broken, tmp_path)

    assert _shape(browser_page, "[data-box='0'] > .reactorl-frame") > 10


def test_newer_layout_replaces_one_under_way(
    browser_page: Page, tmp_path: Path
) -> None:
    _show(browser_page, graph(pictures.crowd(10, 60)), tmp_path)

    browser_page.get_by_role("button", name="Open all").click()
    browser_page.get_by_role("button", name="Close all").click()
    browser_page.wait_for_selector(WHOLE.format(2))

    assert len(_titles(browser_page)) == 11


# -- marks --------------------------------------------------------------------------


def _heat(page: Page, selector: str) -> str:
    script = "e => e.style.getPropertyValue('--reactorl-heat')"
    return str(page.locator(selector).evaluate(script))


def test_marks_are_shown_and_banks_show_the_most(
    browser_page: Page, tmp_path: Path
) -> None:
    picture = graph(pictures.Banks)
    overlay = {
        "main.actor[0].pass_on": Mark(0.1, "1 ms"),
        "main.actor[2].pass_on": Mark(0.5, "5 ms"),
        "main.gather.collect": Mark(1, "10 ms"),
        "main.nobody": Mark(1, "?"),
    }
    _open(browser_page, picture.html(overlay=overlay), tmp_path)

    marks = browser_page.locator(".reactorl-mark").all_text_contents()
    assert sorted(filter(None, marks)) == ["10 ms", "5 ms (most of 2)"]
    below = browser_page.locator("[data-box]:has(.reactorl-stack)").evaluate_all(
        """all => all.map(bank => {
          const { y, height } = bank.querySelector(".reactorl-stack").getBBox();
          return bank.querySelector(".reactorl-mark").getAttribute("y") - y - height;
        })"""
    )
    assert min(below) > 8  # the label has room below the stack
    item = next(i.id for i in picture.scene.items if i.name == "collect")
    assert _heat(browser_page, f"[data-item='{item}'] .reactorl-shape") == "80%"


def test_closed_reactor_shows_the_marks_of_its_content(
    browser_page: Page, tmp_path: Path
) -> None:
    _show(browser_page, graph(pictures.Hierarchy, depth=1), tmp_path)
    assert _heat(browser_page, "[data-box='1'] > .reactorl-frame") == "0%"

    browser_page.evaluate(
        'reactorlDiagram.setActivity({"main.pair.first.pass_on": 0.5})'
    )
    assert _heat(browser_page, "[data-box='1'] > .reactorl-frame") == "40%"
    browser_page.evaluate("reactorlDiagram.setActivity({})")
    assert _heat(browser_page, "[data-box='1'] > .reactorl-frame") == "0%"


def test_marks_that_are_no_numbers_do_no_harm() -> None:
    overlay = {"main.begin": Mark(float("nan"), "?"), "x": Mark(float("inf"))}
    text = graph(pictures.Hierarchy).html(overlay=overlay)

    found = re.search(r'class="reactorl-overlay">(.*?)</script>', text)
    assert found is not None
    assert json.loads(found[1])["main.begin"] == {"heat": 0.0, "label": "?"}


# -- hostile data -------------------------------------------------------------------

HOSTILE = (
    "</script><script>window.hacked = 1</script><img src=x onerror='hacked=1'>"
    "<!--<script> ${x} $scene \"'` \u2028 {overlay} &lt;"
)


def _hostile() -> Graph:
    cls = type(HOSTILE, (pictures.Relay,), {"__doc__": HOSTILE})

    class Main(Reactor):
        relay = cls()
        text: str = reactorl.param(HOSTILE)

        @reactorl.reaction(reactorl.startup, effects=["relay.x"], name=HOSTILE)
        def begin(self) -> None: ...

    return graph(Main, title=HOSTILE)


def test_names_and_values_run_no_script(browser_page: Page, tmp_path: Path) -> None:
    picture = _hostile()
    overlay = {f"main.{HOSTILE}": Mark(0.5, HOSTILE)}
    _open(browser_page, picture.html(overlay=overlay), tmp_path)

    browser_page.locator(".reactorl-reaction").first.hover()
    assert HOSTILE in (browser_page.locator(".reactorl-tip").text_content() or "")
    browser_page.locator("[data-box='0'] > .reactorl-title").hover()
    browser_page.locator(".reactorl-search").fill("img")
    assert _count(browser_page, ".reactorl-found button") >= 1
    assert _count(browser_page, "img") == 0
    assert browser_page.evaluate("window.hacked") is None
    assert browser_page.title() == " ".join(HOSTILE.split(" "))


def test_page_allows_no_script_but_its_own(browser_page: Page, tmp_path: Path) -> None:
    """Even where markup got through, the browser would not run it."""
    text = graph(pictures.Hierarchy).html()
    bad = "<script>window.hacked = 1</script>"
    broken = text.replace("</body>", f"{bad}</body>")
    assert broken != text
    said: list[str] = []
    other = browser_page.context.new_page()
    other.on("console", lambda message: said.append(message.text))
    _open(other, broken, tmp_path)

    assert other.evaluate("window.hacked") is None
    assert any("Content Security Policy" in line for line in said)


# -- parts and assets ---------------------------------------------------------------


def test_another_page_can_have_the_picture_in_it(
    browser_page: Page, tmp_path: Path
) -> None:
    parts = html_parts(graph(pictures.Banks).scene, depth=1)
    page = (
        f"<!DOCTYPE html><meta charset=utf-8><style>{parts.style}</style><h1>Mine</h1>"
        f"<div style='height: 400px'>{parts.body}</div><script>{parts.script}</script>"
    )
    _open(browser_page, page, tmp_path)

    box = browser_page.locator(".reactorl-diagram").bounding_box()
    assert box is not None
    assert box["height"] == 400
    assert browser_page.evaluate("reactorlDiagram.ready.then(() => 'drawn')") == "drawn"
    rules = [r for r in parts.style.split("}") if "{" in r]
    assert all(".reactorl-" in r for r in rules)


def test_frame_in_a_notebook_draws_the_picture(
    browser_page: Page, tmp_path: Path
) -> None:
    file = tmp_path / "notebook.html"
    shown = graph(pictures.Banks)._repr_mimebundle_()["text/html"]
    file.write_text(f"<!DOCTYPE html><p>Out[1]:</p>{shown}", encoding="utf-8")
    browser_page.goto(file.as_uri())

    frame = browser_page.frame_locator("iframe")
    frame.locator(WHOLE.format(1)).wait_for()
    assert frame.locator(".reactorl-reaction").count() == 4


def test_nothing_is_fetched_from_elsewhere() -> None:
    text = html_page(graph(pictures.Banks).scene, title="x")
    without_layout = re.sub(r'class="reactorl-elk">[^<]*<', "", text)
    allowed = {"http://www.w3.org/2000/svg"}

    assert set(re.findall(r"https?://[^\s\"'<]+", without_layout)) <= allowed
    assert "src=" not in without_layout


def test_layout_engine_is_the_pinned_one_with_its_licence() -> None:
    directory = files("reactorl.diagram") / "assets" / "elkjs"
    packed = (directory / "elk-worker.min.js.gz").read_bytes()
    digest = hashlib.sha256(gzip.decompress(packed)).hexdigest()

    assert digest in (directory / "README.md").read_text("utf-8")
    licence = (directory / "LICENSE.md").read_text("utf-8")
    assert licence.startswith("# Eclipse Public License - v 2.0")


@pytest.mark.parametrize("main", [pictures.Hierarchy, pictures.Ring])
def test_same_program_gives_the_same_page(main: Any) -> None:  # noqa: ANN401
    assert graph(main).html() == graph(main).html()
