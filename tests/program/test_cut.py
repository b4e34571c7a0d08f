# SPDX-License-Identifier: Apache-2.0
"""The cut: which parts a placement makes of a program, and what it refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from reactorl import (
    DeclarationError,
    Input,
    LogicalAction,
    Mode,
    Output,
    PhysicalAction,
    ProgramError,
    Reactor,
    Timer,
    UnknownNameError,
    bank,
    elaborate,
    param,
    reaction,
    startup,
)
from reactorl._program.cut import Cut, analyze_cut, cut_program
from reactorl._program.placement import Federation
from reactorl.testing.generated import program_from_seed

if TYPE_CHECKING:
    from reactorl import Program


class Source(Reactor):
    out = Output[int]()
    timer = Timer(0, 5)

    @reaction(timer, effects=[out])
    def send(self) -> None:
        self.out.set(1)


class Relay(Reactor):
    x = Input[int]()
    out = Output[int]()

    @reaction(x, effects=[out])
    def pass_on(self) -> None:
        self.out.set(self.x.value)

    @reaction(x)
    def look(self) -> None:
        pass


class Sink(Reactor):
    x = Input[int]()

    @reaction(x)
    def take(self) -> None:
        pass


class Chain(Reactor):
    source = Source()
    relay = Relay()
    sink = Sink()

    def build(self) -> None:
        self.connect(self.source.out, self.relay.x)
        self.connect(self.relay.out, self.sink.x, after=7)


class Star(Reactor):
    source = Source()
    sinks = bank(Sink, width=4)

    def build(self) -> None:
        self.connect([self.source.out], self.sinks.x, broadcast=True)


def placed(cut: Cut, program: Program) -> dict[str, str]:
    return {
        node.path: cut.names[cut.where[node.id]]
        for node in program.reactors
        if node.parent >= 0
    }


def messages(main: type[Reactor], federation: Federation) -> list[str]:
    return [error.what for error in analyze_cut(elaborate(main), federation).errors]


def test_reactors_run_where_they_are_named_or_where_their_container_runs() -> None:
    class Outer(Reactor):
        one = Chain()
        two = Chain()

    program = elaborate(Outer)

    cut = cut_program(
        program, Federation({"main.one": "a", "main.one.sink": "b"}, rest="c")
    )

    assert cut.names == ("c", "a", "b")
    where = placed(cut, program)
    assert where["main.one.relay"] == "a"
    assert where["main.one.sink"] == "b"
    assert where["main.two.sink"] == "c"


def test_a_program_proposes_where_its_reactors_run() -> None:
    class Outer(Reactor):
        def build(self) -> None:
            self.add("inner", Reactor, at="deep")

    class Main(Reactor):
        hinted = param(True)

        def build(self) -> None:
            at = {"at": "gpu"} if self.hinted else {}
            self.add("learner", Reactor, **at)
            self.add("outer", Outer(), at="far" if self.hinted else None)
            self.add_bank("rollout", Reactor, width=2, **at)

    program = elaborate(Main)

    def where(federation: Federation) -> dict[str, str]:
        cut = cut_program(program, federation)
        return {n.path: cut.names[cut.where[n.id]] for n in program.reactors}

    hints = {
        "main": "head",
        "main.learner": "gpu",
        "main.outer": "far",
        "main.outer.inner": "deep",
        "main.rollout[0]": "gpu",
        "main.rollout[1]": "gpu",
    }
    assert where(Federation()) == hints
    placed = Federation({"main.learner": "mine", "main.rollout[1]": "head"})
    assert where(placed) == {
        **hints,
        "main.learner": "mine",
        "main.rollout[1]": "head",
    }
    assert set(where(Federation(1)).values()) == {"head"}


def test_a_proposal_is_no_part_of_the_program() -> None:
    def main(at: str | None) -> type[Reactor]:
        class Main(Reactor):
            def build(self) -> None:
                self.add("part", Reactor, at=at)

        return Main

    assert elaborate(main("gpu")).digest == elaborate(main(None)).digest


def test_a_proposal_must_be_the_name_of_a_federate() -> None:
    class Main(Reactor):
        def build(self) -> None:
            self.add("part", Reactor, at="two words")

    with pytest.raises(DeclarationError, match=r"must be a word, got 'two words'") as e:
        elaborate(Main)
    assert "test_cut.py" in str(e.value)


@pytest.mark.parametrize(
    ("pattern", "members"),
    [
        ("main.sinks", [0, 1, 2, 3]),
        ("main.sinks[:]", [0, 1, 2, 3]),
        ("main.sinks[2]", [2]),
        ("main.sinks[1:3]", [1, 2]),
        ("main.sinks[:2]", [0, 1]),
        ("main.sinks[3:]", [3]),
    ],
)
def test_members_of_a_bank_are_chosen_by_index_or_slice(
    pattern: str, members: list[int]
) -> None:
    program = elaborate(Star)

    where = placed(cut_program(program, Federation({pattern: "a"})), program)

    assert [i for i in range(4) if where[f"main.sinks[{i}]"] == "a"] == members


def test_a_value_crosses_at_its_tag_and_an_event_with_its_delay() -> None:
    program = elaborate(Chain)

    cut = cut_program(
        program, Federation({"main.relay": "b", "main.sink": "c"}, rest="a")
    )

    direct, late = cut.links
    names = [program.reaction_name(r) for r in direct.slots[0].readers]
    assert (direct.source, direct.target, direct.lookahead) == (0, 1, None)
    assert names == ["main.relay.pass_on", "main.relay.look"]
    assert [program.reaction_name(r) for r in direct.slots[0].writers] == [
        "main.source.send"
    ]
    assert (late.source, late.target, late.delays, late.direct) == (1, 2, (7,), False)
    assert cut.stage_owners == ((1,),)
    assert cut.stage_at == ((2,),)


def test_slots_of_a_link_are_in_the_order_of_their_last_writers() -> None:
    class Main(Reactor):
        source = Source()
        relay = Relay()
        one = Sink()
        two = Sink()

        def build(self) -> None:
            self.connect(self.source.out, self.relay.x)
            self.connect(self.relay.out, self.one.x)
            self.connect(self.source.out, self.two.x)

    program = elaborate(Main)

    cut = cut_program(program, Federation({"main.one": "b", "main.two": "b"}))

    (link,) = cut.links
    assert [program.channel_name(slot.channel) for slot in link.slots] == [
        "main.source.out",
        "main.relay.out",
    ]


def test_placement_is_not_part_of_the_program() -> None:
    program = elaborate(Chain)
    before = program.digest

    cuts = [
        cut_program(program, Federation({"main.sink": "b"})),
        cut_program(elaborate(Chain), Federation({"main.sink": "b"})),
        cut_program(program, Federation({"main.relay": "b"})),
    ]

    assert {cut.program for cut in cuts} == {before} == {elaborate(Chain).digest}
    assert cuts[0] == cuts[1]
    assert cuts[0].digest == cuts[1].digest != cuts[2].digest


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 6])
def test_automatic_placement_gives_every_federate_something(count: int) -> None:
    program = elaborate(Star)

    cut = cut_program(program, Federation(count))

    assert len(cut.names) == count
    assert cut.names[0] == "head"
    assert list(cut.where) == sorted(cut.where)
    assert cut == cut_program(program, Federation(count))


def test_automatic_placement_balances_reactions() -> None:
    class Main(Reactor):
        sinks = bank(Sink, width=8)

    cut = cut_program(elaborate(Main), Federation(4))

    assert [cut.where[1:].count(f) for f in range(4)] == [2, 2, 2, 2]


@pytest.mark.parametrize("seed", range(60))
def test_every_generated_program_can_be_cut_or_says_why(seed: int) -> None:
    program = program_from_seed(seed).program

    for count in (2, 3):
        found = analyze_cut(program, Federation(count))
        assert (found.cut is None) == bool(found.errors)
        for error in found.errors:
            assert error.where is not None
            assert error.remedy or "number of federates" in error.what


# -- what is flat, physical, or may stop ----


def test_a_program_without_microsteps_is_flat() -> None:
    class Loop(Chain):
        pass

    class WithAction(Chain):
        again = LogicalAction[None](3)

    class WithMicrostep(Chain):
        def build(self) -> None:
            self.connect(self.source.out, self.relay.x)
            self.connect(self.relay.out, self.sink.x, after=0)

    federation = Federation({"main.sink": "b"})
    flat = {
        main.__name__: cut_program(elaborate(main), federation).flat
        for main in (Loop, WithAction, WithMicrostep)
    }

    assert flat == {"Loop": True, "WithAction": False, "WithMicrostep": False}


def test_physical_inputs_belong_to_their_federate() -> None:
    class Sensor(Reactor):
        event = PhysicalAction[int]()

    class Clocked(Reactor):
        sensor = Sensor()
        source = Source()
        relay = Relay()
        sink = Sink()

        def build(self) -> None:
            self.connect(self.source.out, self.relay.x)
            self.connect(self.relay.out, self.sink.x, physical=True)

    cut = cut_program(
        elaborate(Clocked),
        Federation({"main.sensor": "a", "main.sink": "b"}, rest="c"),
    )

    assert dict(zip(cut.names, cut.physical, strict=True)) == {
        "a": True,
        "b": True,
        "c": False,
    }
    (link,) = cut.links
    assert (link.physical, link.lookahead, link.direct) == ((0,), None, False)


def ends(self: Reactor) -> None:
    self.request_stop()


class _Base(Reactor):
    def helper(self) -> None:
        self.request_stop()


@pytest.mark.parametrize(
    ("body", "stops", "expected"),
    [
        (lambda self: self.request_stop(), None, True),
        (lambda self: ends(self), None, True),
        (lambda self: self.helper(), None, True),
        (lambda self: [ends(self) for _ in range(1)], None, True),
        (lambda self: getattr(self, "request_" + "stop")(), None, False),
        (lambda self: getattr(self, "request_" + "stop")(), True, True),
        (lambda self: self.request_stop(), False, False),
        (lambda self: None, None, False),
    ],
)
def test_who_may_stop_is_found_in_the_code(
    body: object,
    stops: bool | None,  # noqa: FBT001
    expected: bool,  # noqa: FBT001
) -> None:
    class Stopper(_Base):
        go = reaction(startup, stops=stops)(body)  # type: ignore[arg-type]

    class Main(Reactor):
        it = Stopper()
        sink = Sink()

    cut = cut_program(elaborate(Main), Federation({"main.it": "a"}))

    assert cut.stops[cut.names.index("a")] is expected
    assert [link.lookahead for link in cut.links] == ([0] if expected else [])


# -- replicas ----


def test_a_replica_runs_wherever_it_is_read() -> None:
    program = elaborate(Star)
    placement = {"main.sinks[0:2]": "a", "main.sinks[2:4]": "b"}

    alone = cut_program(program, Federation(placement))
    copied = cut_program(program, Federation(placement, replicas=["main.source"]))

    source = next(node.id for node in program.reactors if node.path == "main.source")
    assert len(alone.links) == 2
    assert copied.links == ()
    assert len(copied.copies[source]) == 3
    assert copied.names[copied.where[source]] == "head"


def test_what_a_replica_reads_goes_to_all_copies() -> None:
    program = elaborate(Chain)
    federation = Federation(
        {"main.source": "a", "main.relay": "b", "main.sink": "c"},
        replicas=["main.relay"],
    )

    cut = cut_program(program, federation)

    ends = {(cut.names[link.source], cut.names[link.target]) for link in cut.links}
    assert ends == {("a", "b"), ("a", "c")}
    assert all(link.direct for link in cut.links)


# -- what is refused ----


def test_unknown_names_are_refused_with_a_suggestion() -> None:
    with pytest.raises(UnknownNameError, match=r"Did you mean 'main.relay'") as caught:
        cut_program(elaborate(Chain), Federation({"main.relai": "b"}))

    assert caught.value.where is not None
    assert caught.value.where.file.endswith("test_cut.py")


@pytest.mark.parametrize(
    ("placement", "said"),
    [
        ({"main.sinks[0:9]": "a"}, "names members of a bank that has 4"),
        ({"main.sinks[0": "a"}, "is not the full name of a reactor"),
        ({"main.sinks": "a", "main.sinks[1]": "b"}, "is placed twice"),
        (0, "the number of federates must be from 1 to 6"),
        (7, "the number of federates must be from 1 to 6"),
    ],
)
def test_wrong_placements_are_refused(placement: dict[str, str], said: str) -> None:
    with pytest.raises(ProgramError, match=said):
        cut_program(elaborate(Star), Federation(placement))


@pytest.mark.parametrize("placement", [{"main": "a b"}, {"main": ""}, 1.5, True, "a"])
def test_wrong_arguments_are_refused(placement: object) -> None:
    with pytest.raises(DeclarationError):
        Federation(placement)  # type: ignore[arg-type]


def test_all_that_cannot_be_cut_is_said_at_once() -> None:
    class Modal(Reactor):
        one = Mode(initial=True)
        two = Mode()
        out = Output[int]()
        with one:
            first = Source()
        with two:
            second = Source()
        relay = Relay()
        sink = Sink()

        def build(self) -> None:
            self.connect(self.first.out, self.relay.x)
            with self.one:
                self.connect(self.relay.out, self.sink.x, after=3)

    class Main(Reactor):
        modal = Modal()

    found = messages(
        Main,
        Federation(
            {
                "main.modal.first": "a",
                "main.modal.second": "b",
                "main.modal.sink": "c",
            }
        ),
    )

    assert len(found) == 3
    assert "lives in the mode one of main.modal" in found[0]
    assert "lives in the mode two of main.modal" in found[1]
    assert "exists in the mode one of main.modal" in found[2]


def test_a_delayed_connection_in_a_mode_may_begin_elsewhere() -> None:
    class Modal(Reactor):
        one = Mode(initial=True)
        source = Source()
        sink = Sink()

        def build(self) -> None:
            with self.one:
                self.connect(self.source.out, self.sink.x, after=3)

    cut = cut_program(elaborate(Modal), Federation({"main.source": "a"}))

    (link,) = cut.links
    assert link.slots[0].readers == ()
    assert cut.stage_owners == ((0,),)


def test_one_physical_connection_ends_on_one_federate() -> None:
    class Main(Reactor):
        source = Source()
        sinks = bank(Sink, width=2)

        def build(self) -> None:
            self.connect([self.source.out], self.sinks.x, physical=True, broadcast=True)

    found = messages(Main, Federation({"main.sinks[0]": "a", "main.sinks[1]": "b"}))

    assert len(found) == 1
    assert "ends on several federates: 'a', 'b'" in found[0]


def test_inputs_of_the_main_reactor_stay_with_it() -> None:
    class Main(Reactor):
        x = Input[int]()
        sink = Sink()

        def build(self) -> None:
            self.connect(self.x, self.sink.x)

    found = messages(Main, Federation({"main.sink": "a"}))

    assert found == [
        "the input 'x' of the main reactor is read on another federate than 'head', "
        "where it is set"
    ]


def test_replicas_must_be_functions_of_their_inputs() -> None:
    class Stopper(Reactor):
        out = Output[int]()

        @reaction(startup, effects=[out])
        def go(self) -> None:
            self.request_stop()

    class Sensor(Reactor):
        event = PhysicalAction[int]()

    class Main(Reactor):
        stopper = Stopper()
        sensor = Sensor()
        sink = Sink()

    found = messages(
        Main,
        Federation({"main.sink": "a"}, replicas=["main.stopper", "main.sensor"]),
    )

    assert found == [
        "main.stopper cannot be replicated because it may end the program",
        "main.sensor cannot be replicated because it has physical inputs, which are "
        "stamped once",
    ]
