# SPDX-License-Identifier: Apache-2.0
"""The table of illegal programs."""

from __future__ import annotations

from types import new_class
from typing import TYPE_CHECKING, Any

from reactorl import (
    CausalityError,
    ContainmentError,
    DeclarationError,
    DelayError,
    Input,
    LogicalAction,
    Mode,
    MultiInput,
    MultiOutput,
    Output,
    ProgramError,
    Reactor,
    Timer,
    UnknownNameError,
    Watchdog,
    WidthError,
    WiringError,
    bank,
    interleaved,
    param,
    reaction,
    startup,
    state,
)
from tests.programs.illegal import Illegal, Relay, Wire, ring

if TYPE_CHECKING:
    from collections.abc import Callable

    from reactorl import ReactorlError

ILLEGAL: list[Illegal] = [ring(1), ring(2), ring(5)]
"""All illegal programs; the name is the rule that is broken."""


def _refused(
    error: type[ReactorlError],
) -> Callable[[Callable[[], type[Reactor]]], Callable[[], type[Reactor]]]:
    def register(make: Callable[[], type[Reactor]]) -> Callable[[], type[Reactor]]:
        name = make.__name__.strip("_").replace("_", " ")
        ILLEGAL.append(Illegal(name, make, error))
        return make

    return register


def _declared(**body: Any) -> type[Reactor]:  # noqa: ANN401
    """Return a class with this body."""

    def fill(namespace: dict[str, Any]) -> None:
        for name, value in body.items():
            namespace[name] = value  # noqa: PERF403 - each is noted as it comes

    return new_class("Main", (Reactor,), {}, fill)


def _react(*triggers: Any, **options: Any) -> Any:  # noqa: ANN401
    """Return a reaction that does nothing."""
    return reaction(*triggers, **options)(lambda self: None)


def _wired(build: Callable[[Any], None], **body: Any) -> type[Reactor]:  # noqa: ANN401
    """Return a class with these members and this ``build``."""
    return _declared(**body, build=build)


# -- causality ------------------------------------------------------------------------


@_refused(CausalityError)
def _reaction_order_closes_a_loop() -> type[Reactor]:
    class Crossed(Reactor):
        x = Input[int]()
        out = Output[int]()
        read = _react(x)
        write = _react(startup, effects=[out])

    return _wired(lambda self: self.connect(self.it.out, self.it.x), it=Crossed())


@_refused(CausalityError)
def _a_reaction_feeds_itself_through_a_relay() -> type[Reactor]:
    wire = Wire()
    return _declared(wire=wire, feed=_react(startup, wire.out, effects=[wire.x]))


@_refused(CausalityError)
def _a_source_closes_a_loop() -> type[Reactor]:
    relay = Relay()
    return _declared(
        relay=relay, feed=_react(startup, sources=[relay.out], effects=[relay.x])
    )


# -- wiring ---------------------------------------------------------------------------


@_refused(WiringError)
def _two_connections_drive_one_input() -> type[Reactor]:
    def build(self: Any) -> None:  # noqa: ANN401
        self.connect(self.a.out, self.c.x, after=0)
        self.connect(self.b.out, self.c.x, after=0)

    return _wired(build, a=Relay(), b=Relay(), c=Relay())


@_refused(WiringError)
def _a_connection_and_a_reaction_drive_one_input() -> type[Reactor]:
    b = Relay()
    return _wired(
        lambda self: self.connect(self.a.out, self.b.x),
        a=Relay(),
        b=b,
        go=_react(startup, effects=[b.x]),
    )


@_refused(WiringError)
def _a_connection_drives_an_output_that_is_set() -> type[Reactor]:
    class Both(Reactor):
        x = Input[int]()
        out = Output[int]()
        go = _react(x, effects=[out])

        def build(self) -> None:
            self.connect(self.x, self.out)

    return _declared(it=Both())


@_refused(WiringError)
def _an_own_output_is_a_trigger() -> type[Reactor]:
    out = Output[int]()
    return _declared(it=_declared(out=out, go=_react(out))())


@_refused(WiringError)
def _an_own_input_is_an_effect() -> type[Reactor]:
    x = Input[int]()
    return _declared(it=_declared(x=x, go=_react(startup, effects=[x]))())


@_refused(WiringError)
def _an_input_of_a_contained_reactor_is_a_source() -> type[Reactor]:
    it = Relay()
    return _declared(it=it, go=_react(startup, sources=[it.x]))


@_refused(WiringError)
def _an_output_of_a_contained_reactor_is_an_effect() -> type[Reactor]:
    it = Relay()
    return _declared(it=it, go=_react(startup, effects=[it.out]))


@_refused(WiringError)
def _a_timer_is_an_effect() -> type[Reactor]:
    timer = Timer()
    return _declared(timer=timer, go=_react(startup, effects=[timer]))


@_refused(WiringError)
def _a_connection_leads_from_an_input() -> type[Reactor]:
    return _wired(lambda self: self.connect(self.a.x, self.b.x), a=Relay(), b=Relay())


@_refused(WiringError)
def _a_connection_leads_to_an_output() -> type[Reactor]:
    return _wired(
        lambda self: self.connect(self.a.out, self.b.out), a=Relay(), b=Relay()
    )


@_refused(WiringError)
def _a_connection_reaches_too_far() -> type[Reactor]:
    stranger = Relay()
    return _wired(lambda self: self.connect(stranger.out, self.a.x), a=Relay())


@_refused(WiringError)
def _a_plain_port_is_interleaved() -> type[Reactor]:
    return _wired(
        lambda self: self.connect(self.a.out, interleaved(self.b.x)),
        a=Relay(),
        b=bank(Relay, width=2),
    )


@_refused(WiringError)
def _a_delayed_connection_shares_its_target_with_another_mode() -> type[Reactor]:
    class Modal(Reactor):
        x = Input[int]()
        out = Output[int]()
        one = Mode(initial=True)
        two = Mode()

        def build(self) -> None:
            with self.one:
                self.connect(self.x, self.out)
            with self.two:
                self.connect(self.x, self.out, after=1)

    return _declared(it=Modal())


@_refused(ProgramError)
def _the_main_reactor_has_ports() -> type[Reactor]:
    return _declared(out=Output[int]())


# -- names, widths, times -------------------------------------------------------------


@_refused(UnknownNameError)
def _a_signature_names_nothing() -> type[Reactor]:
    return _declared(go=_react(startup, effects=["nothing"]))


@_refused(UnknownNameError)
def _a_signature_names_no_contained_reactor() -> type[Reactor]:
    return _declared(go=_react("nobody.out"))


@_refused(UnknownNameError)
def _a_signature_names_no_port() -> type[Reactor]:
    return _declared(it=Relay(), go=_react("it.output"))


@_refused(UnknownNameError)
def _a_parameter_does_not_exist() -> type[Reactor]:
    return _declared(it=Relay(speed=3))


@_refused(UnknownNameError)
def _a_policy_does_not_exist() -> type[Reactor]:
    policy: Any = "keep"
    return _declared(a=LogicalAction[int](0, 1, policy))


@_refused(WidthError)
def _a_width_is_negative() -> type[Reactor]:
    return _declared(it=_declared(out=MultiOutput[int](-1))())


@_refused(WidthError)
def _a_bank_has_no_number_as_width() -> type[Reactor]:
    width: Any = "two"
    return _declared(it=bank(Relay, width=width))


@_refused(WidthError)
def _two_widths_depend_on_one_connection() -> type[Reactor]:
    class Open(Reactor):
        x = MultiInput[int]()

    return _wired(
        lambda self: self.connect(self.a.out, [self.b.x, self.c.x]),
        a=bank(Relay, width=2),
        b=Open(),
        c=Open(),
    )


@_refused(WidthError)
def _a_member_is_out_of_range() -> type[Reactor]:
    return _wired(
        lambda self: self.connect(self.a[2].out, self.b.x, after=1),
        a=bank(Relay, width=2),
        b=Relay(),
    )


@_refused(DelayError)
def _a_connection_goes_back_in_time() -> type[Reactor]:
    return _wired(lambda self: self.connect(self.a.out, self.a.x, after=-1), a=Relay())


@_refused(DelayError)
def _a_timer_has_a_negative_period() -> type[Reactor]:
    return _declared(timer=Timer(0, -5))


@_refused(DelayError)
def _a_delay_is_not_a_duration() -> type[Reactor]:
    delay: Any = 1.5
    return _declared(a=LogicalAction[int](delay))


@_refused(DelayError)
def _a_deadline_is_negative() -> type[Reactor]:
    return _declared(go=_react(startup, deadline=-1))


@_refused(ContainmentError)
def _a_class_contains_itself() -> type[Reactor]:
    class Doll(Reactor):
        def build(self) -> None:
            self.add("inner", Doll)

    return Doll


@_refused(ContainmentError)
def _two_classes_contain_each_other() -> type[Reactor]:
    class Egg(Reactor):
        def build(self) -> None:
            self.add("hen", Hen)

    class Hen(Reactor):
        def build(self) -> None:
            self.add("egg", Egg)

    return Hen


# -- declarations ---------------------------------------------------------------------


@_refused(DeclarationError)
def _something_is_both_trigger_and_source() -> type[Reactor]:
    x = Input[int]()
    return _declared(x=x, go=_react(x, sources=[x]))


@_refused(DeclarationError)
def _something_is_listed_twice() -> type[Reactor]:
    x = Input[int]()
    return _declared(x=x, go=_react(x, x))


@_refused(DeclarationError)
def _an_element_of_another_class_is_listed() -> type[Reactor]:
    return _declared(go=_react(Relay.x))


@_refused(DeclarationError)
def _a_required_parameter_is_missing() -> type[Reactor]:
    return _declared(it=_declared(size=param())())


@_refused(DeclarationError)
def _a_default_is_another_parameter() -> type[Reactor]:
    size = param(1)
    return _declared(size=size, twice=param(size))


@_refused(DeclarationError)
def _two_modes_are_initial() -> type[Reactor]:
    return _declared(one=Mode(initial=True), two=Mode(initial=True))


@_refused(DeclarationError)
def _no_mode_is_initial() -> type[Reactor]:
    return _declared(one=Mode(), two=Mode())


@_refused(DeclarationError)
def _a_mode_is_switched_from_outside_the_modes() -> type[Reactor]:
    one = Mode(initial=True)
    return _declared(one=one, go=_react(startup, effects=[one]))


@_refused(DeclarationError)
def _state_survives_a_reset_that_nothing_handles() -> type[Reactor]:
    class Modal(Reactor):
        one = Mode(initial=True)
        with one:
            count = state(0)
            go = _react(startup, effects=[one])

    return Modal


@_refused(DeclarationError)
def _a_port_is_declared_in_a_mode() -> type[Reactor]:
    class Modal(Reactor):
        one = Mode(initial=True)
        with one:
            x = Input[int]()

    return Modal


@_refused(DeclarationError)
def _two_bases_declare_the_same_name() -> type[Reactor]:
    class One(Reactor):
        x = Input[int]()

    class Two(Reactor):
        x = Input[int]()

    class Both(One, Two):
        pass

    return Both


@_refused(DeclarationError)
def _a_list_is_shared_by_all_instances() -> type[Reactor]:
    return _declared(seen=[])


@_refused(DeclarationError)
def _a_reaction_takes_an_argument() -> type[Reactor]:
    go: Any = lambda self, value: None  # noqa: E731
    return _declared(go=reaction(startup)(go))


@_refused(DeclarationError)
def _a_reaction_is_a_coroutine() -> type[Reactor]:
    async def go(self: Any) -> None:  # noqa: ANN401
        del self

    return _declared(go=reaction(startup)(go))


@_refused(DeclarationError)
def _a_watchdog_has_no_handler() -> type[Reactor]:
    return _declared(dog=Watchdog(5))


@_refused(DeclarationError)
def _build_leaves_an_attribute_behind() -> type[Reactor]:
    def build(self: Any) -> None:  # noqa: ANN401
        self.count = 0

    return _wired(build)
