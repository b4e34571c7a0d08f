# SPDX-License-Identifier: Apache-2.0
"""Running reactors hold parameters, views and state of their own, parents first."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from reactorl import (
    AccessError,
    Input,
    LogicalAction,
    Mode,
    Output,
    PhysicalAction,
    Reactor,
    Tag,
    Watchdog,
    bank,
    elaborate,
    param,
    reaction,
    sec,
    startup,
    state,
)
from reactorl._program.program import (
    ActionNode,
    ModeNode,
    PortNode,
    ReactorNode,
    WatchdogNode,
)
from reactorl._runtime.instances import (
    explain_missing,
    instantiate,
    restore_reset_state,
)
from reactorl._util import seeds


class FakeContext:
    run_seed = 5

    def __init__(self) -> None:
        self.stopped = False
        self.deadline = 0

    def tag(self) -> Tag:
        return Tag(130, 2)

    def start_time(self) -> int:
        return 100

    def physical_time(self) -> int:
        return 175

    def request_stop(self) -> None:
        self.stopped = True

    def check_deadline(self, invoke_handler: bool) -> bool:  # noqa: FBT001
        return invoke_handler

    def update_deadline(self, deadline: int) -> None:
        self.deadline = deadline


class FakeHost:
    """Views are tuples that say what they are."""

    def __init__(self) -> None:
        self.only = FakeContext()

    def context(self, node: ReactorNode) -> FakeContext:
        return self.only

    def port(self, holder: int, port: PortNode) -> object:
        return ("port", holder, port.id)

    def action(self, action: ActionNode) -> object:
        return ("action", action.id)

    def mode(self, mode: ModeNode) -> object:
        return ("mode", mode.id)

    def watchdog(self, watchdog: WatchdogNode) -> object:
        return ("watchdog", watchdog.id)


setups: list[str] = []


class Leaf(Reactor):
    x = Input[int]()
    y = Output[int]()
    z = Output[int]()
    gain: int = param(2)
    seen: list[int] = state(factory=list)
    start: dict[str, int] = state({"a": 1})
    double: int = state(factory=lambda self: self.gain * 2)
    limit: int = state(gain)

    def setup(self) -> None:
        setups.append(self.name)
        self.extra = 1

    @reaction(startup, effects=[y])
    def go(self) -> None: ...


class Main(Reactor):
    soon = LogicalAction[int]()
    alarm = PhysicalAction[int]()
    dog = Watchdog(sec(1), effects=[alarm])
    on = Mode(initial=True)
    leaf = Leaf(gain=3)
    row = bank(Leaf, width=2)
    hidden = Leaf()

    def setup(self) -> None:
        setups.append(self.name)

    @dog.handler
    def bark(self) -> None: ...

    @reaction(startup, leaf.y, row.y, effects=[leaf.x, row[1].x])
    def go(self) -> None: ...


def make(main: type[Reactor] | Reactor) -> list[Any]:
    return instantiate(elaborate(main), FakeHost())


def test_setup_runs_once_per_instance_parents_first() -> None:
    setups.clear()

    make(Main)

    assert setups == ["main", "main.leaf", "main.row[0]", "main.row[1]", "main.hidden"]


def test_instances_have_parameters_and_their_index() -> None:
    main, leaf, first, second, _ = make(Main)

    assert (leaf.gain, first.gain) == (3, 2)
    assert [r.bank_index for r in (main, leaf, first, second)] == [0, 0, 0, 1]
    with pytest.raises(AttributeError):
        leaf.gain = 5


def test_views_sit_in_the_instances_own_dictionary() -> None:
    main, leaf, *_ = make(Main)

    assert vars(leaf)["x"] == ("port", 1, 0)
    assert "x" not in vars(Leaf)
    assert main.soon == ("action", 0)
    assert main.alarm == ("action", 1)
    assert main.on == ("mode", 0)
    assert main.dog == ("watchdog", 0)


def test_a_reactor_sees_the_ports_of_children_that_a_signature_names() -> None:
    main, *_ = make(Main)

    assert main.leaf.y == ("port", 0, 1)
    assert main.leaf.x == ("port", 0, 0)
    assert len(main.row) == 2
    assert main.row[0].y == ("port", 0, 4)
    assert main.row[1].x == ("port", 0, 6)
    assert main.row.y == (("port", 0, 4), ("port", 0, 7))
    assert [member.y for member in main.row] == list(main.row.y)
    assert not hasattr(main, "hidden")
    assert not hasattr(main.leaf, "z")
    assert not hasattr(main.row[0], "x")
    assert not hasattr(main.row, "x")


@pytest.mark.parametrize(
    ("body", "element", "fix"),
    [
        (lambda main: main.hidden.y, "main.hidden", "sources=[hidden.x]"),
        (lambda main: main.leaf.z, "main.leaf.z", "sources=[leaf.z]"),
        (lambda main: main.row.z, "main.row.z", "sources=[row.z]"),
        (lambda main: main.row[0].x, "main.row.x", "sources=[row.x]"),
    ],
)
def test_what_no_signature_names_is_explained(
    body: Callable[[Any], object], element: str, fix: str
) -> None:
    program = elaborate(Main)
    main: Any = instantiate(program, FakeHost())[0]
    with pytest.raises(AttributeError) as caught:
        body(main)

    found = explain_missing(caught.value, program.reactions[0], program)

    assert isinstance(found, AccessError)
    assert (found.reaction, found.element) == ("main.go", element)
    assert str(found).endswith(f"@reaction(..., {fix})")


def test_other_missing_attributes_stay_what_they_are() -> None:
    program = elaborate(Main)
    main: Any = instantiate(program, FakeHost())[0]

    for body in (lambda: main.nothing, lambda: main.leaf.nothing, lambda: (1).real.no):
        with pytest.raises(AttributeError) as caught:
            body()
        found = explain_missing(caught.value, program.reactions[0], program)
        assert found is None


def test_state_is_per_instance_and_assigned_before_setup() -> None:
    _, one, other, *_ = make(Main)

    assert (one.double, other.double) == (6, 4)
    assert (one.limit, other.limit) == (3, 2)
    assert one.seen is not other.seen
    assert one.start == {"a": 1}
    assert one.start is not other.start


def test_reset_state_is_restored_by_name() -> None:
    _, leaf, *_ = make(Main)
    leaf.seen.append(1)
    leaf.double = 0

    restore_reset_state(leaf, ("seen",))

    assert (leaf.seen, leaf.double) == ([], 0)


def test_every_run_gets_new_objects() -> None:
    program = elaborate(Main)

    one, other = (instantiate(program, FakeHost()) for _ in range(2))

    assert all(a is not b for a, b in zip(one, other, strict=True))


def test_time_and_stop_are_the_contexts() -> None:
    host = FakeHost()
    main = instantiate(elaborate(Main), host)[0]

    assert main.tag == Tag(130, 2)
    assert (main.logical_time, main.elapsed, main.start_time) == (130, 30, 100)
    assert (main.physical_time(), main.physical_elapsed(), main.lag()) == (175, 75, 45)
    assert main.check_deadline()
    assert not main.check_deadline(invoke_handler=False)
    main.update_deadline(7)
    main.request_stop()
    assert (host.only.deadline, host.only.stopped) == (7, True)
    assert repr(main) == "<Main main>"


# -- seeds -------------------------------------------------------------------------


def test_a_seed_depends_on_run_seed_and_full_name_alone() -> None:
    main, leaf, *_ = make(Main)

    assert leaf.seed == seeds.derive(5, "main.leaf")
    assert leaf.seed != main.seed
    assert seeds.derive(5, "main.leaf") != seeds.derive(6, "main.leaf")
    assert 0 <= leaf.seed < 2**128


def test_the_derivation_of_seeds_never_changes() -> None:
    assert seeds.derive(0, "main") == FIRST_SEED


FIRST_SEED = 299909545229194236018803648769038447464


def test_streams_are_made_once_and_repeat_with_the_seed() -> None:
    _, leaf, *_ = make(Main)
    _, again, *_ = make(Main)

    assert leaf.random is leaf.random
    assert [leaf.random.random() for _ in range(3)] == [
        again.random.random() for _ in range(3)
    ]
    assert leaf.np_random.integers(1 << 60) == again.np_random.integers(1 << 60)


def test_a_fake_namespace_is_enough_for_a_host() -> None:
    host = SimpleNamespace(
        context=lambda _node: FakeContext(), port=lambda _h, _p: None
    )

    leaf: Any = instantiate(elaborate(Leaf), host)[0]

    assert leaf.x is None
