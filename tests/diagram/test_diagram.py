# SPDX-License-Identifier: Apache-2.0
"""Diagrams of programs: their content as data, Mermaid and DOT.

The texts are in ``golden``. After an intended change, look at the difference and
accept it with ``REACTORL_ACCEPT=1 pytest tests/diagram/test_diagram.py``.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import fromstring

import pytest

import reactorl
from reactorl import Reactor, elaborate, graph
from reactorl.diagram import DrawingError, Graph, Scene, scene, svg
from reactorl.diagram.backward import backward
from reactorl.diagram.fold import fold
from tests.diagram import pictures

GOLDEN = Path(__file__).parent / "golden"
NAMES = ("Hierarchy", "Banks", "Modes", "Loop", "Ring")


def _drawn(name: str, **options: Any) -> Graph:  # noqa: ANN401
    return graph(getattr(pictures, name), **options)


def _without_places(picture: Graph) -> str:
    """Return the scene's JSON, readable, without where things are declared."""
    plain = json.loads(picture.scene.to_json())
    for table in ("boxes", "items", "edges"):
        for row in plain[table]:
            row.pop("where", None)
            row.pop("cls_where", None)
        plain[table] = [json.dumps(row, ensure_ascii=False) for row in plain[table]]
    plain["problems"] = len(plain["problems"])
    return json.dumps(plain, indent=1, ensure_ascii=False) + "\n"


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["json", "mmd", "dot"])
def test_text_is_as_accepted(name: str, kind: str) -> None:
    picture = _drawn(name)
    found = {
        "json": lambda: _without_places(picture),
        "mmd": picture.mermaid,
        "dot": picture.dot,
    }[kind]()
    if kind == "dot":  # tips have places, which change with the lines of the programs
        found = re.sub(r'tooltip="(?:[^"\\]|\\.)*"', "tooltip", found)
    file = GOLDEN / f"{name}.{kind}"
    if os.environ.get("REACTORL_ACCEPT"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(found, encoding="utf-8")

    assert found == file.read_text(encoding="utf-8")


def test_same_program_gives_the_same_text_whatever_the_hash_seed() -> None:
    code = (
        "from reactorl import graph; from tests.diagram.pictures import *\n"
        "for main in (Hierarchy, Banks, Modes, Loop):\n"
        "    g = graph(main); print(g.scene.to_json(), g, g.dot(), len(g.html()))"
    )
    texts = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONUTF8": "1"},
        ).stdout
        for seed in ("1", "2", "3")
    }

    assert len(texts) == 1
    assert len(next(iter(texts))) > 10_000


def _item(picture: Graph, path: str) -> Any:  # noqa: ANN401
    return next(item for item in picture.scene.items if item.path == path)


def test_items_have_types_times_and_positions() -> None:
    picture = _drawn("Hierarchy")

    assert _item(picture, "main.pair.x").facts == (("type", "int"),)
    key = _item(picture, "main.key")
    assert key.kind == "physical action"
    assert dict(key.facts) == {
        "type": "str",
        "min delay": "0",
        "min spacing": "10 us",
        "policy": "drop",
    }
    send = _item(picture, "main.send")
    assert (send.number, send.shown) == (2, "deadline 10 ms")
    assert dict(send.facts) == {
        "triggers": "tick, key",
        "effects": "pair.x",
        "deadline": "10 ms",
        "if missed": "give_up",
    }
    assert send.where.rpartition(":")[0].endswith("pictures.py")
    box = picture.scene.boxes[0]
    assert box.params == (("factor", "3"), ("label", '"it\'s <b>"'))
    assert box.doc.startswith("Reactors in reactors")


def test_types_are_shown_as_they_are_written() -> None:
    class Typed(Reactor):
        plain = reactorl.Input()
        named = reactorl.Input["Later"]()
        many = reactorl.MultiInput[dict[str, list[int]]](2)
        either = reactorl.Output[int | None]()
        path = reactorl.LogicalAction[Path]()

    found = {item.name: dict(item.facts) for item in graph(Typed).scene.items}

    assert "type" not in found["plain"]
    assert found["named"]["type"] == "Later"
    assert found["many"]["type"] == "dict[str, list[int]]"
    assert found["either"]["type"] == "int | None"
    assert found["path"]["type"] == "Path"


def test_values_have_no_addresses_and_are_not_endless() -> None:
    class Worse:
        def __repr__(self) -> str:
            raise RuntimeError

    class Main(Reactor):
        function: object = reactorl.param()
        long: object = reactorl.param()
        worse: object = reactorl.param()

    main = Main(function=[lambda: 1], long="x\n" * 1000, worse=Worse())
    params = dict(graph(main).scene.boxes[0].params)

    assert "0x" not in params["function"]
    assert len(params["long"]) == 120
    assert "Worse" in params["worse"]


def test_broadcast_and_number_of_channels_are_labels() -> None:
    picture = _drawn("Banks")
    items = picture.scene.items
    found = {
        (items[e.source].path, items[e.target].path): dict(e.facts)
        for e in picture.scene.edges
        if e.kind == "connection"
    }

    assert found["main.gather.again", "main.actor[1].x"] == {"broadcast": "yes"}
    assert found["main.actor[0].y", "main.gather.xs"] == {}


def test_folded_banks_are_their_first_member_and_unfolded_ones_are_all() -> None:
    folded = fold(_drawn("Banks").scene)
    unfolded = fold(_drawn("Banks").scene, expand_banks=True)

    def names(view: Any) -> list[str]:  # noqa: ANN401
        return [f"{view.name(b)} x{view.stands_for(b)}" for b in view.boxes]

    assert names(folded)[:4] == ["main x1", "actor x3", "pair x2", "gather x1"]
    assert names(unfolded)[1:4] == ["actor[0] x1", "actor[1] x1", "actor[2] x1"]
    actor_to_gather = [
        view.scene.items[e.target].name
        for view in (folded, unfolded)
        for e in view.edges
        if view.scene.items[e.target].path == "main.gather.xs"
    ]
    assert len(actor_to_gather) == 1 + 3


def test_depth_closes_deeper_reactors() -> None:
    text = str(_drawn("Hierarchy", depth=1))

    assert 'b1["pair"]' in text
    assert "first" not in text
    assert "i5 --> b1" in text
    with pytest.raises(ValueError, match="got 0"):
        _drawn("Hierarchy", depth=0)


def test_only_loops_are_red() -> None:
    picture = _drawn("Loop")
    red = {item.path for item in picture.scene.items if item.loop}

    assert red == {
        "main.late.x",
        "main.late.read",
        "main.late.write",
        "main.late.y",
        "main.relay.x",
        "main.relay.pass_on",
        "main.relay.y",
    }
    order = [edge for edge in picture.scene.edges if edge.kind == "order"]
    assert [edge.loop for edge in order] == [True]
    assert "wait for each other" in picture.scene.problems[0]


def test_legal_program_has_no_red_though_its_modes_feed_each_other() -> None:
    for name in ("Hierarchy", "Banks", "Modes"):
        picture = _drawn(name)
        assert picture.scene.problems == ()
        assert not any(edge.loop for edge in picture.scene.edges)


def test_other_mistakes_are_errors() -> None:
    class Wrong(Reactor):
        relay = pictures.Relay()

        def build(self) -> None:
            self.connect(self.relay.x, self.relay.y)

    with pytest.raises(reactorl.WiringError):
        graph(Wrong)


def test_program_and_its_class_give_the_same_picture() -> None:
    program = elaborate(pictures.Banks)

    assert graph(program) == graph(pictures.Banks)
    assert graph(program, depth=1).mermaid() == str(graph(pictures.Banks, depth=1))
    assert scene(program) == graph(pictures.Banks).scene


# -- hostile names ------------------------------------------------------------------

HOSTILE = 'a"]; <script>alert(1)</script> & \\N `x` \n end'


def _hostile() -> Graph:
    cls = type(HOSTILE, (pictures.Relay,), {"__doc__": HOSTILE})

    class Main(Reactor):
        relay = cls()
        text: str = reactorl.param(HOSTILE)

        @reactorl.reaction(reactorl.startup, effects=["relay.x"], name=HOSTILE)
        def begin(self) -> None: ...

    return graph(Main, title=HOSTILE)


def test_names_are_no_markup_in_mermaid() -> None:
    shown = "a&quot;]; &lt;script&gt;alert(1)&lt;/script&gt; &amp; \\N &#96;x&#96; end"
    lines = str(_hostile()).splitlines()

    assert f'    i0{{{{"1: {shown}"}}}}' in lines
    assert f'    subgraph b1["relay : {shown}"]' in lines


def test_no_label_of_mermaid_is_taken_for_a_list() -> None:
    labels = re.findall(r'"([^"]+)"', "".join(str(_drawn(name)) for name in NAMES))

    assert "1: pass_on" in labels
    assert not [label for label in labels if re.match(r"\d+[.)]|[-+*#] ", label)]


def test_every_mermaid_frame_has_a_direction() -> None:
    for name in NAMES:
        lines = str(_drawn(name)).splitlines()
        frames = [k for k, line in enumerate(lines) if "subgraph" in line]
        assert frames
        assert all(lines[k + 1].strip() == "direction LR" for k in frames)


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
def test_names_are_no_markup_in_svg() -> None:
    text = _hostile().svg()

    assert "<script" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "\\N" in text
    assert "Generated by" not in text


NO_TEXT = "a\ud800\0\x1b[31m\ufffe"


def test_control_characters_and_surrogates_are_replaced(tmp_path: Path) -> None:
    """Such as half a character, in the name of a file that is not UTF-8."""

    class Main(Reactor):
        text: str = reactorl.param(NO_TEXT)

        @reactorl.reaction(reactorl.startup, name=NO_TEXT)
        def begin(self) -> None: ...

    picture = graph(Main, title=NO_TEXT)
    for suffix in (".html", ".mmd", ".dot", ".json"):
        picture.save(tmp_path / f"x{suffix}")
        text = (tmp_path / f"x{suffix}").read_text("utf-8")
        assert not re.search("[\0\x1b]", text)
    for text in (picture.mermaid(), picture.dot()):
        assert "1: a\ufffd\ufffd\ufffd[31m\ufffd" in text.replace("&#160;&#160;", ": ")
    assert "<title>a\ufffd\ufffd\ufffd[31m\ufffd</title>" in picture.html()
    assert Scene.from_json(picture.scene.to_json()) == picture.scene
    if shutil.which("dot"):
        fromstring(picture.svg())  # which would refuse it as XML


# -- Graphviz -----------------------------------------------------------------------


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
@pytest.mark.parametrize("name", NAMES)
def test_graphviz_draws_everything(name: str, tmp_path: Path) -> None:
    picture = _drawn(name)
    text = svg(picture.scene)

    assert text.startswith("<?xml")
    for item in picture.scene.items:
        folded = item.path.count("[") and "[0]" not in item.path
        if item.kind == "reaction" and not folded:
            assert item.name.split()[0] in text
    assert ("#dc2626" in text) == bool(picture.scene.problems)
    picture.save(tmp_path / "x.png")
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")


def _back(picture: Graph) -> list[str]:
    view = fold(picture.scene)
    items = picture.scene.items
    return [
        f"{items[edge.source].path} -> {items[edge.target].path}"
        for edge in view.edges
        if edge.id in backward(view)
    ]


def test_delayed_edges_are_feedback_only_where_they_close_a_cycle() -> None:
    assert _back(_drawn("Hierarchy")) == []
    assert _back(_drawn("Banks")) == [
        "main.gather.again -> main.actor[0].x",
        "main.pair[0].y -> main.pair[0].x",
    ]
    assert _back(_drawn("Modes")) == ["main.switch_off -> main.off"]


def test_value_that_a_reactor_keeps_closes_a_circle_too() -> None:
    class Keeper(pictures.Relay):
        """Takes in one reaction and gives in another."""

        tick = reactorl.Timer(0)
        z = reactorl.Output[int]()

        @reactorl.reaction(tick, effects=[z])
        def give(self) -> None: ...

    class Main(Reactor):
        keeper = Keeper()
        relay = pictures.Relay()

        def build(self) -> None:
            self.connect(self.keeper.z, self.relay.x)
            self.connect(self.relay.y, self.keeper.x, after=0)

    assert _back(graph(Main)) == ["main.relay.y -> main.keeper.x"]
    assert _back(graph(Main, depth=1)) == ["main.relay.y -> main.keeper.x"]


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
@pytest.mark.parametrize(
    ("name", "order"),
    [
        ("Banks", ("actor", "gather")),
        ("Banks", ("first", "after 2 ms", "second")),
        ("Modes", ("switch_on", "over (3 ms)", "switch_off")),
        ("Ring", ("one", "other")),
    ],
)
def test_graphviz_draws_from_left_to_right(name: str, order: tuple[str, ...]) -> None:
    text = _drawn(name).svg()

    def left(word: str) -> float:
        ends = rf">(?:[^<]*\W)?{re.escape(word)}</text>"
        found = re.search(rf'<text [^>]* x="([-\d.]+)"[^>]*{ends}', text)
        assert found is not None, word
        return float(found[1])

    assert sorted(order, key=left) == list(order)


def test_without_graphviz_the_error_names_the_package(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    picture = _drawn("Banks")

    with pytest.raises(DrawingError, match=r"apt install graphviz.*\.html or \.mmd"):
        picture.save(tmp_path / "x.svg")
    assert not (tmp_path / "x.svg").exists()
    picture.save(tmp_path / "x.html")
    assert "image/svg+xml" not in picture._repr_mimebundle_()


def test_error_of_graphviz_is_in_the_message(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fails(*_: object, **__: object) -> subprocess.CompletedProcess[bytes]:
        return subprocess.CompletedProcess([], 1, b"", b"out of paper")

    monkeypatch.setattr(shutil, "which", lambda _: "dot")
    monkeypatch.setattr(subprocess, "run", fails)

    with pytest.raises(DrawingError, match="out of paper"):
        _drawn("Banks").svg()


# -- files and notebooks ------------------------------------------------------------


def test_suffix_selects_the_format(tmp_path: Path) -> None:
    picture = _drawn("Banks")
    for suffix, begin in (
        (".mmd", "flowchart LR"),
        (".dot", "digraph program {"),
        (".HTML", "<!DOCTYPE html>"),
        (".json", '{"format":1'),
    ):
        picture.save(tmp_path / f"x{suffix}")
        assert (tmp_path / f"x{suffix}").read_text("utf-8").startswith(begin)
    with pytest.raises(DrawingError, match=r"'\.jpg'.*\.html, \.svg"):
        picture.save(tmp_path / "x.jpg")


def test_notebook_shows_a_page_in_a_frame() -> None:
    bundle = _drawn("Banks")._repr_mimebundle_()

    assert bundle["text/plain"].startswith("flowchart LR")
    frame = bundle["text/html"]
    assert frame.startswith('<iframe srcdoc="&lt;!DOCTYPE html&gt;')
    assert frame.count('"') == 4  # nothing in the page ends the attribute


def test_notebook_does_not_wait_for_still_pictures(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    drawn: list[str] = []

    def draws(_text: str, kind: str) -> bytes:
        drawn.append(kind)
        msg = "out of paper"
        raise DrawingError(msg, "")

    monkeypatch.setattr("reactorl.diagram.picture.is_installed", lambda: True)
    monkeypatch.setattr("reactorl.diagram.picture.rendered", draws)

    assert set(_drawn("Banks")._repr_mimebundle_()) == {"text/html", "text/plain"}
    assert drawn == ["svg"]  # and it failed, which does not matter
    assert "text/html" in graph(pictures.crowd(3, 100))._repr_mimebundle_()
    assert drawn == ["svg"]


def test_title_is_the_class_if_none_is_given() -> None:
    picture = _drawn("Banks")

    assert "<title>Banks</title>" in picture.html()
    assert "<title>a &amp; b</title>" in replace(picture, title="a & b").html()
