# SPDX-License-Identifier: Apache-2.0
"""The canonical text of a program is the same wherever and whenever it is made."""

import os
import subprocess
import sys
from enum import Enum
from pathlib import Path

from reactorl import (
    Input,
    LogicalAction,
    Mode,
    MultiOutput,
    Output,
    PhysicalAction,
    Reactor,
    Timer,
    Watchdog,
    bank,
    elaborate,
    msec,
    param,
    reaction,
    sec,
    startup,
    state,
)
from reactorl._program.text import digest, text, value_text


class Leaf(Reactor):
    x = Input[int](mutable=True)
    y = MultiOutput[int](2)
    gain: float = param(0.5)

    @reaction(x, effects=[y], deadline=msec(1))
    def scale(self) -> None: ...

    @scale.deadline_handler
    def late(self) -> None: ...


class Main(Reactor):
    out = Output[int]()
    tick = Timer(0, sec(1))
    soon = LogicalAction[int](msec(2), min_spacing=0)
    alarm = PhysicalAction[int]()
    dog = Watchdog(sec(3), effects=[alarm])
    on = Mode(initial=True)
    off = Mode()
    row = bank(Leaf, width=2)
    with on:
        count: int = state(0, reset=True)

        @reaction(startup, tick, sources=[row.y], effects=[soon, dog, off, out])
        def go(self) -> None: ...

    @dog.handler
    def bark(self) -> None: ...

    def build(self) -> None:
        self.connect(self.row[0].y[0], self.row[1].x, after=0)
        with self.off:
            self.connect(self.row[1].y[0], self.out)


EXPECTED = """\
program 1
reactor main: {m}.Main()
reactor main.row[0] of 2: {m}.Leaf(gain=0.5)
reactor main.row[1] of 2: {m}.Leaf(gain=0.5)
output main.out
mutable input main.row[0].x
output main.row[0].y[2]
mutable input main.row[1].x
output main.row[1].y[2]
timer main.tick(0, 1000000000)
logical action main.soon(2000000, 0, defer)
physical action main.alarm(0, None, defer)
initial mode main.on
mode main.off
watchdog main.dog(3000000000) -> main.alarm
reset_state reaction main._reset_state[on](reset) restores count in main.on
body reaction main.go(startup, main.tick) main.row[0].y, main.row[1].y -> main.out, \
main.soon, reset(main.off), main.dog does {m}.Main.go in main.on
forward reaction main._forward[2](main.row[1].y) -> main.out from main.row[1].y[0] \
to main.out in main.off
body reaction main.row[0].scale(main.row[0].x) -> main.row[0].y deadline 1000000 \
does {m}.Leaf.scale else {m}.Leaf.late
body reaction main.row[1].scale(main.row[1].x) -> main.row[1].y deadline 1000000 \
does {m}.Leaf.scale else {m}.Leaf.late
connection main.row[0].y[0] -> main.row[1].x after 0 stage 0
"""


def test_text_shows_every_kind_of_node() -> None:
    assert text(elaborate(Main)) == EXPECTED.format(m=__name__)


def test_different_programs_have_different_digests() -> None:
    class Other(Main):
        more: int = param(1)

    assert digest(elaborate(Main)) == digest(elaborate(Main))
    assert digest(elaborate(Main)) != digest(elaborate(Other))


SCRIPT = """
from reactorl import Reactor, Input, Output, bank, elaborate, param, reaction, startup
from reactorl._program.text import digest

class Leaf(Reactor):
    x = Input[int]()
    y = Output[int]()
    tags: frozenset[str] = param(frozenset({"a", "b", "c", "d"}))
    f: object = param(len)

    @reaction(startup, sources=[x])
    def go(self) -> None: ...

class Main(Reactor):
    row = bank(Leaf, width=3)

    @reaction(row.y, effects=[row.x])
    def go(self) -> None: ...

print(digest(elaborate(Main)))
"""


def test_hash_seed_and_directory_leave_no_mark(tmp_path: Path) -> None:
    found = set()
    for seed, folder in (("0", "one"), ("1", "two"), ("77", "one/deep")):
        script = tmp_path / folder / "program.py"
        script.parent.mkdir(parents=True, exist_ok=True)
        script.write_text(SCRIPT)
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        found.add(
            subprocess.run(
                [sys.executable, str(script)],
                env=environment
                | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                capture_output=True,
                check=True,
                text=True,
            ).stdout
        )

    assert len(found) == 1


def test_values_show_neither_addresses_nor_hash_order() -> None:
    class Color(Enum):
        RED = 1

    class Opaque: ...

    assert (
        value_text({"b": [1, (2,)], "a": {"z", "y"}})
        == "{'b': [1, (2)], 'a': {'y', 'z'}}"
    )
    assert value_text(len) == "builtins.len"
    assert value_text(Opaque()).endswith("Opaque>")
    assert "0x" not in value_text(Opaque())
    assert value_text(Color.RED).endswith("Color.RED")
