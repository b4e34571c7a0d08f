# SPDX-License-Identifier: Apache-2.0
"""Federates of ``.lf`` files: names, placement, and which may end the program."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from reactorl.lf.diagnostics import Report
from reactorl.lf.federates import Federates, federates_of
from reactorl.lf.link.resolve import resolve
from reactorl.lf.loader import LoadedProgram

if TYPE_CHECKING:
    from pathlib import Path

    from reactorl import Program

RELAY = """
reactor Relay {
  input x
  output y
  reaction(x) -> y {= y.set(x.value) =}
}
"""


def load(directory: Path, text: str) -> tuple[Program, Federates | None, Report]:
    path = directory / "Main.lf"
    path.write_text(f"target Python\n{text}")
    report = Report()
    linked = resolve(path, report)
    assert linked is not None, report.in_order()
    assert linked.main is not None
    loaded = LoadedProgram.of(linked, [linked.main])
    program = loaded.program(report)
    assert program is not None, report.in_order()
    return program, federates_of(linked, program, report), report


def places(directory: Path, text: str) -> dict[str, str]:
    program, found, report = load(directory, text)
    assert found is not None, report.in_order()
    cut = found.cut
    return {node.path: cut.names[cut.where[node.id]] for node in program.reactors}


def test_every_contained_reactor_and_bank_member_is_a_federate(tmp_path: Path) -> None:
    text = """
    reactor Inner { timer t }
    reactor Outer { i = new Inner() }
    federated reactor {
      _a = new Outer()
      b = new[2] Outer()
    }
    """

    assert places(tmp_path, text) == {
        "main": "_a",
        "main._a": "_a",
        "main._a.i": "_a",
        "main.b[0]": "b__0",
        "main.b[0].i": "b__0",
        "main.b[1]": "b__1",
        "main.b[1].i": "b__1",
    }


@pytest.mark.parametrize(
    ("reaction", "home"),
    [
        ("reaction(startup) {= pass =}", "a"),
        ("reaction(b.y) {= pass =}", "b"),
        ("reaction(startup) -> b.x {= b.x.set(1) =}", "b"),
        ("reaction(startup) b.y {= pass =}", "b"),
        ("reaction(startup) {= pass =} reaction(c.y) {= pass =}", "c__0"),
    ],
)
def test_reactions_of_the_federated_reactor_run_where_their_federate_is(
    reaction: str, home: str, tmp_path: Path
) -> None:
    text = f"""{RELAY}
    federated reactor {{
      a = new Relay()
      b = new Relay()
      c = new[2] Relay()
      {reaction}
    }}
    """

    assert places(tmp_path, text)["main"] == home


def test_hosts_and_transient_federates(tmp_path: Path) -> None:
    text = f"""{RELAY}
    federated reactor at 10.0.0.1 {{
      a = new Relay() at user@host:8080
      @transient
      b = new[2] Relay()
    }}
    """

    _, found, _ = load(tmp_path, text)

    assert found is not None
    assert found.hosts == {
        "a": "user@host:8080",
        "b__0": "10.0.0.1",
        "b__1": "10.0.0.1",
    }
    assert found.transient == {"b__0", "b__1"}


@pytest.mark.parametrize(
    "code",
    [
        "reaction(startup) {= request_stop() =}",
        "reaction(startup) {= lf.request_stop() =}",
        "reaction(startup) {= lf.stop() =}",
        "reaction(startup) {= f = request_stop; f() =}",
        "reaction(startup) {= [g() for g in (request_stop,)] =}",
        "method end() {= request_stop() =} reaction(startup) {= self.end() =}",
        "preamble {= def end(self): request_stop() =} "
        "reaction(startup) {= self.end() =}",
        "reaction(startup) {= of_file() =}",
        "reaction(startup) {= alias() =}",
        "state o = {= Helper() =} reaction(startup) {= self.o.end() =}",
        "reaction(startup) {= pass =} deadline(1 ms) {= request_stop() =}",
    ],
)
def test_stops_are_found_by_name_in_bodies_and_preambles(
    code: str, tmp_path: Path
) -> None:
    text = f"""
    preamble {{=
      def of_file():
          request_stop()
      alias = of_file
      {"class Helper:" if "Helper" in code else "class Other:"}
          def end(self):
              {"lf.request_stop()" if "Helper" in code else "pass"}
    =}}
    reactor A {{ {code} }}
    reactor B {{ reaction(startup) {{= self.o = 1 =}} }}
    federated reactor {{ a = new A(); b = new B() }}
    """

    _, found, _ = load(tmp_path, text)

    assert found is not None
    # Which reactor calls methods of a preamble's class is not known: all may.
    assert found.cut.stops == (True, "Helper" in code)
