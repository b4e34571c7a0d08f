# SPDX-License-Identifier: Apache-2.0
# mypy: ignore-errors
"""Mistakes that ``mypy --strict`` finds; ``# E: code`` marks each, on its line.

The second line above keeps an ordinary run of mypy quiet; the test removes it.
"""

from reactorl import (
    Input,
    LogicalAction,
    MultiInput,
    Output,
    Reactor,
    Timer,
    param,
    reaction,
    startup,
)


class Sender(Reactor):
    number = Output[int]()
    text = Output[str]()
    gain: float = param(1.0)

    @reaction(startup, effects=[number])
    def send(self) -> None:
        self.number.set("one")  # E: arg-type


class Receiver(Reactor):
    number = Input[int]()
    text = Input[str]()
    many = MultiInput[int](2)
    out = Output[int]()
    tick = Timer(0, "1 ms")  # E: arg-type
    again = LogicalAction[int](policy="dorp")  # E: arg-type

    @reaction(number, effects=[out, again])
    def receive(self) -> None:
        wrong: str = self.number.value  # E: assignment
        print(self.number.valeu)  # E: attr-defined
        self.many.set([1, 2])  # E: attr-defined
        self.many[0].value.upper()  # E: attr-defined
        self.again.schedule(value="x")  # E: arg-type
        self.again.schedule(1.5)  # E: arg-type
        del wrong

    @reaction(out)  # E: arg-type
    def own_output(self) -> None: ...

    @reaction(number, effects=[number])  # E: list-item
    def own_input(self) -> None: ...

    @reaction(3)  # E: arg-type
    def nothing(self) -> None: ...


class Main(Reactor):
    sender = Sender(gain="loud")  # E: arg-type
    other = Sender(gian=1.0)  # E: call-arg
    third = Sender(1.0)  # E: call-arg
    receiver = Receiver()

    def build(self) -> None:
        self.connect(self.sender.number, self.receiver.text)  # E: misc
        self.connect(self.sender.text, self.receiver.many, broadcast=True)  # E: misc
        self.connect(self.sender.nmuber, self.receiver.number)  # E: attr-defined
        self.connect(self.sender.number, self.receiver.number, 0)  # E: call-arg
        self.add("x", int)  # E: type-var
        self.sender.gain.upper()  # E: attr-defined
