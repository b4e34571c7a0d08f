# SPDX-License-Identifier: Apache-2.0
"""``reactorl graph``: targets, formats of diagrams, and errors."""

from __future__ import annotations

import json
import shutil
import sys
from typing import TYPE_CHECKING

import pytest

from reactorl.cli.main import main

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    Capture = pytest.CaptureFixture[str]

PROGRAM = """\
from reactorl import Input, Output, Reactor, reaction, startup

class Half(Reactor):
    x = Input[int]()
    y = Output[int]()
    @reaction(x, effects=[y])
    def halve(self): ...

class Whole(Reactor):
    one = Half()
    other = Half()
    def build(self):
        self.connect(self.one.y, self.other.x)

one = Half()
"""
LOOP = PROGRAM.replace(
    "self.one.y, self.other.x)",
    "self.one.y, self.other.x); self.connect(self.other.y, self.one.x)",
)
LF = """\
target Python
reactor Counter {
  input x
  reaction(x) {= pass =}
}
main reactor {
  c = new Counter()
  timer t(0, 1 s)
  reaction(t) -> c.x {= c.x.set(1) =}
}
"""


@pytest.fixture(autouse=True)
def _modules() -> Iterator[None]:
    """Remove the modules that a test has imported."""
    path, modules = list(sys.path), set(sys.modules)
    yield
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        if name.startswith(("pictured_", "_target_pictured_")):
            del sys.modules[name]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _written(directory: Path, text: str, name: str) -> str:
    (directory / name).write_text(text)
    return name


# -- targets ------------------------------------------------------------------


def test_class_in_a_file_or_a_module(here: Path, capsys: Capture) -> None:
    _written(here, PROGRAM, "pictured_a.py")

    for target in ("pictured_a.py:Whole", "pictured_a:Whole", "pictured_a.py"):
        assert main(["graph", target]) == 0
        assert capsys.readouterr().out.startswith(
            'flowchart LR\n  subgraph b0["main : Whole"]\n'
        )
    assert main(["graph", "pictured_a:one"]) == 0
    assert '"main : Half"' in capsys.readouterr().out


def test_main_reactor_of_an_lf_file(here: Path, capsys: Capture) -> None:
    assert main(["graph", _written(here, LF, "count.lf")]) == 0

    text = capsys.readouterr().out
    assert '"main : count"' in text
    assert "t (0, 1 s)" in text


def test_federates_are_drawn(here: Path, capsys: Capture) -> None:
    _written(here, PROGRAM, "pictured_f.py")

    assert main(["graph", "pictured_f.py:Whole", "--federates", "2"]) == 0
    assert '"federate head-1"' in capsys.readouterr().out
    assert main(["graph", "pictured_f.py:Whole", "--federates", "4"]) == 2
    assert "must be from 1 to 3" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["graph", "pictured_f.py:Whole", "--federates", "0"])
    assert "got '0'" in capsys.readouterr().err


def test_causality_loop_is_drawn_and_reported(here: Path, capsys: Capture) -> None:
    _written(here, LOOP, "pictured_b.py")

    assert main(["graph", "pictured_b.py:Whole", "-o", "loop.dot"]) == 0

    said = capsys.readouterr()
    assert said.out == "loop.dot\n"
    assert (
        said.err
        == "reactorl: Whole has a causality loop (drawn in red) and cannot run\n"
    )
    assert "#dc2626" in (here / "loop.dot").read_text()


def test_causality_loop_in_lf_is_drawn(here: Path, capsys: Capture) -> None:
    text = LF.replace("  input x\n", "  input x\n  output y\n").replace(
        "reaction(x) {=", "reaction(x) -> y {="
    )
    text = text.replace("  timer t", "  c.y -> c.x\n  timer t").replace(
        "  reaction(t) -> c.x {= c.x.set(1) =}\n", ""
    )

    assert main(["graph", _written(here, text, "loop.lf")]) == 0
    assert "#dc2626" in capsys.readouterr().out


def test_program_of_a_training_run(here: Path, capsys: Capture) -> None:
    pytest.importorskip("jax")
    from reactorl.rl import DQN, RunDirectory
    from reactorl.rl.runs.config import settings_of

    run = RunDirectory.create(
        None,
        runs=here / "runs",
        algorithm="dqn",
        settings=settings_of(DQN().task()),
        command=["reactorl"],
    )

    assert main(["graph", str(run.path)]) == 0

    text = capsys.readouterr().out
    assert '["learner"]' in text
    assert "rollout" in text
    assert ": learn" not in text  # contained reactors are collapsed at first
    assert main(["graph", str(run.path), "--depth", "2"]) == 0
    assert ": learn" in capsys.readouterr().out


# -- formats ------------------------------------------------------------------


def test_options_expand_and_collapse(here: Path, capsys: Capture) -> None:
    text = PROGRAM.replace("import Input", "import bank, Input").replace(
        "    other = Half()", "    other = bank(Half, width=2)"
    )
    text = text.replace("self.other.x)", "self.other[0].x)")
    _written(here, text, "pictured_c.py")

    assert main(["graph", "pictured_c.py:Whole", "--expand-banks"]) == 0
    assert "other[1]" in capsys.readouterr().out
    assert main(["graph", "pictured_c.py:Whole", "--depth", "1"]) == 0
    shown = capsys.readouterr().out
    assert "halve" not in shown
    assert "other ×2" in shown  # noqa: RUF001


def test_suffix_chooses_the_format(here: Path, capsys: Capture) -> None:
    _written(here, PROGRAM, "pictured_d.py")
    begin = {
        "html": b"<!DOCTYPE html>",
        "mmd": b"flowchart LR",
        "dot": b"digraph",
        "json": b'{"format":1',
    }
    if shutil.which("dot") is not None:
        begin |= {"svg": b"<?xml", "png": b"\x89PNG"}
    for kind, text in begin.items():
        assert main(["graph", "pictured_d:Whole", "-o", f"x.{kind}"]) == 0
        assert capsys.readouterr().out == f"x.{kind}\n"
        assert (here / f"x.{kind}").read_bytes().startswith(text)
    assert json.loads((here / "x.json").read_text())["boxes"][0]["cls"] == "Whole"


def test_page_is_written_on_a_terminal(
    here: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    _written(here, PROGRAM, "pictured_e.py")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)

    assert main(["graph", "pictured_e.py"]) == 0

    assert capsys.readouterr().out == "Whole.html\n"
    assert "<title>Whole</title>" in (here / "Whole.html").read_text()


# -- errors -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "status", "said"),
    [
        (["nothing"], 2, "program 'nothing' does not exist"),
        (["nothing:Main"], 2, "module 'nothing' of 'nothing:Main' does not exist"),
        (["nothing.py"], 2, "file 'nothing.py' does not exist"),
        (["nothing.py:Main"], 2, "file 'nothing.py' does not exist"),
        (["nothing.lf"], 2, "file 'nothing.lf' does not exist"),
        (["."], 2, "'.' is not the directory of a training run"),
        (["pictured_f:Nothing"], 2, "Its reactors are: Half, Whole"),
        (["pictured_f:startup"], 2, "Name a reactor class"),
        (["pictured_f:Whole", "-o", "x.jpg"], 2, "must end in .html, .svg, .png"),
        (["pictured_f:Whole", "-o", "x"], 2, "must end in .html, .svg, .png"),
        (["pictured_f:Whole", "-o", "no/x.mmd"], 1, "no/x.mmd: no such file"),
        (["broken_f.py"], 2, "ZeroDivisionError"),
        (["empty_f.py"], 2, "'empty_f.py' defines no reactors"),
        (["two_f.py"], 2, "Name one of them: two_f.py:Whole"),
        (["library_f.lf"], 2, "'library_f.lf' has no main reactor"),
        (["wrong_f.lf"], 2, "wrong_f.lf:"),
        (["miswired_f.py:Whole"], 2, "cannot be the source"),
    ],
)
def test_errors_are_reported(
    here: Path, capsys: Capture, args: list[str], status: int, said: str
) -> None:
    _written(here, PROGRAM, "pictured_f.py")
    _written(here, "1 / 0", "broken_f.py")
    _written(here, "", "empty_f.py")
    _written(here, f"{PROGRAM}\nclass Other(Whole): ...\n", "two_f.py")
    _written(here, "target Python\nreactor A { }\n", "library_f.lf")
    _written(here, "target Python\nreactor {", "wrong_f.lf")
    miswired = PROGRAM.replace("self.one.y, self.other.x", "self.one.x, self.other.x")
    _written(here, miswired, "miswired_f.py")

    assert main(["graph", *args]) == status
    assert said in capsys.readouterr().err


def test_syntax_errors_show_no_frames_of_importlib(here: Path, capsys: Capture) -> None:
    (here / "binary_f.py").write_bytes(b"\0\xff\x17")

    assert main(["graph", "binary_f.py"]) == 2
    err = capsys.readouterr().err
    assert "SyntaxError" in err
    assert err.endswith("reactorl: error: importing 'binary_f.py' failed\n")
    assert "importlib" not in err


def test_depth_must_be_at_least_1(capsys: Capture) -> None:
    with pytest.raises(SystemExit):
        main(["graph", "x:Main", "--depth", "0"])

    assert "must be an integer of at least 1, got '0'" in capsys.readouterr().err


def test_missing_graphviz_is_explained(
    here: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    _written(here, PROGRAM, "pictured_g.py")
    monkeypatch.setattr(shutil, "which", lambda _: None)

    assert main(["graph", "pictured_g:Whole", "-o", "x.svg"]) == 2
    assert "apt install graphviz" in capsys.readouterr().err
    assert not (here / "x.svg").exists()
