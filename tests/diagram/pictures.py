# SPDX-License-Identifier: Apache-2.0
"""Programs to draw: each has something that a picture has to show."""

from __future__ import annotations

from reactorl import (
    Input,
    LogicalAction,
    Mode,
    MultiInput,
    Output,
    PhysicalAction,
    Reactor,
    Timer,
    Watchdog,
    bank,
    history,
    msec,
    param,
    reaction,
    reset,
    reset_to,
    sec,
    shutdown,
    startup,
    usec,
)


class Relay(Reactor):
    """Passes on what arrives."""

    x = Input[int]()
    y = Output[int]()

    @reaction(x, effects=[y])
    def pass_on(self) -> None: ...


class Pair(Reactor):
    """Two relays, one inside each other's reach."""

    x = Input[int]()
    y = Output[int]()
    first = Relay()
    second = Relay()

    def build(self) -> None:
        self.connect(self.x, self.first.x)
        self.connect(self.first.y, self.second.x, after=msec(2))
        self.connect(self.second.y, self.y)


class Hierarchy(Reactor):
    """Reactors in reactors, every kind of element, and reads without a trigger."""

    factor: int = param(3)
    label: str = param("it's <b>")
    tick = Timer(msec(1), sec(1))
    wish = LogicalAction[str](msec(5))
    key = PhysicalAction[str](min_delay=0, min_spacing=usec(10), policy="drop")
    dog = Watchdog(msec(100), effects=["wish"])
    pair = Pair()

    @dog.handler
    def bark(self) -> None: ...

    @reaction(startup, effects=[wish, dog])
    def begin(self) -> None: ...

    @reaction(tick, key, effects=[pair.x], deadline=msec(10))
    def send(self) -> None: ...

    @send.deadline_handler
    def give_up(self) -> None: ...

    @reaction(wish, sources=[pair.y], name="look at it")
    def look(self) -> None: ...

    @reaction(shutdown)
    def end(self) -> None: ...


class Gather(Reactor):
    xs = MultiInput[int]()
    again = Output[int]()

    @reaction(xs, effects=[again])
    def collect(self) -> None: ...


class Banks(Reactor):
    """Banks, in banks, a multiport, a broadcast and a physical connection."""

    actor = bank(Relay, width=3)
    pair = bank(Pair, width=2)
    gather = Gather()

    def build(self) -> None:
        self.connect(self.actor.y, self.gather.xs)
        self.connect(self.gather.again, self.actor.x, after=0, broadcast=True)
        self.connect(self.pair[0].y, self.pair[1].x, physical=True)


class Modes(Reactor):
    """Two modes with each other's way out, and a reactor in one."""

    x = Input[int]()
    off = Mode(initial=True)
    on = Mode()

    with off:

        @reaction(x, effects=[reset_to(on)])
        def switch_on(self) -> None: ...

    with on:
        over = Timer(msec(3))
        inner = Relay()

        @reaction(reset, effects=[inner.x])
        def begin(self) -> None: ...

        @reaction(over, effects=[history(off)])
        def switch_off(self) -> None: ...


class Late(Reactor):
    """Reads before it writes, by the order of its reactions."""

    x = Input[int]()
    y = Output[int]()

    @reaction(x)
    def read(self) -> None: ...

    @reaction(startup, effects=[y])
    def write(self) -> None: ...


class Loop(Reactor):
    """A loop, by connections and by the order of reactions, and one bystander."""

    late = Late()
    relay = Relay()
    bystander = Relay()

    def build(self) -> None:
        self.connect(self.late.y, self.relay.x)
        self.connect(self.relay.y, self.late.x)
        self.connect(self.relay.y, self.bystander.x)


class Ring(Reactor):
    """Relays in a ring without reactions: connections alone lead in a circle."""

    class Wire(Reactor):
        """An input that is an output."""

        x = Input[int]()
        y = Output[int]()

        def build(self) -> None:
            self.connect(self.x, self.y)

    one = Wire()
    other = Wire()

    def build(self) -> None:
        self.connect(self.one.y, self.other.x)
        self.connect(self.other.y, self.one.x)


def crowd(groups: int, members: int) -> type[Reactor]:
    """Return a program of many reactors, none of them in a bank."""

    class Group(Reactor):
        x = Input[int]()
        y = Output[int]()

        def build(self) -> None:
            last = self.x
            for k in range(members):
                relay = self.add(f"r{k}", Relay)
                self.connect(last, relay.x)
                last = relay.y
            self.connect(last, self.y)

    class Crowd(Reactor):
        def build(self) -> None:
            before = None
            for k in range(groups):
                group = self.add(f"g{k}", Group)
                if before is not None:
                    self.connect(before.y, group.x)
                before = group

    return Crowd


class Tick(Reactor):
    """A source that is replicated, and told about the result one microstep later."""

    go = Output[int]()
    done = Input[int]()
    timer = Timer(0, sec(1))

    @reaction(timer, effects=[go])
    def begin(self) -> None: ...

    @reaction(done)
    def see(self) -> None: ...


class Nest(Reactor):
    """A reactor whose content may run elsewhere."""

    x = Input[int]()
    y = Output[int]()
    relay = Relay()

    def build(self) -> None:
        self.connect(self.x, self.relay.x)
        self.connect(self.relay.y, self.y)


class Federated(Reactor):
    """A bank over several federates, a replica, and a reactor inside another one."""

    tick = Tick()
    nest = bank(Nest, width=6)
    gather = Gather()

    def build(self) -> None:
        self.connect([self.tick.go], self.nest.x, broadcast=True)
        self.connect(self.nest.y, self.gather.xs)
        self.connect(self.gather.again, self.tick.done, after=0)
