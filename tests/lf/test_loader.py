# SPDX-License-Identifier: Apache-2.0
"""``reactorl.lf.load``: reactors of ``.lf`` files, used from Python."""

from __future__ import annotations

import pickle
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import reactorl
from reactorl import (
    Input,
    MultiOutput,
    Output,
    ReactionError,
    Reactor,
    ReactorlWarning,
    Tag,
    bank,
    drive,
    reaction,
    run,
    sec,
    startup,
)
from reactorl.lf import LfError, load
from reactorl.testing import Collector, Stimulus, assert_deterministic, script

if TYPE_CHECKING:
    from reactorl.lf.loader import LoadedModule

SCALE = """\
target Python
preamble {=
  def double(value):
      return 2 * value
=}
reactor Scale(factor = 1) {
  input x
  output y
  state total = 0
  method add_up(value) {=
    self.total += value
    return self.total
  =}
  reaction(x) -> y {=
    self.add_up(x.value)
    y.set(self.factor * double(x.value) + self.bank_index)
  =}
}
"""
TEN_TWENTY = script([(0, 10), (5, 20)])


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def loaded(text: str, name: str = "Lib.lf") -> LoadedModule:
    Path(name).write_text(text)
    return load(name)


def test_lf_is_an_attribute_of_reactorl() -> None:
    Path("Lib.lf").write_text(SCALE)
    code = "import reactorl; print(reactorl.lf.load('Lib.lf').Scale.__name__)"

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )

    assert (done.stdout, done.stderr) == ("Scale\n", "")


def test_load_is_a_function_after_importing_its_module() -> None:
    import reactorl.lf.loader

    assert callable(reactorl.lf.load)
    assert reactorl.lf.load is reactorl.lf.loader.load
    assert {"LfError", "load"} <= {*dir(reactorl.lf)}


def test_module_has_only_the_classes_of_the_file() -> None:
    lib = loaded(SCALE)

    assert lib.main is None
    assert lib.__file__ == "Lib.lf"
    with pytest.raises(AttributeError, match="Skale"):
        _ = lib.Skale


def test_imported_classes_are_attributes_under_their_alias() -> None:
    Path("Lib.lf").write_text(SCALE)
    lib = loaded(
        'target Python\nimport Scale as S from "Lib.lf"\nmain reactor { s = new S() }',
        "Main.lf",
    )

    assert lib.S.__name__ == "Scale"
    assert lib.main is lib.Main


# -- in Python's reactors --


def test_connections_to_and_from_a_contained_reactor() -> None:
    lib = loaded(SCALE)
    seen: list[tuple[Tag, Any]] = []

    class Main(Reactor):
        source = Stimulus(script=TEN_TWENTY)
        scale = lib.Scale(factor=3)
        sink = Collector(into=seen)

        def build(self) -> None:
            self.connect(self.source.out, self.scale.x)
            self.connect(self.scale.y, self.sink.x, after=1)

    run(Main, fast=True)

    assert seen == [(Tag(1), 60), (Tag(6), 120)]


def test_reaction_uses_ports_of_a_contained_reactor() -> None:
    lib = loaded(SCALE)
    seen: list[int] = []

    class Main(Reactor):
        scale = lib.Scale(factor=2)

        @reaction(startup, effects=[scale.x])
        def send(self) -> None:
            self.scale.x.set(4)

        @reaction(scale.y)
        def receive(self) -> None:
            seen.append(self.scale.y.value)

    run(Main, fast=True)

    assert seen == [16]


def test_bank_index() -> None:
    lib = loaded(SCALE)

    class Both(Reactor):
        x = Input[int]()
        y = MultiOutput[int](3)
        scales = bank(lib.Scale(factor=1), width=3)

        def build(self) -> None:
            self.connect(self.x, self.scales.x, broadcast=True)
            self.connect(self.scales.y, self.y)

    with drive(Both) as driven:
        seen = driven.step(x=5).y

    assert list(seen) == [10, 11, 12]


def test_run_of_a_loaded_main_reactor(capsys: pytest.CaptureFixture[str]) -> None:
    lib = loaded("""\
target Python
main reactor {
  timer t(0, 1 s)
  reaction(t) {= print(lf.time.logical_elapsed() // SEC(1)) =}
}
""")
    assert lib.main is not None

    run(lib.main, fast=True, timeout=sec(2))

    assert capsys.readouterr().out == "0\n1\n2\n"


def test_drive_of_a_loaded_reactor() -> None:
    lib = loaded(SCALE)

    with drive(lib.Scale(factor=5)) as scale:
        assert [scale.step(x=n).y for n in (1, 2)] == [10, 20]


def test_loaded_reactors_are_deterministic() -> None:
    lib = loaded(SCALE)

    class Main(Reactor):
        source = Stimulus(script=TEN_TWENTY)
        scales = bank(lib.Scale(factor=1), width=4)

        def build(self) -> None:
            self.connect(self.source.out, self.scales.x, broadcast=True)

    result = assert_deterministic(Main)

    assert result.trace.values("main.scales[3].y") == [(Tag(0), 23), (Tag(5), 43)]


def test_unknown_parameter_raises() -> None:
    lib = loaded(SCALE)

    with pytest.raises(reactorl.ReactorlError, match="factr"):
        lib.Scale(factr=3)


# -- extended in Python --


def test_python_subclass_adds_reactions_and_reads_state() -> None:
    lib = loaded(SCALE)

    class Counting(lib.Scale):  # type: ignore[misc, name-defined]
        seen = Output[Any]()

        @reaction(lib.Scale.x, effects=[seen])
        def look(self) -> None:
            before = self.total
            self.total += 1000
            self.seen.set((before, self.add_up(0), self.factor))

    with drive(Counting(factor=7)) as counting:
        first, second = counting.step(x=1), counting.step(x=2)

    assert (first.y, first.seen) == (14, (1, 1001, 7))
    assert (second.y, second.seen) == (28, (1003, 2003, 7))


def test_python_subclass_adds_contained_reactors() -> None:
    lib = loaded("""\
target Python
reactor Inner { input i; output o; reaction(i) -> o {= o.set(i.value) =} }
reactor Outer { input x; output y; name = new Inner(); x -> name.i; name.o -> y }
""")

    class More(lib.Outer):  # type: ignore[misc, name-defined]
        z = Output[int]()

        def build(self) -> None:
            super().build()
            more = self.add("more", lib.Inner)
            self.connect(self.x, more.i)
            self.connect(more.o, self.z)

    with drive(More) as more:
        found = more.step(x=3)

    assert (found.y, found.z) == (3, 3)


# -- wrong files --


def test_error_contains_all_diagnostics() -> None:
    text = (
        "target Python\nreactor R {\n  reaction(no) {= =}\n  reaction(nah) {= =}\n}\n"
    )

    with pytest.raises(LfError) as caught:
        loaded(text)

    error = pickle.loads(pickle.dumps(caught.value))
    assert issubclass(LfError, reactorl.ReactorlError)
    assert [d.where.line for d in error.diagnostics if d.where is not None] == [3, 4]
    assert str(error) == str(caught.value)
    assert str(error).startswith("the program cannot be loaded\nLib.lf:3:12: error: ")
    assert "Lib.lf:4:12: error: " in str(error)


@pytest.mark.parametrize("name", ["missing.lf", "folder.lf", "empty.lf", "latin.lf"])
def test_unreadable_file_raises(name: str) -> None:
    Path("folder.lf").mkdir()
    Path("empty.lf").write_text("")
    Path("latin.lf").write_bytes(b"target Python // \xe9\n")

    with pytest.raises(LfError, match=f"{name}:1:"):
        load(name)


def test_lf_warnings_are_python_warnings() -> None:
    with pytest.warns(ReactorlWarning, match=r"Lib.lf:3:3: warning: "):
        loaded("target Python\nreactor R {\n  private preamble {= x = 1 =}\n}\n")


def test_exception_of_a_preamble_propagates() -> None:
    with pytest.raises(ZeroDivisionError):
        loaded("target Python\npreamble {= 1 / 0 =}\nreactor R { }\n")


# -- several at once --


def test_two_loads_are_independent() -> None:
    one = loaded("""\
target Python
preamble {= calls = [] =}
reactor Counts {
  input x
  output y
  reaction(x) -> y {= calls.append(x.value); y.set(len(calls)) =}
}
""")
    other = load(Path("Lib.lf"))

    with drive(one.Counts) as first, drive(other.Counts) as second:
        seen = [counts.step(x=0).y for counts in (first, first, second)]

    assert one.Counts is not other.Counts
    assert seen == [1, 2, 1]


def test_instances_do_not_share_state() -> None:
    lib = loaded("""\
target Python
reactor Keeps(items = {= [] =}) {
  input x
  output y
  state list = {= [] =}
  reaction(x) -> y {=
    self.list.append(x.value)
    self.items.append(x.value)
    y.set((len(self.list), len(self.items)))
  =}
}
""")

    for _ in range(2):
        with drive(lib.Keeps) as keeps:
            assert [keeps.step(x=1).y for _ in range(2)] == [(1, 1), (2, 2)]


def test_concurrent_runs_have_their_own_time() -> None:
    lib = loaded("""\
target Python
preamble {= import threading; met = threading.Barrier(2) =}
reactor Clock(step = 1 s) {
  output seen
  timer t(0, step)
  reaction(t) -> seen {=
    met.wait(60)
    before = lf.time.logical_elapsed(), lf.tag().time
    met.wait(60)
    seen.set((before, (lf.time.logical_elapsed(), lf.tag().time)))
  =}
}
""")
    found: dict[int, list[Any]] = {}

    def observe(step: int) -> None:
        class Main(Reactor):
            clock = lib.Clock(step=step)

        result = run(
            Main,
            fast=True,
            timeout=4 * step,
            workers=1,
            start_time=step,
            trace="values",
        )
        found[step] = result.trace.values("main.clock.seen")

    threads = [threading.Thread(target=observe, args=(n,)) for n in (1000, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    for step in (1000, 7):
        times = [(n * step, (n + 1) * step) for n in range(5)]
        assert [value for _, value in found[step]] == [(t, t) for t in times]


def test_interleaved_steps_of_driven_programs() -> None:
    lib = loaded("""\
target Python
reactor Clock {
  input x
  output y
  reaction(x) -> y {= y.set(lf.time.start()) =}
}
""")

    with drive(lib.Clock, start_time=1) as one, drive(lib.Clock, start_time=2) as two:
        seen = [clock.step(x=0).y for clock in (one, two, one, two)]

    assert seen == [1, 2, 1, 2]


def test_reading_time_before_the_start_raises() -> None:
    with pytest.raises(RuntimeError, match="is not running"):
        loaded("target Python\npreamble {= lf.time.logical() =}\nreactor R { }\n")


# -- names that are Reactor's as well --

NAMES = [
    "name",
    "tag",
    "seed",
    "add",
    "connect",
    "build",
    "setup",
    "teardown",
    "random",
    "lag",
    "elapsed",
    "np_random",
    "add_bank",
    "start_time",
    "request_stop",
    "physical_time",
    "check_deadline",
    "value",
    "set",
    "is_present",
    "path",
    "lf",
]
PLACES = {
    "state": """
      state {} = 5
      reaction(x) -> y {{= self.{} += x.value; y.set(self.{}) =}}
    """,
    "reset state": """
      reset state {} = 5
      initial mode m {{ reaction(x) -> y {{= y.set(self.{} + x.value) =}} }}
    """,
    "parameter": "reaction(x) -> y {{= y.set(self.{} + x.value) =}}",
    "method": """
      method {}(v) {{= return v + 5 =}}
      reaction(x) -> y {{= y.set(self.{}(x.value)) =}}
    """,
    "preamble": """
      preamble {{= {} = 5 =}}
      reaction(x) -> y {{= y.set(self.{} + x.value) =}}
    """,
    "output": """
      output {}
      reaction(x) -> {}, y {{= {}.set(1); y.set(x.value + 5) =}}
    """,
    "input": """
      input {}
      reaction(x) {} -> y {{= y.set(x.value + 5 - {}.is_present) =}}
    """,
    "multiport": """
      input[2] {}
      reaction(x) {} -> y {{= y.set(x.value + 5 - {}[1].is_present) =}}
    """,
    "action": """
      logical action {}
      reaction(x) -> {} {{= {}.schedule(0, x.value + 5) =}}
      reaction({}) -> y {{= y.set({}.value) =}}
    """,
    "timer": """
      timer {}
      reaction({}) {{= =}}
      reaction(x) -> y {{= y.set(x.value + 5) =}}
    """,
    "mode": """
      initial mode {} {{
        reaction(x) -> y, reset(m) {{= m.set(); y.set(x.value + 5) =}}
      }}
      mode m {{ reaction(x) -> reset({}) {{= {}.set() =}} }}
    """,
    "reaction": "reaction {}(x) -> y {{= y.set(x.value + 5) =}}",
    "child": """
      {} = new Plus()
      x -> {}.name
      {}.tag -> y
    """,
    "child in reactions": """
      {} = new Plus()
      reaction(x) -> {}.name {{= {}.name.set(x.value) =}}
      reaction({}.tag) -> y {{= y.set({}_tag.value) =}}
    """,
    "bank": """
      {} = new[2] Plus()
      reaction(x) -> {}.name {{= {}[1].name.set(x.value) =}}
      reaction({}.tag) -> y {{= y.set({}[1].tag.value) =}}
    """,
}


@pytest.mark.parametrize("place", PLACES)
def test_names_of_the_reactor_api_can_be_used_in_lf(
    place: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in NAMES:
        members = (
            PLACES[place].replace("{}", name).replace("{{", "{").replace("}}", "}")
        )
        lib = loaded(f"""\
target Python
reactor Plus {{
  input name
  output tag
  reaction(name) -> tag {{= tag.set(name.value + 5) =}}
}}
reactor R{f"({name} = 5)" if place == "parameter" else ""} {{
  input x
  output y
  {members}
}}
main reactor {{
  seed = new R()
  reaction(startup) -> seed.x {{= seed.x.set(1) =}}
  reaction(seed.y) {{= print(seed.y.value) =}}
}}
""")
        assert lib.main is not None

        run(lib.main, fast=True)

        assert capsys.readouterr().out == "6\n", name

        class Extended(lib.R):  # type: ignore[misc, name-defined]
            z = Output[int]()

            @reaction("x", effects=[z])
            def more(self) -> None:
                self.z.set(self.x.value)

        with drive(Extended) as driven:
            assert driven.step(x=1).z == 1, name


def test_arrays_sent_by_lf_reactors_stay_writable(tmp_path: Path) -> None:
    pytest.importorskip("numpy")
    path = tmp_path / "Shares.lf"
    path.write_text(
        "target Python\n"
        "preamble {= import numpy =}\n"
        "reactor Sender {\n"
        "  output y\n"
        "  reaction(startup) -> y {=\n"
        "    a = numpy.zeros(2)\n"
        "    y.set(a)\n"
        "    a[0] = 7  # LF shares the object\n"
        "  =}\n"
        "}\n"
    )
    sender = load(path).Sender
    seen = []

    class Main(Reactor):
        child = sender()

        @reaction(child.y)
        def note(self) -> None:
            seen.append(self.child.y.value.tolist())

    run(Main, fast=True)

    assert seen == [[7.0, 0.0]]
    with pytest.raises(ReactionError, match="read-only"):
        run(Main, fast=True, freeze=True)
