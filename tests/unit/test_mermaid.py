# SPDX-License-Identifier: Apache-2.0
"""Flowcharts of programs."""

from __future__ import annotations

from reactorl import Input, MultiInput, Output, Reactor, bank, elaborate, msec
from reactorl.diagram import mermaid


class Source(Reactor):
    out = Output[int]()
    back = Input[int]()


class Inner(Reactor):
    xs = MultiInput[int]()


class Sink(Reactor):
    xs = MultiInput[int]()
    done = Output[int]()
    inner = Inner()

    def build(self) -> None:
        self.connect(self.xs, self.inner.xs)


class Main(Reactor):
    source = bank(Source, width=3)
    sink = Sink()
    other = Sink()

    def build(self) -> None:
        self.connect(self.source.out, self.sink.xs)
        self.connect(self.sink.done, self.source.back, after=msec(2), broadcast=True)


def test_banks_are_one_box_and_delays_are_dashed() -> None:
    assert str(mermaid(elaborate(Main))) == (
        "flowchart LR\n"
        '  subgraph r0["main"]\n'
        '    r1["source[3]"]\n'
        '    subgraph r2["sink"]\n'
        '      r4["inner"]\n'
        "    end\n"
        '    subgraph r3["other<br><i>Sink</i>"]\n'
        '      r5["inner"]\n'
        "    end\n"
        "  end\n"
        '  r1 -->|"out → xs"| r2\n'
        '  r2 -.->|"done → back, after 2 ms"| r1\n'
        '  r2 -->|"xs"| r4\n'
    )


def test_names_are_no_markup() -> None:
    hostile = type("A<b>", (Reactor,), {})

    class Main(Reactor):
        def build(self) -> None:
            self.add("x", hostile)

    text = str(mermaid(elaborate(Main)))
    assert "x<br><i>A&lt;b&gt;</i>" in text


def test_a_notebook_shows_it() -> None:
    assert (
        mermaid(elaborate(Main))._repr_markdown_().startswith("```mermaid\nflowchart")
    )
