# SPDX-License-Identifier: Apache-2.0
"""Class bodies: legal declarations, and errors when the class is created."""

from typing import Generic, TypeVar

import pytest

from reactorl import (
    Bank,
    DeclarationError,
    Input,
    LogicalAction,
    Mode,
    MultiInput,
    Output,
    Reactor,
    Timer,
    UnknownNameError,
    Watchdog,
    bank,
    elaborate,
    param,
    reaction,
    sec,
    startup,
    state,
)

THIS_FILE = "test_declarations.py"


class Leaf(Reactor):
    x = Input[int]()
    y = Output[int]()
    gain: int = param(3)
    bias: int = param()

    @reaction(x, effects=[y])
    def scale(self) -> None: ...


# -- names -------------------------------------------------------------------------


def test_class_gives_its_declarations() -> None:
    assert Leaf.x.name == "x"
    assert Leaf.__reactor__.elements["y"] is Leaf.y
    assert "x" in dir(Leaf)
    with pytest.raises(AttributeError, match="'Leaf' has no attribute 'z'"):
        _ = Leaf.z


def test_declarations_know_their_line() -> None:
    assert Leaf.x.where.file.endswith(THIS_FILE)
    line = Leaf.x.where.line
    assert Leaf.y.where.line == line + 1
    assert Leaf.__reactor__.reactions[0].where.line == line + 5


def test_second_definition_in_one_body_is_rejected() -> None:
    with pytest.raises(DeclarationError, match="first as input at") as caught:

        class Twice(Reactor):
            x = Input[int]()
            x = Output[int]()

    assert caught.value.where is not None
    assert caught.value.where.file.endswith(THIS_FILE)


def test_method_cannot_replace_a_declaration_nor_the_reverse() -> None:
    with pytest.raises(DeclarationError, match="defined twice"):

        class Method(Reactor):
            x = Input[int]()

            def x(self) -> None: ...  # noqa: F811

    with pytest.raises(DeclarationError, match="defined twice"):

        class Port(Reactor):
            def x(self) -> None: ...

            x = Input[int]()  # noqa: F811


def test_two_reactions_of_one_name_are_rejected() -> None:
    with pytest.raises(DeclarationError, match="defined twice"):

        class Twice(Reactor):
            @reaction(startup)
            def go(self) -> None: ...

            @reaction(startup)
            def go(self) -> None: ...  # noqa: F811

    with pytest.raises(DeclarationError, match="two reactions named 'go'"):

        class Titled(Reactor):
            @reaction(startup)
            def go(self) -> None: ...

            @reaction(startup, name="go")
            def went(self) -> None: ...


def test_one_declaration_has_one_name() -> None:
    with pytest.raises(DeclarationError, match="declared twice"):

        class Alias(Reactor):
            x = Input[int]()
            y = x


def test_one_contained_reactor_has_one_name() -> None:
    with pytest.raises(DeclarationError, match=r"same object as reactor Twice\.a"):

        class Twice(Reactor):
            a = Leaf(bias=0)
            b = a


def test_deleted_names_are_not_declared() -> None:
    class Deleted(Reactor):
        x = Input[int]()
        del x

    assert elaborate(Deleted).ports == ()


@pytest.mark.parametrize("name", ["tag", "name", "connect", "random", "_p_x", "build"])
def test_names_that_every_reactor_has_cannot_be_declared(name: str) -> None:
    with pytest.raises(DeclarationError, match="is reserved by Reactor"):
        type(Reactor)("Clash", (Reactor,), {name: Input[int]()})


def test_helpers_of_reactor_cannot_be_overridden_by_accident() -> None:
    with pytest.raises(DeclarationError, match="'lag' is reserved by Reactor"):

        class Clash(Reactor):
            def lag(self) -> int:
                return 1


def test_init_is_rejected_and_setup_named() -> None:
    with pytest.raises(DeclarationError, match=r"state is made in setup\(\)"):

        class Init(Reactor):
            def __init__(self) -> None: ...


@pytest.mark.parametrize("value", [[], {}, set(), bytearray()], ids=repr)
def test_values_that_instances_would_share_are_rejected(value: object) -> None:
    with pytest.raises(DeclarationError, match="all instances would share"):
        type(Reactor)("Shared", (Reactor,), {"recent": value})


def test_constants_and_methods_are_plain_python() -> None:
    class Plain(Reactor):
        LIMIT = 3
        names = ("a", "b")

        def helper(self) -> int:
            return self.LIMIT

    assert Plain.LIMIT == 3
    assert Plain().helper() == 3


def test_reactor_class_can_be_generic() -> None:
    T = TypeVar("T")

    class Box(Reactor, Generic[T]):
        x = Input[T]()

    assert elaborate(Box[int]()).ports[0].name == "x"


# -- parameters --------------------------------------------------------------------


def test_parameters_are_read_only_and_have_defaults() -> None:
    leaf = Leaf(bias=1)

    assert (leaf.gain, leaf.bias) == (3, 1)
    with pytest.raises(AttributeError):
        leaf.gain = 4


def test_unknown_and_missing_parameters_are_rejected() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'gain'"):
        Leaf(gian=2, bias=0)
    with pytest.raises(DeclarationError, match="needs the parameter 'bias'"):
        Leaf()
    with pytest.raises(DeclarationError, match="needs the parameter 'bias'"):
        elaborate(Leaf)


def test_default_of_a_parameter_is_not_another() -> None:
    with pytest.raises(DeclarationError, match="another parameter"):

        class Chain(Reactor):
            a: int = param(1)
            b: int = param(a)


def test_parameter_has_no_value_in_the_class_body() -> None:
    with pytest.raises(DeclarationError, match=r"use it in build\(\)"):

        class Early(Reactor):
            n: int = param(1)
            many = n and 3

    with pytest.raises(DeclarationError, match="not known in the class body"):

        class Loop(Reactor):
            n: int = param(1)
            many = tuple(range(n))


def test_parameters_combine_to_widths_and_times() -> None:
    class Wide(Reactor):
        n: int = param(2)
        pause: int = param(sec(1))
        a = MultiInput[int](n + 1)
        b = MultiInput[int](2 * n - 1)
        c = MultiInput[int](10 - n)
        d = MultiInput[int](lambda self: self.n**3)
        tick = Timer(pause, pause * 2)
        later = LogicalAction[int](pause - 1, min_spacing=pause)

    program = elaborate(Wide(n=4))

    assert [port.width for port in program.ports] == [5, 7, 6, 64]
    assert (program.timers[0].offset, program.timers[0].period) == (sec(1), sec(2))
    assert program.actions[0].min_delay == sec(1) - 1
    assert program.actions[0].min_spacing == sec(1)


def test_parameter_of_another_class_has_no_value() -> None:
    class Other(Reactor):
        n: int = param(2)

    class Wide(Reactor):
        a = MultiInput[int](Other.__reactor__.params["n"])

    with pytest.raises(DeclarationError, match="enclosing class"):
        elaborate(Wide)


# -- inheritance -------------------------------------------------------------------


class Base(Reactor):
    x = Input[int]()
    gain: int = param(1)

    @reaction(x)
    def first(self) -> None: ...


class Left(Base):
    @reaction(Base.x)
    def second(self) -> None: ...


class Right(Base):
    gain: int = param(2)

    @reaction(Base.x)
    def third(self) -> None: ...


class Both(Left, Right):
    @reaction(Base.x)
    def fourth(self) -> None: ...


def test_bases_come_first_deepest_first_each_once() -> None:
    program = elaborate(Both)

    assert [r.name for r in program.reactions] == ["first", "second", "third", "fourth"]
    assert len(program.ports) == 1
    assert program.reactors[0].params["gain"] == 2


def test_only_parameters_can_be_declared_again() -> None:
    with pytest.raises(
        DeclarationError, match=r"output Again.x clashes with input Base.x"
    ):

        class Again(Base):
            x = Output[int]()

    with pytest.raises(DeclarationError, match=r"reaction Again\.first clashes"):

        class Again(Base):
            @reaction(startup)
            def first(self) -> None: ...

    with pytest.raises(DeclarationError, match=r"would hide reaction Base\.first"):

        class Again(Base):
            def first(self) -> None: ...

    with pytest.raises(DeclarationError, match=r"write gain = param\(...\)"):

        class Again(Base):
            gain = 7


def test_bases_that_clash_are_rejected() -> None:
    class OneX(Reactor):
        x = Input[int]()

    with pytest.raises(DeclarationError, match="clashes"):

        class Merged(Base, OneX): ...


def test_declaration_cannot_hide_an_inherited_method() -> None:
    class Helper(Reactor):
        def rate(self) -> int:
            return 1

    with pytest.raises(DeclarationError, match=r"would hide Helper.rate"):

        class Hider(Helper):
            rate: int = param(2)


def test_mixin_that_is_not_a_reactor_may_add_methods() -> None:
    class Mixin:
        def build(self) -> None:
            self.add("extra", Base)

    class Mixed(Reactor, Mixin):
        build = Mixin.build

    assert [r.path for r in elaborate(Mixed).reactors] == ["main", "main.extra"]


# -- reactions, watchdogs, modes ---------------------------------------------------


def test_bodies_take_self_alone_and_end_at_once() -> None:
    with pytest.raises(DeclarationError, match="self and no other arguments"):

        class Args(Reactor):
            @reaction(startup)
            def go(self, x: int) -> None: ...

    with pytest.raises(DeclarationError, match="coroutine or a generator"):

        class Async(Reactor):
            @reaction(startup)
            async def go(self) -> None: ...

    with pytest.raises(DeclarationError, match="coroutine or a generator"):

        class Generates(Reactor):
            @reaction(startup)
            def go(self) -> object:
                yield 1


def test_effects_and_sources_are_lists() -> None:
    with pytest.raises(DeclarationError, match="effects must be a list"):

        class Single(Reactor):
            y = Output[int]()

            @reaction(startup, effects=y)
            def go(self) -> None: ...


def test_deadline_handler_needs_a_deadline_and_is_alone() -> None:
    with pytest.raises(DeclarationError, match="no deadline"):

        class NoDeadline(Reactor):
            @reaction(startup)
            def go(self) -> None: ...

            @go.deadline_handler
            def late(self) -> None: ...

    with pytest.raises(DeclarationError, match="two deadline handlers"):

        class Two(Reactor):
            @reaction(startup, deadline=1)
            def go(self) -> None: ...

            @go.deadline_handler
            def late(self) -> None: ...

            @go.deadline_handler
            def later(self) -> None: ...


def test_watchdog_needs_a_handler() -> None:
    with pytest.raises(DeclarationError, match=r"decorate it with @dog.handler"):

        class Silent(Reactor):
            dog = Watchdog(sec(1))


def test_reaction_can_be_called_as_the_method_it_is() -> None:
    class Counter(Reactor):
        @reaction(startup)
        def go(self) -> int:
            return 7

    assert Counter().go() == 7


def test_signatures_refuse_strangers_and_repetitions() -> None:
    inner = Leaf(bias=0)
    with pytest.raises(DeclarationError, match="not an element of Stranger"):

        class Stranger(Reactor):
            @reaction(Leaf.x)
            def go(self) -> None: ...

    with pytest.raises(DeclarationError, match="does not contain directly"):

        class Reach(Reactor):
            @reaction(inner.y)
            def go(self) -> None: ...

    with pytest.raises(DeclarationError, match="both as trigger and as source"):

        class BothWays(Reactor):
            x = Input[int]()

            @reaction(x, sources=[x])
            def go(self) -> None: ...

    with pytest.raises(DeclarationError, match="lists x twice"):

        class Twice(Reactor):
            x = Input[int]()

            @reaction(x, "x")
            def go(self) -> None: ...

    with pytest.raises(DeclarationError, match="Name the whole port"):

        class Channel(Reactor):
            x = Wide2()

            @reaction(x.many[0])
            def go(self) -> None: ...

    with pytest.raises(DeclarationError, match="can only be a trigger"):

        class Late(Reactor):
            @reaction(startup, effects=[startup])
            def go(self) -> None: ...

    with pytest.raises(DeclarationError, match="which is not a name"):

        class Unnamed(Reactor):
            @reaction("a.b.c")
            def go(self) -> None: ...


class Wide2(Reactor):
    many = MultiInput[int](2)


def test_ports_and_modes_do_not_live_in_modes() -> None:
    with pytest.raises(DeclarationError, match="Ports belong to the whole reactor"):

        class PortInMode(Reactor):
            red = Mode(initial=True)
            with red:
                x = Input[int]()

    with pytest.raises(DeclarationError, match="declared inside a mode"):

        class ModeInMode(Reactor):
            red = Mode(initial=True)
            with red:
                green = Mode()

    with pytest.raises(DeclarationError, match="exclude each other"):

        class Nested(Reactor):
            red = Mode(initial=True)
            green = Mode()
            with red, green:
                t = Timer()


@pytest.mark.parametrize("initial", [(False, False), (True, True)])
def test_exactly_one_mode_is_initial(initial: tuple[bool, bool]) -> None:
    with pytest.raises(DeclarationError, match="Mark exactly one"):
        type(Reactor)(
            "Modal",
            (Reactor,),
            {"red": Mode(initial=initial[0]), "green": Mode(initial=initial[1])},
        )


def test_only_reactions_in_a_mode_switch_modes() -> None:
    with pytest.raises(DeclarationError, match="from outside the modes"):

        class Outside(Reactor):
            red = Mode(initial=True)

            @reaction(startup, effects=[red])
            def go(self) -> None: ...


def test_mode_is_entered_in_one_way_per_reaction() -> None:
    from reactorl import history, reset_to

    with pytest.raises(DeclarationError, match="both by reset and by history"):

        class Both(Reactor):
            red = Mode(initial=True)
            with red:

                @reaction(startup, effects=[reset_to(red), history(red)])
                def go(self) -> None: ...


def test_state_of_a_mode_entered_by_reset_is_reset() -> None:
    from reactorl import reset

    with pytest.raises(DeclarationError, match="keeps its value although"):

        class Kept(Reactor):
            red = Mode(initial=True)
            with red:
                count: int = state(0)

                @reaction(startup, effects=[red])
                def go(self) -> None: ...

    class Handled(Reactor):
        red = Mode(initial=True)
        with red:
            count: int = state(0)

            @reaction(startup, effects=[red])
            def go(self) -> None: ...

            @reaction(reset)
            def again(self) -> None: ...

    assert Handled.__reactor__.states[0].mode is Handled.red


def test_mode_is_opened_only_where_it_is_declared() -> None:
    class Modal(Reactor):
        red = Mode(initial=True)

    with pytest.raises(DeclarationError, match=r"write `with self.<mode>:`"):
        Modal.red.__enter__()


def test_state_takes_a_default_or_a_factory() -> None:
    with pytest.raises(DeclarationError, match="either a default or a factory"):
        state(1, factory=list)
    with pytest.raises(DeclarationError, match="either a default or a factory"):
        state()


def test_outside_build_the_structure_is_fixed() -> None:
    leaf = Leaf(bias=0)

    with pytest.raises(DeclarationError, match=r"override build\(\)"):
        leaf.connect(leaf.x, leaf.y)
    with pytest.raises(DeclarationError, match="is not running yet"):
        _ = leaf.tag
    with pytest.raises(DeclarationError, match="Read and set ports in reactions"):
        leaf.y.set(3)


def test_bank_shows_ports_of_members_only() -> None:
    leaves: Bank[Leaf] = bank(Leaf, width=2, bias=0)

    assert str(leaves.y) == "Leaf.y"
    assert str(leaves[1].y) == "Leaf[1].y"
    with pytest.raises(UnknownNameError, match="Did you mean 'y'"):
        _ = leaves.yy
