# SPDX-License-Identifier: Apache-2.0
"""The helpers that users get for their own tests."""

from __future__ import annotations

import pytest

from reactorl import Output, Reactor, Tag, Timer, hours, reaction, run, startup
from reactorl.testing import (
    Collector,
    Recorder,
    Stimulus,
    assert_deterministic,
    assert_same_trace,
    script,
)
from reactorl.testing.compare import find
from reactorl.testing.generated import program_from_seed
from tests.oracle import interpret
from tests.programs import Diamond

PLAYED = ((Tag(0), "a"), (Tag(0, 2), "b"), (Tag(5), None), (Tag(5, 1), "d"))


def played(into: list[tuple[Tag, object]]) -> type[Reactor]:
    class Main(Reactor):
        source = Stimulus(script=PLAYED)
        middle = Recorder()
        sink = Collector(into=into)

        def build(self) -> None:
            self.connect(self.source.out, self.middle.x)
            self.connect(self.middle.out, self.sink.x)

    return Main


def test_played_values_are_collected_and_recorded() -> None:
    seen: list[tuple[Tag, object]] = []

    trace = interpret(played(seen))

    assert tuple(seen) == PLAYED
    assert tuple(trace.values("middle.out")) == PLAYED


def test_runtime_plays_the_same() -> None:
    seen: list[tuple[Tag, object]] = []

    run(played(seen), fast=True, workers=2)

    assert tuple(seen) == PLAYED


def test_script_is_in_order_of_tags() -> None:
    class Main(Reactor):
        source = Stimulus(script=script([(5, 1), (5, 2)]))

    with pytest.raises(ValueError, match=r"main\.source must ascend"):
        interpret(Main)


def test_message_for_different_traces() -> None:
    a, b = interpret(_counting(1)), interpret(_counting(2))

    assert_same_trace(a, interpret(_counting(1)))
    with pytest.raises(AssertionError) as caught:
        assert_same_trace(a, b)

    words = str(caught.value)
    assert "at tag (0, 0), in main.it.go: A set main.it.out to 1, B to 2" in words
    assert "A: (0, 0)\n  run main.it.go | set main.it.out = 1" in words


def _counting(number: int) -> type[Reactor]:
    class Inner(Reactor):
        out = Output[int]()

        @reaction(startup, effects=[out])
        def go(self) -> None:
            self.out.set(number)

    class Main(Reactor):
        it = Inner()

    return Main


def test_deterministic_program_passes() -> None:
    result = assert_deterministic(
        "tests.programs:Diamond", workers=(1, 2), hash_seeds=(1, 2)
    )

    assert result.trace.values("join.total") == [(Tag(0, 0), 4)]


class Restless(Reactor):
    """Gives another number in every run."""

    out = Output[int]()
    timer = Timer(0, 1)
    runs = 0

    @reaction(timer, effects=[out])
    def go(self) -> None:
        if self.elapsed == 3:
            Restless.runs += 1
        self.out.set(Restless.runs)


class RestlessMain(Reactor):
    it = Restless()


class HashOrder(Reactor):
    """Depends on the order of a set of strings."""

    out = Output[str]()

    @reaction(startup, effects=[out])
    def go(self) -> None:
        self.out.set(" ".join({f"word{index}" for index in range(20)}))


class HashOrderMain(Reactor):
    it = HashOrder()


def test_program_that_varies_is_caught_with_its_settings() -> None:
    with pytest.raises(AssertionError) as caught:
        assert_deterministic(RestlessMain, workers=(1, 2), timeout=5)

    assert "workers=1, shuffle=1" in str(caught.value)
    assert "in main.it.go" in str(caught.value)


def test_dependence_on_the_hash_seed_is_caught() -> None:
    with pytest.raises(AssertionError, match="PYTHONHASHSEED="):
        assert_deterministic(
            "tests.testing.test_testing:HashOrderMain",
            workers=(1,),
            shuffle_seeds=(0,),
            hash_seeds=(1, 2, 3),
        )


def test_hash_seeds_need_a_name() -> None:
    with pytest.raises(ValueError, match="module:Class"):
        assert_deterministic(Diamond, hash_seeds=(1,))


def test_nothing_to_compare_is_rejected() -> None:
    with pytest.raises(ValueError, match="must not be empty"):
        assert_deterministic(Diamond, workers=())


def test_program_is_found_by_name() -> None:
    assert find("tests.programs:Diamond") is Diamond
    with pytest.raises(ValueError, match="module:Class"):
        find("tests.programs.Diamond")


def test_same_seed_gives_the_same_program() -> None:
    one, other = program_from_seed(7), program_from_seed(7)

    assert one == other
    assert one.program.channel_port == other.program.channel_port
    assert program_from_seed(8) != one


def test_generated_programs_use_every_element() -> None:
    programs = [program_from_seed(seed).program for seed in range(150)]
    reactions = [r for program in programs for r in program.reactions]
    actions = [a for program in programs for a in program.actions]
    connections = [c for program in programs for c in program.connections]
    ports = [p for program in programs for p in program.ports]
    modes = [m for program in programs for m in program.modes]
    reactors = [r for program in programs for r in program.reactors]

    assert {r.kind for r in reactions} == {"body", "forward", "reset_state"}
    assert any(r.on_startup for r in reactions)
    assert any(r.on_shutdown for r in reactions)
    assert any(r.on_reset and r.kind == "body" for r in reactions)
    assert {e for r in reactions for _, e in r.effect_modes} == {"reset", "history"}
    assert {r.deadline for r in reactions} == {None, 0, hours(1), hours(2)}
    assert any(r.source_ports for r in reactions)
    assert {a.policy for a in actions} == {"defer", "drop", "replace", "update"}
    assert {a.min_spacing for a in actions} == {None, 0, 1, 2, 5}
    assert any(a.physical for a in actions)
    assert {c.delay for c in connections} == {None, 0, 1, 2, 5}
    assert any(c.scope >= 0 and c.delay is not None for c in connections)
    assert {p.width for p in ports} >= {None, 0, 1, 2, 3}
    assert any(p.mutable for p in ports)
    assert any(m.scope >= 0 for m in modes), "modes are nested"
    assert any(r.bank_width for r in reactors)
    assert any(r.path.count(".") == 3 for r in reactors)
    assert any(len(r.cls.__bases__) > 1 for r in reactors)
    assert any(program.timers for program in programs)
    assert any(program.warnings for program in programs), "some widths do not fit"
