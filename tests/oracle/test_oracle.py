# SPDX-License-Identifier: Apache-2.0
"""The oracle itself, compared with traces computed by hand."""

from __future__ import annotations

import pytest

from reactorl import (
    FOREVER,
    AccessError,
    Input,
    LogicalAction,
    Mode,
    MultiOutput,
    Output,
    PhysicalAction,
    Reactor,
    Tag,
    Timer,
    Watchdog,
    elaborate,
    hours,
    reaction,
    startup,
)
from reactorl.testing.generated import program_from_seed
from reactorl.trace import text
from tests.oracle import graph, interpret
from tests.programs import RULES


@pytest.mark.parametrize("choice_seed", [0, 1, 2])
@pytest.mark.parametrize("name", RULES)
def test_oracle_keeps_the_rule(name: str, choice_seed: int) -> None:
    rule = RULES[name]

    trace = interpret(rule.main, choice_seed=choice_seed, **rule.options)

    assert text(trace) == rule.expected


@pytest.mark.parametrize("name", RULES)
def test_start_time_leaves_no_mark(name: str) -> None:
    rule = RULES[name]

    trace = interpret(rule.main, **{**rule.options, "start_time": 10**18})

    assert text(trace) == rule.expected


@pytest.mark.parametrize("seed", range(50))
def test_routes_and_order_agree_with_the_elaborators(seed: int) -> None:
    """Two implementations of the same definitions, written apart."""
    program = program_from_seed(seed).program
    theirs = program.roots
    order = program.order

    mine = graph.Precedence(program, graph.roots(program))

    assert graph.roots(program) == list(theirs)
    assert mine.level == order.level
    assert mine.deadline == order.inferred


class _Touch(Reactor):
    x = Input[int]()
    out = Output[int]()
    row = MultiOutput[int](2)
    a = LogicalAction[int]()
    one = Mode(initial=True)
    dog = Watchdog(5)

    @dog.handler
    def bark(self) -> None:
        pass


@pytest.mark.parametrize(
    ("touch", "element", "access"),
    [
        (lambda self: self.x.value, "main.it.x", "reads"),
        (lambda self: self.x.is_present, "main.it.x", "reads"),
        (lambda self: self.out.value, "main.it.out", "reads"),
        (lambda self: self.out.set(1), "main.it.out", "sets"),
        (lambda self: self.row[1].set(1), "main.it.row[1]", "sets"),
        (lambda self: self.a.value, "main.it.a", "reads"),
        (lambda self: self.a.schedule(), "main.it.a", "schedules"),
        (lambda self: self.one.set(), "main.it.one", "sets"),
        (lambda self: self.dog.start(), "main.it.dog", "starts"),
        (lambda self: self.dog.stop(), "main.it.dog", "stops"),
    ],
)
def test_body_can_access_declared_elements_only(
    touch: object, element: str, access: str
) -> None:
    class Inner(_Touch):
        go = reaction(startup)(touch)  # type: ignore[arg-type]

    class Main(Reactor):
        it = Inner()

    with pytest.raises(AccessError) as caught:
        interpret(Main)

    assert caught.value.reaction == "main.it.go"
    assert (caught.value.element, caught.value.access) == (element, access)


def test_missed_deadlines_come_from_the_options() -> None:
    class Main(Reactor):
        timer = Timer(0, 2)

        @reaction(timer, deadline=hours(1))
        def act(self) -> None:
            assert not self.check_deadline()
            assert self.elapsed == 0

        @act.deadline_handler
        def late(self) -> None:
            assert self.check_deadline(invoke_handler=False)
            assert self.elapsed == 2

    trace = interpret(Main, timeout=2, missed_deadlines={(Tag(2, 0), "main.act")})

    missed = [ran.missed_deadline for record in trace for ran in record.reactions]
    assert missed == [False, True]


def test_updated_deadline_holds_from_the_next_tag_on() -> None:
    class Main(Reactor):
        timer = Timer(0, 2)

        @reaction(timer, deadline=hours(1))
        def act(self) -> None:
            self.update_deadline(0)

        @act.deadline_handler
        def late(self) -> None:
            self.update_deadline(hours(1))

    trace = interpret(Main, timeout=4)

    missed = [ran.missed_deadline for record in trace for ran in record.reactions]
    assert missed == [False, True, False]


def test_watchdogs_never_expire_in_virtual_time() -> None:
    class Main(Reactor):
        timer = Timer(0, 100)
        dog = Watchdog(5)

        @dog.handler
        def bark(self) -> None:
            raise AssertionError

        @reaction(timer, effects=[dog])
        def pet(self) -> None:
            self.dog.start(3)
            self.dog.stop()
            self.dog.start()

    assert len(interpret(Main, timeout=1000)) == 11


def test_event_at_the_end_of_time_never_happens() -> None:
    class Main(Reactor):
        a = LogicalAction[None]()

        @reaction(startup, effects=[a])
        def start(self) -> None:
            self.a.schedule(FOREVER)

        @reaction(a)
        def never(self) -> None:
            raise AssertionError

    trace = interpret(Main, start_time=5)

    assert trace.tags[0].reactions[0].events[0].tag is None
    assert trace.tags[-1].tag == Tag(0, 1)


def test_program_without_end_is_stopped() -> None:
    class Main(Reactor):
        a = LogicalAction[None]()

        @reaction(startup, a, effects=[a])
        def again(self) -> None:
            self.a.schedule()

    with pytest.raises(RuntimeError, match="more than 50 tags"):
        interpret(Main, max_tags=50)


def test_program_that_waits_for_nothing_is_rejected() -> None:
    class Main(Reactor):
        a = PhysicalAction[None]()

    with pytest.raises(AssertionError, match="wait forever"):
        interpret(Main)


def test_random_streams_depend_on_seed_and_name_only() -> None:
    class Draw(Reactor):
        out = Output[float]()

        @reaction(startup, effects=[out])
        def draw(self) -> None:
            self.out.set(self.random.random())

    class One(Reactor):
        b = Draw()

    class Two(Reactor):
        a = Draw()
        b = Draw()

    one, two = interpret(One, seed=3), interpret(Two, seed=3)

    assert one.values("b.out") == two.values("b.out") != two.values("a.out")
    assert interpret(One, seed=4).values("b.out") != one.values("b.out")


def test_elaborated_program_can_be_run_again_and_again() -> None:
    program = elaborate(RULES["Diamond"].main)

    assert interpret(program) == interpret(program)


def test_deep_traces_distinguish_objects() -> None:
    class Send(Reactor):
        out = Output[list[int]]()

        @reaction(startup, effects=[out])
        def send(self) -> None:
            self.out.set([1, 2])

    class Main(Reactor):
        it = Send()

    assert interpret(Main).values("it.out") == [(Tag(0), "<list>")]
    assert interpret(Main, deep=True).values("it.out") == [(Tag(0), [1, 2])]
