# SPDX-License-Identifier: Apache-2.0
"""Classes become one frozen program: ids, names, parameters, banks, build()."""

import gc
import tracemalloc
from datetime import timedelta

import pytest

from reactorl import (
    FOREVER,
    ContainmentError,
    DeclarationError,
    DelayError,
    Input,
    LogicalAction,
    Mode,
    MultiInput,
    MultiOutput,
    Output,
    PhysicalAction,
    ProgramError,
    Reactor,
    Timer,
    UnknownNameError,
    Watchdog,
    WidthError,
    WiringError,
    bank,
    elaborate,
    history,
    msec,
    param,
    reaction,
    reset,
    sec,
    shutdown,
    startup,
    state,
)
from reactorl._program import elaborate as elaborate_module
from reactorl._program.program import NO_SCOPE
from reactorl._program.rules import check_main_has_no_ports
from reactorl.tag import Duration


class Leaf(Reactor):
    x = Input[int]()
    y = Output[int]()
    gain: int = param(1)

    @reaction(x, effects=[y])
    def scale(self) -> None: ...


class Grid(Reactor):
    n: int = param(2)
    first = Leaf(gain=n)
    row = bank(Leaf(gain=n * 10), width=n + 1)


class World(Reactor):
    grids = bank(Grid, width=2, each=lambda _world, i: {"n": i})
    last = Leaf()


# -- order, names, parameters ------------------------------------------------------


def test_ids_go_parents_first_then_textual_order_then_members() -> None:
    program = elaborate(World)

    assert [r.path for r in program.reactors] == [
        "main",
        "main.grids[0]",
        "main.grids[1]",
        "main.last",
        "main.grids[0].first",
        "main.grids[0].row[0]",
        "main.grids[1].first",
        "main.grids[1].row[0]",
        "main.grids[1].row[1]",
    ]
    assert [r.id for r in program.reactors] == list(range(9))
    assert [r.parent for r in program.reactors] == [-1, 0, 0, 0, 1, 1, 2, 2, 2]
    assert program.reactors[8].name == "row[1]"
    assert (program.reactors[8].bank_index, program.reactors[8].bank_width) == (1, 2)
    assert program.reactors[6].bank_index is None


def test_parameters_of_the_parent_are_resolved_per_instance() -> None:
    program = elaborate(World)
    gains = {r.path: r.params["gain"] for r in program.reactors if r.cls is Leaf}

    assert gains == {
        "main.last": 1,
        "main.grids[0].first": 0,
        "main.grids[0].row[0]": 0,
        "main.grids[1].first": 1,
        "main.grids[1].row[0]": 10,
        "main.grids[1].row[1]": 10,
    }


def test_members_that_are_alike_share_their_parameters() -> None:
    program = elaborate(Grid(n=3))

    assert program.reactors[2].params is program.reactors[5].params
    with pytest.raises(TypeError):
        program.reactors[2].params["gain"] = 4


def test_class_and_a_configured_reactor_both_make_a_program() -> None:
    assert len(elaborate(Grid).reactors) == 5
    assert len(elaborate(Grid(n=7)).reactors) == 10
    with pytest.raises(DeclarationError, match="got 3"):
        elaborate(3)


def test_elaborating_twice_gives_the_same_program() -> None:
    assert elaborate(World) == elaborate(World)


def test_bank_index_is_set_per_member_unless_given() -> None:
    class Indexed(Reactor):
        bank_index: int = param(99)

    class Main(Reactor):
        alone = Indexed()
        chosen = Indexed(bank_index=7)
        three = bank(Indexed, width=3)
        given = bank(Indexed(bank_index=5), width=1)

    program = elaborate(Main)

    found = [r.params["bank_index"] for r in program.reactors[1:]]
    assert found == [0, 7, 0, 1, 2, 5]


def test_channels_are_numbered_through_all_ports() -> None:
    class Wide(Reactor):
        a = Input[int]()
        b = MultiInput[int](3)
        c = MultiOutput[int](0)
        d = Output[int]()

    program = elaborate(Wide)

    assert [p.first for p in program.ports] == [0, 1, 4, 4]
    assert [list(p.channels) for p in program.ports] == [[0], [1, 2, 3], [], [4]]
    assert program.channel_port == (0, 1, 1, 1, 3)
    assert [program.channel_name(c) for c in range(5)] == [
        "main.a",
        "main.b[0]",
        "main.b[1]",
        "main.b[2]",
        "main.d",
    ]


def test_every_element_becomes_a_node() -> None:
    class Full(Reactor):
        tick = Timer(msec(1), msec(2))
        soon = LogicalAction[int](msec(3), min_spacing=0, policy="replace")
        alarm = PhysicalAction[None]()
        dog = Watchdog(sec(1), effects=[alarm])

        @dog.handler
        def bark(self) -> None: ...

        @reaction(
            startup, tick, soon, effects=[soon, dog], deadline=msec(4), name="begin"
        )
        def go(self) -> None: ...

        @go.deadline_handler
        def late(self) -> None: ...

        @reaction(shutdown, alarm)
        def end(self) -> None: ...

    program = elaborate(Full)
    begin, end = program.reactions

    assert (program.timers[0].offset, program.timers[0].period) == (msec(1), msec(2))
    action = program.actions[0]
    assert (action.physical, action.min_delay, action.min_spacing, action.policy) == (
        False,
        msec(3),
        0,
        "replace",
    )
    assert program.actions[1].min_spacing is None
    assert program.has_physical_action
    watchdog = program.watchdogs[0]
    assert (watchdog.timeout, watchdog.effect_actions) == (sec(1), (1,))
    assert watchdog.handler is Full.__dict__["bark"]
    assert (begin.name, begin.index, begin.deadline) == ("begin", 0, msec(4))
    assert (begin.on_startup, begin.on_shutdown, begin.on_reset) == (True, False, False)
    assert begin.trigger_timers == (0,)
    assert (begin.trigger_actions, begin.effect_actions) == ((0,), (0,))
    assert begin.effect_watchdogs == (0,)
    assert begin.body is Full.__dict__["go"]
    assert begin.handler is Full.__dict__["late"]
    assert (end.on_shutdown, end.trigger_actions) == (True, (1,))


# -- signatures --------------------------------------------------------------------


class Ends(Reactor):
    gain: int = param(1)
    x = Input[int]()
    y = Output[int]()


def test_signatures_expand_banks_to_ports_of_members() -> None:
    class Main(Reactor):
        one = Ends()
        row = bank(Ends, width=2)

        @reaction(one.y, row.y, effects=[row[1].x], sources=[])
        def objects(self) -> None: ...

        @reaction("one.y", "row[0].y", effects=["row.x"])
        def strings(self) -> None: ...

    program = elaborate(Main)

    def names(ports: tuple[int, ...]) -> list[str]:
        return [program.channel_name(program.ports[p].first) for p in ports]

    objects, strings = program.reactions[:2]
    assert names(objects.trigger_ports) == [
        "main.one.y",
        "main.row[0].y",
        "main.row[1].y",
    ]
    assert names(objects.effect_ports) == ["main.row[1].x"]
    assert names(strings.trigger_ports) == ["main.one.y", "main.row[0].y"]
    assert names(strings.effect_ports) == ["main.row[0].x", "main.row[1].x"]


def test_strings_name_reactors_added_in_build() -> None:
    class Main(Reactor):
        def build(self) -> None:
            self.add("extra", Ends, gain=2)

        @reaction("extra.y", effects=["extra.x"])
        def go(self) -> None: ...

    go = elaborate(Main).reactions[0]

    assert (go.trigger_ports, go.effect_ports) == ((1,), (0,))


@pytest.mark.parametrize(
    ("trigger", "suggestion"),
    [("extar.y", "'extra'"), ("extra.z", "It has: x, y"), ("y", "It has: go")],
)
def test_unknown_names_are_rejected_with_a_suggestion(
    trigger: str, suggestion: str
) -> None:
    class Main(Reactor):
        def build(self) -> None:
            self.add("extra", Leaf)

        @reaction(trigger)
        def go(self) -> None: ...

    with pytest.raises(UnknownNameError, match=suggestion) as caught:
        elaborate(Main)

    assert caught.value.where == Main.__reactor__.reactions[0].where


class Roles(Reactor):
    x = Input[int]()
    y = Output[int]()
    t = Timer()
    a = LogicalAction[int]()
    m = Mode(initial=True)
    n: int = param(1)
    leaf = Leaf()


@pytest.mark.parametrize(
    ("role", "name"),
    [
        ("trigger", "y"),
        ("trigger", "leaf.x"),
        ("trigger", "n"),
        ("trigger", "leaf"),
        ("source", "y"),
        ("source", "leaf.x"),
        ("source", "t"),
        ("source", "a"),
        ("effect", "x"),
        ("effect", "leaf.y"),
        ("effect", "t"),
    ],
)
def test_elements_in_a_role_they_cannot_have_are_rejected(role: str, name: str) -> None:
    triggers = [name] if role == "trigger" else []
    sources = [name] if role == "source" else []
    effects = [name] if role == "effect" else []

    class Wrong(Roles):
        @reaction(startup, *triggers, sources=sources, effects=effects)
        def go(self) -> None: ...

    with pytest.raises(WiringError, match=f"as {role}") as caught:
        elaborate(Wrong)

    assert caught.value.where == Wrong.__reactor__.reactions[0].where


def test_member_that_does_not_exist_is_rejected() -> None:
    class Main(Reactor):
        row = bank(Leaf, width=2)

        @reaction("row[2].y")
        def go(self) -> None: ...

    with pytest.raises(WidthError, match="there are 2 members"):
        elaborate(Main)


# -- times, widths, containment ----------------------------------------------------


@pytest.mark.parametrize("delay", [-1, 1.5, "1 ms", True], ids=repr)
def test_times_are_durations_and_not_negative(delay: int) -> None:
    made = {
        "timer": Timer(delay),
        "period": Timer(0, delay),
        "action": LogicalAction[int](delay),
        "spacing": PhysicalAction[int](0, delay),
        "reaction": reaction(startup, deadline=delay)(lambda _self: None),
    }
    for declaration in made.values():
        cls = type(Reactor)("Bad", (Reactor,), {"it": declaration})
        with pytest.raises(DelayError) as caught:
            elaborate(cls)
        assert caught.value.where == declaration.where


@pytest.mark.parametrize("delay", [2**63, 10**30, timedelta.max], ids=repr)
def test_times_beyond_forever_are_rejected(delay: Duration) -> None:
    made = {
        "timer": Timer(delay),
        "period": Timer(0, delay),
        "action": LogicalAction[int](delay),
        "spacing": PhysicalAction[int](0, delay),
        "reaction": reaction(startup, deadline=delay)(lambda _self: None),
    }
    for declaration in made.values():
        cls = type(Reactor)("Bad", (Reactor,), {"it": declaration})
        with pytest.raises(DelayError, match=f"at most {FOREVER} ns") as caught:
            elaborate(cls)
        assert caught.value.where == declaration.where
        assert "FOREVER" in caught.value.remedy


def test_delay_of_a_connection_beyond_forever_is_rejected() -> None:
    class Main(Reactor):
        pair = bank(Leaf, width=2)

        def build(self) -> None:
            self.connect(self.pair[0].y, self.pair[1].x, after=2**63)

    with pytest.raises(DelayError, match=f"at most {FOREVER} ns"):
        elaborate(Main)


@pytest.mark.parametrize("inner", [4, 5])
def test_number_of_reactors_of_nested_banks_is_limited(
    inner: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(elaborate_module, "MAX_REACTORS", 1 + 2 + 2 * 4)

    class Row(Reactor):
        cells = bank(Leaf, width=inner)

    class Main(Reactor):
        rows = bank(Row, width=2)

    if inner == 4:
        assert len(elaborate(Main).reactors) == 11
        return
    with pytest.raises(
        WidthError, match=r"of reactors .* at most 11, got 13 with cells"
    ):
        elaborate(Main)


@pytest.mark.parametrize("width", [10**30, 1_000_001])
def test_bank_over_the_maximum_is_rejected(width: int) -> None:
    class Main(Reactor):
        row = bank(Leaf, width=width)

    with pytest.raises(WidthError, match=f"at most 1000000, got {width}"):
        elaborate(Main)


def test_number_of_channels_is_limited_before_any_is_made() -> None:
    class Wide(Reactor):
        inp = MultiInput[int](1_000_000)

    class Main(Reactor):
        row = bank(Wide, width=1_000_000)

    with pytest.raises(
        WidthError, match="at most 16000000, got 1000000000000 with row"
    ):
        elaborate(Main)


def test_unknown_policy_is_rejected() -> None:
    class Main(Reactor):
        a = LogicalAction[int](0, 0, "defre")

    with pytest.raises(UnknownNameError, match="Did you mean 'defer'"):
        elaborate(Main)


@pytest.mark.parametrize("width", [-1, 1.0, "2", True], ids=repr)
def test_widths_are_ints_from_zero(width: int) -> None:
    class Port(Reactor):
        n: int = param(width)
        x = MultiInput[int](n)

    class Row(Reactor):
        n: int = param(width)
        row = bank(Leaf, width=n)

    for main in (Port, Row):
        with pytest.raises(WidthError):
            elaborate(main)


def test_class_that_contains_itself_is_rejected_with_the_path() -> None:
    class Inner(Reactor):
        def build(self) -> None:
            self.add("outer", Outer)

    class Outer(Reactor):
        inner = Inner()

    with pytest.raises(ContainmentError) as caught:
        elaborate(Outer)

    assert caught.value.path == ("Outer", "Inner", "Outer")


def test_only_run_refuses_ports_of_the_main_reactor() -> None:
    program = elaborate(Leaf)

    with pytest.raises(ProgramError, match=r"Use drive\(\)"):
        check_main_has_no_ports(program)
    check_main_has_no_ports(elaborate(Grid))


def test_small_reactor_takes_at_most_two_kib() -> None:
    count = 3000
    main = Row(width=count)
    elaborate(main)

    gc.collect()
    tracemalloc.start()
    program = elaborate(main)
    gc.collect()
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert len(program.connections) == count
    assert taken / count <= 2048


class Row(Reactor):
    width: int = param(1)
    row = bank(Leaf, width=width)

    def build(self) -> None:
        self.connect(self.row.y, self.row.x, after=0)


# -- build() -----------------------------------------------------------------------


def test_build_sees_parameters_children_and_widths() -> None:
    seen: list[object] = []

    class Main(Reactor):
        n: int = param(2)
        many = MultiInput[int](n)
        leaf = Leaf(gain=n)
        row = bank(Leaf, width=n)

        def build(self) -> None:
            added = self.add("extra", Leaf(gain=5))
            more = self.add_bank("more", Leaf, width=2, each=lambda i: {"gain": i})
            seen.extend(
                [self.n, self.many.width, len(self.many), self.leaf.gain, len(self.row)]
            )
            seen.extend([added is self.extra, added.gain, len(more)])

    program = elaborate(Main(n=4))

    assert seen == [4, 4, 4, 4, 4, True, 5, 2]
    assert [r.params["gain"] for r in program.reactors if r.name[:4] == "more"] == [
        0,
        1,
    ]


def test_build_sees_the_bank_index() -> None:
    class Member(Reactor):
        def build(self) -> None:
            self.add_bank("inner", Leaf, width=self.bank_index)

    class Main(Reactor):
        row = bank(Member, width=3)

    assert len(elaborate(Main).reactors) == 1 + 3 + 0 + 1 + 2


@pytest.mark.parametrize(
    "name", ["leaf", "tag", "two words", "class", "helper", "a[0]"]
)
def test_build_refuses_names_that_are_taken_or_no_names(name: str) -> None:
    class Main(Reactor):
        leaf = Leaf()

        def helper(self) -> None: ...

        def build(self) -> None:
            self.add(name, Leaf)

    with pytest.raises(DeclarationError):
        elaborate(Main)


def test_one_reactor_has_one_place() -> None:
    class Main(Reactor):
        def build(self) -> None:
            leaf = Leaf()
            self.add("a", leaf)
            self.add("b", leaf)

    with pytest.raises(DeclarationError, match="contained already"):
        elaborate(Main)


def test_parameters_are_given_in_one_place() -> None:
    class Main(Reactor):
        def build(self) -> None:
            self.add("a", Leaf(gain=1), gain=2)

    with pytest.raises(DeclarationError, match="in two places"):
        elaborate(Main)


def test_state_made_in_build_is_rejected_rather_than_lost() -> None:
    class Main(Reactor):
        def build(self) -> None:
            self.count = 0

    with pytest.raises(DeclarationError, match=r"assigned self.count.*setup\(\)"):
        elaborate(Main)


def test_reactor_can_be_a_parameter() -> None:
    class Wrapper(Reactor):
        inner: Reactor = param()

        def build(self) -> None:
            self.add("it", self.inner)

    class Main(Reactor):
        both = bank(Wrapper(inner=Leaf(gain=6)), width=2)

    program = elaborate(Main)

    assert [r.path for r in program.reactors[3:]] == [
        "main.both[0].it",
        "main.both[1].it",
    ]
    assert program.reactors[4].params["gain"] == 6


# -- modes -------------------------------------------------------------------------


class Light(Reactor):
    switch = Input[None]()
    total: int = state(0, reset=True)
    red = Mode(initial=True)
    green = Mode()

    with red:
        wait = Timer(sec(1))

        @reaction(wait, effects=[history(green)])
        def go(self) -> None: ...

    with green:
        seen: int = state(0, reset=True)
        lamp = Leaf()
        flash = LogicalAction[None]()

        @reaction(switch, effects=[red])
        def stop(self) -> None: ...

        @reaction(reset)
        def again(self) -> None: ...

    def build(self) -> None:
        with self.green:
            self.add("extra", Leaf)


class Crossing(Reactor):
    on = Mode(initial=True)
    with on:
        light = Light()


def test_elements_declared_in_a_mode_have_it_as_scope() -> None:
    program = elaborate(Light)
    red, green = program.modes

    assert (red.initial, green.initial, red.scope) == (True, False, NO_SCOPE)
    assert program.timers[0].scope == red.id
    assert program.actions[0].scope == green.id
    scopes = {r.name: r.scope for r in program.reactions if r.reactor == 0}
    assert scopes == {"_reset_state[green]": 1, "go": 0, "stop": 1, "again": 1}
    assert [r.scope for r in program.reactors] == [NO_SCOPE, 1, 1]
    go, stop = program.reactions[1:3]
    assert go.effect_modes == ((green.id, "history"),)
    assert stop.effect_modes == ((red.id, "reset"),)


def test_modes_nest_through_reactors() -> None:
    program = elaborate(Crossing)

    assert [(m.name, m.scope) for m in program.modes] == [
        ("on", NO_SCOPE),
        ("red", 0),
        ("green", 0),
    ]
    assert program.reactors[1].scope == 0
    assert program.reactors[2].scope == 2


def test_members_of_a_bank_refer_to_elements_of_their_own() -> None:
    class Guarded(Reactor):
        tick = Timer(msec(1))
        alarm = PhysicalAction[None]()
        dog = Watchdog(sec(1), effects=[alarm])
        on = Mode()

        @dog.handler
        def bark(self) -> None: ...

        off = Mode(initial=True)
        with off:

            @reaction(tick, alarm, effects=[alarm, dog, on])
            def go(self) -> None: ...

    class Main(Reactor):
        members = bank(Guarded, width=2)

    program = elaborate(Main)

    for node in program.reactions:
        (timer,), (action,) = node.trigger_timers, node.trigger_actions
        assert program.timers[timer].reactor == node.reactor
        assert program.actions[action].reactor == node.reactor
        assert [program.modes[m].reactor for m, _ in node.effect_modes] == [
            node.reactor
        ]
        (dog,) = (program.watchdogs[each] for each in node.effect_watchdogs)
        assert dog.reactor == node.reactor
        assert dog.effect_actions == (action,)


def test_reset_state_is_restored_first_once_per_scope() -> None:
    program = elaborate(Crossing)
    resets = [r for r in program.reactions if r.kind == "reset_state"]

    assert [(r.name, r.scope, r.reset_states, r.index) for r in resets] == [
        ("_reset_state", 0, ("total",), 0),
        ("_reset_state[green]", 2, ("seen",), 1),
    ]
    assert all(r.on_reset and r.body is None for r in resets)


def test_reset_state_outside_of_modes_needs_no_reaction() -> None:
    class Plain(Reactor):
        total: int = state(0, reset=True)

    assert elaborate(Plain).reactions == ()


# -- parameters that only members have ------------------------------------------------


class Needy(Reactor):
    need: int = param()


def test_each_may_supply_required_parameters() -> None:
    class Main(Reactor):
        row = bank(Needy, width=2, each=lambda _, i: {"need": i * 10})

    assert [r.params["need"] for r in elaborate(Main).reactors[1:]] == [0, 10]


def test_required_parameter_left_out_by_each_is_an_error() -> None:
    class Main(Reactor):
        row = bank(Needy, width=2, each=lambda _, i: {"need": 1} if i else {})

    with pytest.raises(DeclarationError, match="needs the parameter 'need'"):
        elaborate(Main)
