# SPDX-License-Identifier: Apache-2.0
"""Reactions are ordered by declarations alone; loops are reported hop by hop."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reactorl import (
    FOREVER,
    CausalityError,
    Input,
    LogicalAction,
    Mode,
    Output,
    Program,
    Reactor,
    bank,
    elaborate,
    msec,
    reaction,
    startup,
)
from reactorl._program.levels import Precedence


def order(main: type[Reactor] | Reactor) -> tuple[Program, Precedence]:
    program = elaborate(main)
    return program, program.order


def by_name(program: Program, values: list[int]) -> dict[str, int]:
    return {program.reaction_name(i): value for i, value in enumerate(values)}


class Source(Reactor):
    out = Output[int]()

    @reaction(startup, effects=[out])
    def send(self) -> None: ...


class Relay(Reactor):
    inp = Input[int]()
    out = Output[int]()

    @reaction(inp, effects=[out])
    def relay(self) -> None: ...


class Join(Reactor):
    left = Input[int]()
    right = Input[int]()

    @reaction(left, sources=[right])
    def join(self) -> None: ...


class Diamond(Reactor):
    source = Source()
    relay = Relay()
    join = Join()

    def build(self) -> None:
        self.connect(self.source.out, self.relay.inp)
        self.connect(self.source.out, self.join.right)
        self.connect(self.relay.out, self.join.left)


def test_level_is_the_longest_path_and_sources_count() -> None:
    program, found = order(Diamond)

    assert by_name(program, found.level) == {
        "main.source.send": 0,
        "main.relay.relay": 1,
        "main.join.join": 2,
    }
    assert found.downstream == [(1, 2), (2,), ()]
    assert found.upstream == [(), (0,), (0, 1)]
    assert found.rank == found.level
    assert found.inferred == [FOREVER] * 3


def test_relays_of_any_depth_add_no_level() -> None:
    class Box(Reactor):
        inp = Input[int]()
        inner = Relay()

        def build(self) -> None:
            self.connect(self.inp, self.inner.inp)

    class Boxes(Reactor):
        inp = Input[int]()
        box = Box()

        def build(self) -> None:
            self.connect(self.inp, self.box.inp)

    class Main(Reactor):
        source = Source()
        boxes = Boxes()

        def build(self) -> None:
            self.connect(self.source.out, self.boxes.inp)

    program, found = order(Main)

    assert by_name(program, found.level)["main.boxes.box.inner.relay"] == 1


def test_reactions_of_one_reactor_are_ordered_though_unrelated() -> None:
    class Main(Reactor):
        @reaction(startup)
        def first(self) -> None: ...

        @reaction(startup)
        def second(self) -> None: ...

        @reaction(startup)
        def third(self) -> None: ...

    _, found = order(Main)

    assert found.level == [0, 1, 2]
    assert found.upstream == [(), (0,), (1,)]


def test_parents_and_children_are_ordered_by_ports() -> None:
    class Main(Reactor):
        relay = Relay()

        @reaction(startup, effects=[relay.inp])
        def send(self) -> None: ...

        @reaction(relay.out)
        def receive(self) -> None: ...

    program, found = order(Main)

    assert by_name(program, found.level) == {
        "main.send": 0,
        "main.relay.relay": 1,
        "main.receive": 2,
    }


def test_delays_and_actions_give_no_edge() -> None:
    class Loop(Reactor):
        a = Relay()
        b = Relay()
        c = Relay()

        def build(self) -> None:
            self.connect(self.a.out, self.b.inp)
            self.connect(self.b.out, self.c.inp, physical=True)
            self.connect(self.c.out, self.a.inp, after=0)

    class Again(Reactor):
        again = LogicalAction[int]()

        @reaction(startup, again, effects=[again])
        def go(self) -> None: ...

    assert order(Loop)[1].level == [0, 1, 0]
    assert order(Again)[1].level == [0]


def test_members_of_a_bank_have_levels_of_their_own() -> None:
    class Chain(Reactor):
        row = bank(Relay, width=4)

        def build(self) -> None:
            for left, right in pairwise(self.row):
                self.connect(left.out, right.inp)

    assert order(Chain)[1].level == [0, 1, 2, 3]


# -- modes -------------------------------------------------------------------------


def test_ports_do_not_order_reactions_of_different_modes() -> None:
    class Main(Reactor):
        red = Mode(initial=True)
        green = Mode()
        relay = Relay()

        with red:

            @reaction(relay.out)
            def read(self) -> None: ...

        with green:

            @reaction(startup, effects=[relay.inp])
            def write(self) -> None: ...

    with pytest.raises(CausalityError):
        order(Main)  # read -> write by order, write -> relay -> read by ports

    class Direct(Reactor):
        out = Output[int]()
        red = Mode(initial=True)
        green = Mode()
        short = Short()

        with red:

            @reaction(short.out)
            def read(self) -> None: ...

        with green:

            @reaction(startup, effects=[short.inp])
            def write(self) -> None: ...

    assert order(Direct)[1].upstream == [(), (0,)]


def test_ports_order_a_reaction_in_a_mode_and_one_outside_of_modes() -> None:
    class Main(Reactor):
        red = Mode(initial=True)
        short = Short()

        with red:

            @reaction(short.out)
            def read(self) -> None: ...

        @reaction(startup, effects=[short.inp])
        def write(self) -> None: ...

    with pytest.raises(CausalityError) as caught:
        order(Main)  # read -> write by order, write -> read by ports

    assert [hop.reaction for hop in caught.value.cycle] == ["main.read", "main.write"]


class Short(Reactor):
    inp = Input[int]()
    out = Output[int]()

    def build(self) -> None:
        self.connect(self.inp, self.out)


# -- loops -------------------------------------------------------------------------


class Actor(Reactor):
    weights = Input[int]()
    batch = Output[int]()

    @reaction(weights, effects=[batch])
    def act(self) -> None: ...


class Learner(Reactor):
    batches = Input[int]()
    weights = Output[int]()

    @reaction(batches, effects=[weights])
    def update(self) -> None: ...


class Train(Reactor):
    actor = Actor()
    learner = Learner()

    def build(self) -> None:
        self.connect(self.actor.batch, self.learner.batches)
        self.connect(self.learner.weights, self.actor.weights)


def test_loop_is_rejected_with_all_hops_and_the_remedy() -> None:
    with pytest.raises(CausalityError) as caught:
        order(Train)

    assert [(hop.reaction, hop.source, hop.target) for hop in caught.value.cycle] == [
        ("main.actor.act", "main.actor.batch", "main.learner.batches"),
        ("main.learner.update", "main.learner.weights", "main.actor.weights"),
    ]
    assert caught.value.cycle[0].where == Actor.__reactor__.reactions[0].where
    assert "after=0) delivers one microstep later" in str(caught.value)


def test_loop_through_reaction_order_names_the_two_reactions() -> None:
    class Swapped(Reactor):
        inp = Input[int]()
        out = Output[int]()

        @reaction(inp)
        def second(self) -> None: ...

        @reaction(startup, effects=[out])
        def first(self) -> None: ...

    class Main(Reactor):
        a = Swapped()
        b = Relay()

        def build(self) -> None:
            self.connect(self.a.out, self.b.inp)
            self.connect(self.b.out, self.a.inp)

    with pytest.raises(CausalityError) as caught:
        order(Main)

    assert [hop.by_order for hop in caught.value.cycle] == [True, False, False]
    assert "main.a.second and main.a.first are in the loop only because" in str(
        caught.value
    )


def test_reaction_that_waits_for_itself_is_rejected() -> None:
    class Main(Reactor):
        short = Short()

        @reaction(short.out, effects=[short.inp])
        def go(self) -> None: ...

    with pytest.raises(CausalityError, match="a reaction waits for itself"):
        order(Main)


def test_reaction_downstream_of_a_loop_is_not_reported() -> None:
    class Main(Reactor):
        train = Actor()
        learner = Learner()
        first = Source()
        last = Relay()

        def build(self) -> None:
            self.connect(self.train.batch, self.learner.batches)
            self.connect(self.learner.weights, self.train.weights)
            self.connect(self.train.batch, self.last.inp)

    with pytest.raises(CausalityError) as caught:
        order(Main)

    assert len(caught.value.cycle) == 2
    assert "last" not in str(caught.value)


# -- deadlines ---------------------------------------------------------------------


def test_deadlines_are_inherited_upstream_and_rank_first() -> None:
    class Urgent(Reactor):
        inp = Input[int]()

        @reaction(inp, deadline=msec(5))
        def act(self) -> None: ...

        @act.deadline_handler
        def late(self) -> None: ...

    class Main(Reactor):
        slow = Source()
        fast = Source()
        urgent = Urgent()
        calm = Relay()

        def build(self) -> None:
            self.connect(self.fast.out, self.urgent.inp)
            self.connect(self.slow.out, self.calm.inp)

    program, found = order(Main)

    assert by_name(program, found.inferred) == {
        "main.slow.send": FOREVER,
        "main.fast.send": msec(5),
        "main.urgent.act": msec(5),
        "main.calm.relay": FOREVER,
    }
    assert by_name(program, found.rank) == {
        "main.fast.send": 0,
        "main.urgent.act": 1,
        "main.slow.send": 2,
        "main.calm.relay": 3,
    }


# -- any graph ---------------------------------------------------------------------


@given(
    edges=st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=14),
    deadlines=st.lists(st.none() | st.integers(0, 9), min_size=8, max_size=8),
)
def test_every_order_by_rank_respects_every_edge_or_a_true_loop_is_shown(
    edges: list[tuple[int, int]], deadlines: list[int | None]
) -> None:
    main = _graph(edges, deadlines)
    try:
        _, found = order(main)
    except CausalityError as error:
        hops = error.cycle
        for one, other in pairwise((*hops, hops[0])):
            assert (_number(one.reaction), _number(other.reaction)) in edges
        return

    for one, other in edges:
        assert found.level[one] < found.level[other]
        assert found.rank[one] < found.rank[other]
        assert found.inferred[one] <= found.inferred[other]
        assert other in found.downstream[one]
        assert one in found.upstream[other]


def _number(reaction: str) -> int:
    return int(reaction.split(".")[1][1:])


def _graph(edges: list[tuple[int, int]], deadlines: list[int | None]) -> type[Reactor]:
    """Return a main reactor of eight reactors, one reaction each, and these edges."""
    children: dict[str, object] = {}
    for node, deadline in enumerate(deadlines):
        ports: dict[str, object] = {"out": Output[int]()}
        ports |= {f"i{k}": Input[int]() for k, e in enumerate(edges) if e[1] == node}
        names = [name for name in ports if name != "out"]
        ports["go"] = reaction(startup, *names, effects=["out"], deadline=deadline)(
            lambda _self: None
        )
        children[f"n{node}"] = type(Reactor)("Node", (Reactor,), ports)()

    def build(self: Reactor) -> None:
        for k, (one, other) in enumerate(edges):
            source = getattr(self, f"n{one}").out
            self.connect(source, getattr(getattr(self, f"n{other}"), f"i{k}"))

    return type(Reactor)("Main", (Reactor,), {**children, "build": build})
