# SPDX-License-Identifier: Apache-2.0
"""``check`` reports all errors at once: of rules, causality loops and widths.

After an intended change, review the difference and accept it with
``REACTORL_ACCEPT=1 pytest tests/lf/test_check.py``.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from reactorl.cli.main import main

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("name", sorted(path.name for path in GOLDEN.glob("*.lf")))
def test_check_prints_the_golden_text(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(GOLDEN)

    status = main(["check", name])
    output = capsys.readouterr().err

    golden = Path(name).with_suffix(".txt")
    if os.environ.get("REACTORL_ACCEPT"):
        golden.write_text(output)
    assert status != 0
    assert output == golden.read_text()


def _check(tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    path = tmp_path / "P.lf"
    path.write_text(text)
    main(["check", str(path)])
    return [
        line.split(": error: ")[1]
        for line in capsys.readouterr().err.splitlines()
        if ": error: " in line
    ]


LOOP = """
  a = new Relay()
  b = new Relay()
  a.y -> b.x
  b.y -> a.x
"""
RELAY = """target Python
reactor Relay {
  input x
  output y
  reaction(x) -> y {= =}
}
"""


@pytest.mark.parametrize(
    ("wrong", "what"),
    [
        ("  c = new Rely()\n  c.y -> b.x", "unknown reactor 'Rely'"),
        ("  reaction(nowhere) {= =}", "'nowhere'"),
        ("  timer t(0, 10)", "unit"),
        ("  state s = {= 1 + =}", "syntax"),
        ("  reaction(startup) -> a.y {= =}", "a.y"),
        ("  mode m { reaction(startup) {= =} }", "initial"),
        ("  initial mode { reaction(startup) {= =} }\n  mode m { }", "no name"),
    ],
)
def test_causality_loop_is_reported_beside_another_error(
    wrong: str, what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = f"{RELAY}main reactor {{{LOOP}{wrong}\n}}\n"

    found = _check(tmp_path, text, capsys)

    assert any("wait for each other" in line for line in found), found
    assert any(what in line for line in found), found


@pytest.mark.parametrize(
    ("params", "what"),
    [
        ("(gain)", "'gain' has no default"),
        ("(a = nothing)", "'nothing'"),
        ("(n = [])", "width"),
    ],
)
def test_causality_loop_is_reported_beside_an_error_in_a_parameter(
    params: str, what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    width = "\n  w = new[n] Relay()" if "n = " in params else ""
    text = f"{RELAY}main reactor M{params} {{{LOOP}{width}\n}}\n"

    found = _check(tmp_path, text, capsys)

    assert any("wait for each other" in line for line in found), found
    assert any(what in line for line in found), found


@pytest.mark.parametrize(
    ("literal", "cause"),
    [
        (r'"\x"', r"truncated \xXX escape"),
        (r"'\x'", r"truncated \xXX escape"),
        (r'"\N{no such}"', "unknown Unicode character name"),
        (r'["", """\U99999999"""]', "illegal Unicode character"),
    ],
)
@pytest.mark.parametrize(
    "member",
    [
        "main reactor(p = {}) {{ }}",
        "main reactor {{ state s = {} }}",
        "reactor A(p = 0) {{ }}\nmain reactor {{ a = new[2] A(p = {}) }}",
        "reactor A(p = {}) {{ }}\nmain reactor {{ a = new A() }}",
    ],
)
def test_string_without_a_value_is_an_error(
    member: str,
    literal: str,
    cause: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = f"target Python\n{member.format(literal)}\n"

    (found,) = _check(tmp_path, text, capsys)

    assert found.endswith(f"invalid string: {cause}")


@pytest.mark.parametrize("width", [1_000_001, 10**8, 10**20])
@pytest.mark.parametrize("member", ["r = new[{}] Relay()", "input[{}] x"])
def test_width_over_the_maximum_is_an_error(
    member: str, width: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = f"{RELAY}reactor R {{ {member.format(width)} }}\n"

    (found,) = _check(tmp_path, text + "main reactor { r = new R() }\n", capsys)

    assert found.endswith(f" must be at most 1000000, got {width}")


def test_references_to_a_wrong_class_are_not_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = f"""{RELAY}
reactor Bad(n=1) extends Relay {{
  timer t(0, n)
}}
main reactor {{
  a = new Bad()
  b = new[2] Relay()
  a.y, a.y -> b.x
  reaction(startup) -> a.x {{= =}}
}}
"""
    found = _check(tmp_path, text, capsys)

    assert len(found) == 1
    assert "period of a timer" in found[0]
