# SPDX-License-Identifier: Apache-2.0
"""Diagrams of programs that are cut into federates."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import fromstring

import pytest

from reactorl import ProgramError, graph
from reactorl._program.placement import Federation
from reactorl.diagram import Graph, Scene
from reactorl.diagram.federates import COLOURS
from reactorl.diagram.fold import fold
from tests.diagram import pictures
from tests.diagram.test_diagram import GOLDEN, NAMES
from tests.diagram.test_html import _open

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page

PLACEMENT = {"main.nest[2:4]": "a", "main.nest[4]": "b", "main.nest[5].relay": "gpu"}


def _drawn(replicas: tuple[str, ...] = (), **options: Any) -> Graph:  # noqa: ANN401
    federation = Federation(PLACEMENT, replicas=replicas)
    return graph(pictures.Federated, federation=federation, **options)


def _crossing(picture: Graph) -> dict[tuple[str, str], str]:
    items = picture.scene.items
    return {
        (items[edge.source].path, items[edge.target].path): dict(edge.facts)["crosses"]
        for edge in picture.scene.edges
        if edge.crosses
    }


# -- the scene ----------------------------------------------------------------------


def test_boxes_have_the_federate_that_runs_them() -> None:
    picture = _drawn()
    names = picture.scene.federates
    found = {
        box.path: None if box.federate is None else names[box.federate]
        for box in picture.scene.boxes
    }

    assert names == ("head", "a", "b", "gpu")
    assert found["main"] == found["main.gather"] == found["main.nest[0]"] == "head"
    assert found["main.nest[3].relay"] == found["main.nest[3]"] == "a"
    assert found["main.nest[5]"] == "head"
    assert found["main.nest[5].relay"] == "gpu"
    assert found["main.nest"] is None  # its members run in several


def test_edges_with_which_values_cross_are_marked() -> None:
    found = _crossing(_drawn())

    assert found == {
        ("main.tick.go", "main.nest[2].x"): "head → a",
        ("main.tick.go", "main.nest[3].x"): "head → a",
        ("main.tick.go", "main.nest[4].x"): "head → b",
        ("main.nest[5].x", "main.nest[5].relay.x"): "head → gpu",
        ("main.nest[5].relay.y", "main.nest[5].y"): "gpu → head",
        ("main.nest[2].y", "main.gather.xs"): "a → head",
        ("main.nest[3].y", "main.gather.xs"): "a → head",
        ("main.nest[4].y", "main.gather.xs"): "b → head",
    }


def test_what_a_replica_sends_does_not_cross_but_what_it_reads_does() -> None:
    picture = _drawn(replicas=("main.tick",))
    found = _crossing(picture)

    assert not any(source == "main.tick.go" for source, _ in found)
    read = found["main.gather.again", "main.tick.done"]
    assert read == "head → a, head → b, head → gpu"
    tick = next(box for box in picture.scene.boxes if box.path == "main.tick")
    assert tick.copies == "a, b, gpu"


def test_a_folded_bank_has_one_member_for_each_placement() -> None:
    view = fold(_drawn().scene)
    scene = view.scene

    shown = {
        scene.boxes[box].path: view.stands_for(box)
        for box in view.boxes
        if view.bank(box) is not None
    }

    assert shown == {
        "main.nest[0]": 2,
        "main.nest[2]": 2,
        "main.nest[4]": 1,
        "main.nest[5]": 1,
    }


def test_scene_with_federates_survives_json() -> None:
    scene = _drawn(replicas=("main.tick",)).scene

    assert Scene.from_json(scene.to_json()) == scene


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["mmd", "dot"])
def test_without_a_federation_nothing_is_drawn_of_federates(
    name: str, kind: str
) -> None:
    text = (GOLDEN / f"{name}.{kind}").read_text(encoding="utf-8")

    assert "federate" not in text
    assert not any(colour.line in text for colour in COLOURS)


def test_program_that_cannot_be_cut_there_is_an_error() -> None:
    with pytest.raises(ProgramError, match="number of federates must be from 1 to 2"):
        graph(pictures.Hierarchy, federation=5)
    with pytest.raises(ProgramError, match="wait for each other"):
        graph(pictures.Loop, federation=2)


# -- texts --------------------------------------------------------------------------


def test_mermaid_has_regions_a_legend_and_thick_lines() -> None:
    text = _drawn(depth=1).mermaid()
    lines = text.splitlines()

    assert '    subgraph f0_1["federate a"]' in lines
    assert '    legend3["gpu"]' in lines
    assert f"  style f0_1 fill:{COLOURS[1].fill},stroke:{COLOURS[1].line}" in lines
    arrows = [line for line in lines if "-->" in line or "-.->" in line]
    thick = re.search(r"linkStyle ([\d,]+) stroke-width", text)
    assert thick is not None
    marked = [arrows[int(index)] for index in thick[1].split(",")]
    assert len(marked) == 4  # to and from a and b
    assert not any("after 0" in arrow for arrow in marked)


def test_dot_has_a_cluster_per_region_with_the_reactors_of_its_federate() -> None:
    if shutil.which("dot") is None:
        pytest.skip("Graphviz is not installed")
    picture = _drawn()
    name = "{http://www.w3.org/2000/svg}"
    groups = {
        group.findtext(f"{name}title"): group
        for group in fromstring(picture.svg()).iter(f"{name}g")
    }
    nest = {box.path: box.id for box in picture.scene.boxes}

    def colour(key: str) -> str | None:
        return groups[key][-1].find(f".//{name}path").get("fill")  # type: ignore[union-attr]

    assert "legend" in groups
    assert f"cluster_f{nest['main.nest[5]']}_3" in groups
    for path, number in (("main.nest[2]", 1), ("main.nest[5].relay", 3), ("main", 0)):
        assert colour(f"cluster_b{nest[path]}") == COLOURS[number].fill


# -- the page -----------------------------------------------------------------------


def _centre(page: Page, selector: str) -> tuple[float, float]:
    box = page.locator(selector).first.bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_page_shows_regions_around_the_reactors_of_a_federate(
    browser_page: Page, tmp_path: Path
) -> None:
    picture = _drawn()
    _open(browser_page, picture.html(), tmp_path)
    ids = {box.path: box.id for box in picture.scene.boxes}

    legend = browser_page.locator(".reactorl-federates li").all_text_contents()
    assert legend == ["head", "a", "b", "gpu"]
    titles = browser_page.locator(".reactorl-region text").all_text_contents()
    assert sorted(titles) == ["federate a", "federate b", "federate gpu"]
    for federate, path in ((1, "main.nest[2]"), (3, "main.nest[5].relay")):
        region = browser_page.locator(
            f".reactorl-region.reactorl-federate-{federate} rect"
        ).bounding_box()
        assert region is not None
        x, y = _centre(browser_page, f"[data-box='{ids[path]}'] > .reactorl-frame")
        assert region["x"] < x < region["x"] + region["width"]
        assert region["y"] < y < region["y"] + region["height"]
    # A line into a region has a part on each side of its frame.
    assert browser_page.locator(".reactorl-crossing").count() >= 6


def test_unfolded_bank_stays_in_its_regions(browser_page: Page, tmp_path: Path) -> None:
    _open(browser_page, _drawn(expand_banks=True, depth=1).html(), tmp_path)

    assert browser_page.locator(".reactorl-box.reactorl-federate-1").count() == 2
    browser_page.get_by_role("button", name="Banks").click()
    browser_page.wait_for_selector(".reactorl-diagram[data-drawn='2']")
    assert browser_page.locator(".reactorl-box.reactorl-federate-1").count() == 1


def test_page_without_federates_has_no_legend_of_them(
    browser_page: Page, tmp_path: Path
) -> None:
    _open(browser_page, graph(pictures.Banks).html(), tmp_path)

    assert not browser_page.locator(".reactorl-federates").is_visible()
    assert browser_page.locator("[class*='reactorl-federate-']").count() == 0
