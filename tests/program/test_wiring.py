# SPDX-License-Identifier: Apache-2.0
"""connect(): channels in the documented order, one driver each, within reach."""

import warnings
from collections.abc import Callable

import pytest

from reactorl import (
    DelayError,
    Input,
    Mode,
    MultiInput,
    MultiOutput,
    Output,
    Program,
    Reactor,
    ReactorlWarning,
    WidthError,
    WiringError,
    bank,
    elaborate,
    interleaved,
    msec,
    param,
    reaction,
    startup,
)


class Node(Reactor):
    inp = Input[int]()
    out = Output[int]()

    @reaction(inp)
    def receive(self) -> None: ...


class Wide(Reactor):
    width: int = param(2)
    inp = MultiInput[int](width)
    out = MultiOutput[int](width)


class Open(Reactor):
    inp = MultiInput[int]()


def wires(program: Program) -> list[str]:
    return [
        f"{program.channel_name(c.source)} {program.channel_name(c.target)}".replace(
            "main.", ""
        )
        for c in program.connections
    ]


def built(build: Callable[[Reactor], None], **children: object) -> Program:
    """Elaborate a main reactor with these children and this build()."""
    cls = type(Reactor)("Main", (Reactor,), {**children, "build": build})
    return elaborate(cls)


# -- order -------------------------------------------------------------------------


def test_bank_of_multiports_is_flattened_member_by_member() -> None:
    program = built(
        lambda self: self.connect(self.a.out, self.b.inp),
        a=bank(Wide, width=2),
        b=Wide(width=4),
    )

    assert wires(program) == [
        "a[0].out[0] b.inp[0]",
        "a[0].out[1] b.inp[1]",
        "a[1].out[0] b.inp[2]",
        "a[1].out[1] b.inp[3]",
    ]


def test_interleaved_is_channel_major_and_makes_a_full_mesh() -> None:
    program = built(
        lambda self: self.connect(self.a.out, interleaved(self.a.inp)),
        a=bank(Wide, width=2),
    )

    assert wires(program) == [
        "a[0].out[0] a[0].inp[0]",
        "a[0].out[1] a[1].inp[0]",
        "a[1].out[0] a[0].inp[1]",
        "a[1].out[1] a[1].inp[1]",
    ]


def test_lists_members_and_channels_are_joined_in_order() -> None:
    program = built(
        lambda self: self.connect(
            [self.a[1].out[1], self.b.out], [self.b.inp, self.a[0].inp[1]]
        ),
        a=bank(Wide, width=2),
        b=Node(),
    )

    assert wires(program) == ["a[1].out[1] b.inp", "b.out a[0].inp[1]"]


def test_broadcast_repeats_the_sources() -> None:
    program = built(
        lambda self: self.connect(self.a.out, self.b.inp, broadcast=True),
        a=Wide(),
        b=bank(Node, width=4),
    )

    assert wires(program) == [
        "a.out[0] b[0].inp",
        "a.out[1] b[1].inp",
        "a.out[0] b[2].inp",
        "a.out[1] b[3].inp",
    ]


def test_channels_of_one_multiport_can_be_connected_one_by_one() -> None:
    class Main(Reactor):
        a = bank(Node, width=2)
        b = Wide()

        def build(self) -> None:
            for member, channel in zip(self.a, self.b.inp, strict=True):
                self.connect(member.out, channel)

    assert wires(elaborate(Main)) == ["a[0].out b.inp[0]", "a[1].out b.inp[1]"]


def test_own_ports_import_and_export() -> None:
    class Relay(Reactor):
        inp = Input[int]()
        out = Output[int]()
        node = Node()

        def build(self) -> None:
            self.connect(self.inp, self.node.inp)
            self.connect(self.node.out, self.out)

    program = elaborate(Relay)

    assert wires(program) == ["inp node.inp", "node.out out"]


# -- delays ------------------------------------------------------------------------


def test_delayed_targets_of_one_source_channel_share_a_stage() -> None:
    class Main(Reactor):
        pause: int = param(msec(3))
        a = Wide()
        b = bank(Node, width=4)
        c = bank(Node, width=2)
        d = Node()

        def build(self) -> None:
            self.connect(self.a.out, self.b.inp, after=0, broadcast=True)
            self.connect(self.a.out, self.c.inp, after=self.pause)
            self.connect(self.b[0].out, self.d.inp, physical=True)

    program = elaborate(Main)

    found = [(c.delay, c.physical, c.stage) for c in program.connections]
    assert found == [
        (0, False, 0),
        (0, False, 1),
        (0, False, 0),
        (0, False, 1),
        (msec(3), False, 2),
        (msec(3), False, 3),
        (None, True, 4),
    ]


@pytest.mark.parametrize("after", [-1, 0.5], ids=repr)
def test_wrong_delays_are_rejected(after: int) -> None:
    with pytest.raises(DelayError):
        built(
            lambda self: self.connect(self.a.out, self.b.inp, after=after),
            a=Node(),
            b=Node(),
        )


# -- widths ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("left", "right", "broadcast", "text"),
    [
        (3, 2, False, "has 3 channels and .* has 2: surplus sources are dropped"),
        (2, 3, False, "has 2 channels and .* has 3: surplus targets stay open"),
        (2, 3, True, "the last repetition is cut"),
    ],
)
def test_widths_that_do_not_fit_warn(
    left: int,
    right: int,
    broadcast: bool,  # noqa: FBT001
    text: str,
) -> None:
    class Main(Reactor):
        a = Wide(width=left)
        b = Wide(width=right)

        def build(self) -> None:
            self.connect(self.a.out, self.b.inp, broadcast=broadcast)

    with pytest.warns(ReactorlWarning, match=text):
        program = elaborate(Main)

    assert len(program.warnings) == 1
    assert len(program.connections) == (right if broadcast else 2)


def test_warning_is_given_once_however_many_instances() -> None:
    class Inner(Reactor):
        a = Wide(width=1)
        b = Wide()

        def build(self) -> None:
            self.connect(self.a.out, self.b.inp)

    class Main(Reactor):
        row = bank(Inner, width=5)

    with pytest.warns(ReactorlWarning):
        program = elaborate(Main)

    assert len(program.warnings) == 1


def test_multi_input_without_width_takes_that_of_its_statement() -> None:
    class Main(Reactor):
        a = bank(Node, width=6)
        b = Open()
        c = bank(Open, width=3)
        d = bank(Open, width=2)
        e = Open()
        f = Wide()
        g = Open()

        def build(self) -> None:
            self.connect(self.a.out, self.b.inp)
            self.connect(self.a.out, self.c.inp)
            self.connect(self.a.out, self.d.inp, broadcast=True)
            self.connect(self.a.out, [self.f.inp, self.e.inp])

    program = elaborate(Main)

    widths = {
        f"{program.reactors[p.reactor].name}": p.width
        for p in program.ports
        if program.reactors[p.reactor].cls is Open
    }
    assert widths == {
        "b": 6,
        "c[0]": 2,
        "c[1]": 2,
        "c[2]": 2,
        "d[0]": 6,
        "d[1]": 6,
        "e": 4,
        "g": 0,
    }
    assert program.warnings == ()


def test_inferred_width_is_known_in_the_childs_build() -> None:
    class Hub(Reactor):
        inp = MultiInput[int]()

        def build(self) -> None:
            self.add_bank("row", Node, width=len(self.inp))
            self.connect(self.inp, self.row.inp)

    class Main(Reactor):
        a = bank(Node, width=3)
        hub = Hub()

        def build(self) -> None:
            self.connect(self.a.out, self.hub.inp)

    program = elaborate(Main)

    assert program.reactors[-1].path == "main.hub.row[2]"
    top = program.roots
    names = [program.channel_name(c) for c in range(len(top))]
    shared = {names[c]: names[root] for c, root in enumerate(top) if c != root}
    assert shared["main.hub.row[2].inp"] == "main.a[2].out"


def test_widths_that_cannot_be_inferred_are_rejected() -> None:
    with pytest.raises(WidthError, match="do not divide"):
        built(
            lambda self: self.connect(self.a.out, self.b.inp),
            a=bank(Node, width=3),
            b=bank(Open, width=2),
        )
    with pytest.raises(WidthError, match="both take their width"):
        built(
            lambda self: self.connect(self.a.out, [self.b.inp, self.c.inp]),
            a=bank(Node, width=3),
            b=Open(),
            c=Open(),
        )
    with pytest.raises(WidthError, match="Declare the width"):
        built(
            lambda self: self.connect(self.a.out, self.b.inp[0]),
            a=Node(),
            b=Open(),
        )
    with pytest.raises(WidthError, match="is taken from its connection"):
        built(lambda self: len(self.b.inp), b=Open())


def test_channels_and_members_that_do_not_exist_are_rejected() -> None:
    with pytest.raises(WidthError, match="the port has 2 channels"):
        built(
            lambda self: self.connect(self.a.out[2], self.b.inp),
            a=Wide(),
            b=Node(),
        )
    with pytest.raises(WidthError, match="must be from 0 to 1"):
        built(lambda self: self.a[2], a=bank(Node, width=2))
    with pytest.raises(WiringError, match="Count from 0"):
        built(lambda self: self.a.out[-1], a=Wide())
    with pytest.raises(WiringError, match="is one channel"):
        built(lambda self: self.a.out[0], a=Node())


# -- drivers of channels -----------------------------------------------------------


def test_channel_has_one_driver() -> None:
    class Main(Reactor):
        a = Node()
        b = Node()
        c = Node()

        def build(self) -> None:
            self.connect(self.a.out, self.c.inp)
            self.connect(self.b.out, self.c.inp, after=0)

    with pytest.raises(WiringError, match=r"main\.c\.inp is driven a second time"):
        elaborate(Main)

    with pytest.raises(WiringError, match="driven a second time"):
        built(
            lambda self: self.connect(self.a.out, [self.b.inp, self.b.inp]),
            a=Wide(),
            b=Node(),
        )


def test_reaction_and_a_connection_do_not_drive_one_channel() -> None:
    class Main(Reactor):
        a = Node()
        b = Node()

        def build(self) -> None:
            self.connect(self.a.out, self.b.inp)

        @reaction(startup, effects=[b.inp])
        def go(self) -> None: ...

    with pytest.raises(WiringError, match=r"reaction main\.go at .* drives it already"):
        elaborate(Main)


def test_ports_on_the_wrong_side_are_rejected() -> None:
    class Main(Reactor):
        inp = Input[int]()
        out = Output[int]()
        a = Node()

    wrong: list[tuple[Callable[[Main], object], Callable[[Main], object]]] = [
        (lambda m: m.a.inp, lambda m: m.out),
        (lambda m: m.out, lambda m: m.a.inp),
        (lambda m: m.inp, lambda m: m.a.out),
        (lambda m: m.a.out, lambda m: m.inp),
    ]
    for source, target in wrong:

        class Case(Main):
            def build(self) -> None:
                self.connect(source(self), target(self))  # noqa: B023

        with pytest.raises(WiringError, match="cannot be the"):
            elaborate(Case)


def test_only_own_ports_and_direct_children_are_in_reach() -> None:
    class Outer(Reactor):
        inner = Node()

    with pytest.raises(WiringError, match="cannot be connected by main"):
        built(
            lambda self: self.connect(self.outer.inner.out, self.b.inp),
            outer=Outer(),
            b=Node(),
        )
    with pytest.raises(WiringError, match="must be ports"):
        built(lambda self: self.connect(3, self.b.inp), b=Node())
    with pytest.raises(WiringError, match="must be a multiport of a bank"):
        built(lambda self: interleaved(self.b.inp), b=Wide())


def test_circle_of_connections_alone_is_rejected() -> None:
    class Short(Reactor):
        inp = Input[int]()
        out = Output[int]()

        def build(self) -> None:
            self.connect(self.inp, self.out)

    class Main(Reactor):
        a = Short()

        def build(self) -> None:
            self.connect(self.a.out, self.a.inp)

    with pytest.raises(WiringError) as caught:
        elaborate(Main)
    first, *hops, last = str(caught.value).splitlines()
    assert "cycle" in first
    assert any("main.a.inp -> main.a.out" in hop for hop in hops)
    assert last == "Remove one of them."


# -- modes -------------------------------------------------------------------------


class Modal(Reactor):
    inp = Input[int]()
    out = MultiOutput[int](2)
    red = Mode(initial=True)
    green = Mode()
    with red:
        a = Wide()
    with green:
        b = Wide()


def test_modes_that_share_a_target_forward_to_it() -> None:
    class Main(Modal):
        def build(self) -> None:
            with self.red:
                self.connect(self.a.out, self.out)
                self.connect(self.inp, self.a.inp[0])
            with self.green:
                self.connect(self.b.out, self.out)

    program = elaborate(Main)

    assert wires(program) == ["inp a.inp[0]"]
    assert program.connections[0].scope == 0
    forwards = [r for r in program.reactions if r.kind == "forward"]
    assert [(r.name, r.scope) for r in forwards] == [
        ("_forward[0]", 0),
        ("_forward[1]", 0),
        ("_forward[2]", 1),
        ("_forward[3]", 1),
    ]
    pairs = [r.forward for r in forwards if r.forward is not None]
    names = [tuple(map(program.channel_name, pair)) for pair in pairs]
    assert names[3] == ("main.b.out[1]", "main.out[1]")
    top = program.roots
    assert all(top[target] == target for _, target in pairs)


def test_reaction_and_a_connection_share_a_target_in_different_modes() -> None:
    class Main(Reactor):
        out = Output[int]()
        red = Mode(initial=True)
        green = Mode()
        with green:
            b = Node()
        with red:

            @reaction(startup, effects=[out])
            def go(self) -> None: ...

        def build(self) -> None:
            with self.green:
                self.connect(self.b.out, self.out)

    program = elaborate(Main)

    assert program.connections == ()
    assert [(r.kind, r.index) for r in program.reactions[:2]] == [
        ("body", 0),
        ("forward", 1),
    ]


def test_one_mode_drives_a_target_once() -> None:
    class Main(Modal):
        def build(self) -> None:
            with self.green:
                self.connect(self.b.out, self.out)
            with self.red:
                self.connect(self.a.out, self.out)
                self.connect(self.a.out, self.out)

    with pytest.raises(WiringError, match="driven a second time"):
        elaborate(Main)


def test_target_driven_outside_of_modes_is_driven_by_no_mode() -> None:
    class Main(Modal):
        c = Wide()

        def build(self) -> None:
            self.connect(self.c.out, self.out)
            with self.red:
                self.connect(self.a.out, self.out)

    with pytest.raises(WiringError, match="driven a second time"):
        elaborate(Main)


def test_target_set_by_a_reaction_outside_of_modes_is_driven_by_no_mode() -> None:
    class Main(Reactor):
        out = Output[int]()
        red = Mode(initial=True)
        with red:
            a = Node()

        @reaction(startup, effects=[out])
        def go(self) -> None: ...

        def build(self) -> None:
            with self.red:
                self.connect(self.a.out, self.out)

    with pytest.raises(WiringError, match=r"main\.out is driven .* reaction main\.go"):
        elaborate(Main)


@pytest.mark.parametrize(
    "options", [{"after": 0}, {"physical": True}, {"broadcast": True}]
)
def test_forwarded_connections_are_simple(options: dict[str, bool]) -> None:
    class Main(Modal):
        def build(self) -> None:
            with self.red:
                self.connect(self.a.out, self.out)
            with self.green:
                self.connect(self.b.out, self.out, **options)

    with pytest.raises(WiringError, match="shares its target with another mode"):
        elaborate(Main)


def test_connection_past_its_mode_is_forwarded_so_that_it_ends_with_the_mode() -> None:
    class Main(Modal):
        c = Node()

        def build(self) -> None:
            with self.red:
                self.connect(self.inp, self.c.inp)

    program = elaborate(Main)

    assert program.connections == ()
    assert [(r.kind, r.scope) for r in program.reactions if r.reactor == 0] == [
        ("forward", 0)
    ]


def test_connection_with_one_source_outside_of_its_mode_is_forwarded_as_a_whole() -> (
    None
):
    class Main(Modal):
        c = Wide()

        def build(self) -> None:
            with self.red:
                self.connect([self.a.out[0], self.inp], [self.c.inp[0], self.c.inp[1]])

    program = elaborate(Main)

    assert program.connections == ()
    forwards = [r for r in program.reactions if r.kind == "forward"]
    pairs = [r.forward for r in forwards if r.forward is not None]
    assert [tuple(map(program.channel_name, pair)) for pair in pairs] == [
        ("main.a.out[0]", "main.c.inp[0]"),
        ("main.inp", "main.c.inp[1]"),
    ]
    assert {r.scope for r in forwards} == {0}


def test_modes_of_build_do_not_nest() -> None:
    class Main(Modal):
        def build(self) -> None:
            with self.red, self.green:
                pass

    with pytest.raises(Exception, match="exclude each other"):
        elaborate(Main)


def test_fitting_programs_do_not_warn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        elaborate(Modal)
