# SPDX-License-Identifier: Apache-2.0
"""Drive a program from outside: put values in, run a tag, take values out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from reactorl import _core
from reactorl._runtime.busy import busy
from reactorl.errors import DTypeError, UnknownNameError, WidthError
from reactorl.tag import Duration, Tag, nanoseconds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from types import TracebackType

    from reactorl._decl.reactor import Reactor
    from reactorl._program.program import PortNode, Program
    from reactorl._runtime.live import Live
    from reactorl._runtime.result import Result


def _is_refused_input(error: BaseException) -> bool:
    """Return whether an input was of another type, so that no tag was run."""
    return isinstance(error, DTypeError) and error.is_input


class Outputs:
    """What the main reactor's outputs were set to during one step.

    Holds only outputs that were present; of several microsteps the last one counts. A
    multiport is a list, with None for absent channels.
    """

    __slots__ = ("_at", "_values")

    def __init__(self, at: tuple[int, int], values: Mapping[str, Any]) -> None:
        self._at = at
        self._values = values

    @property
    def tag(self) -> Tag:
        """The last tag of the step, elapsed."""
        return Tag(*self._at)

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401
        return self._values[name]

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        try:
            return self._values[name]
        except KeyError:
            msg = f"no output {name!r} was present at {self.tag}"
            raise AttributeError(msg) from None

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def get(self, name: str, default: object = None) -> Any:  # noqa: ANN401
        """Return an output, or ``default`` if it was absent."""
        return self._values.get(name, default)

    def __repr__(self) -> str:
        return f"Outputs({self.tag}, {dict(self._values)!r})"


class Session:
    """A driven program; made by ``drive``, used in a ``with`` statement."""

    def __init__(
        self,
        live: Live,
        at_end: Callable[[Result], object] | None = None,
        state: Callable[[Any], object] | None = None,
    ) -> None:
        self._live = live
        self._at_end = at_end
        self._state = state
        self._inputs: dict[str, PortNode] = {}
        self._outputs: dict[str, PortNode] = {}
        for port in live.program.ports:
            if port.reactor == 0:
                (self._inputs if port.is_input else self._outputs)[port.name] = port
        slots = live.planned.channel_slot
        self._channels = {
            name: [slots[c] for c in port.channels]
            for name, port in (*self._inputs.items(), *self._outputs.items())
        }
        output_slots: list[int] = []
        self._output_names: list[tuple[str, int | None, int]] = []
        for name, port in self._outputs.items():
            slots_here = self._channels[name]
            for place, slot in enumerate(slots_here):
                at = None if port.width is None else place
                output_slots.append(slot)
                self._output_names.append((name, at, len(slots_here)))
        live.session.set_outputs(output_slots)
        self._result: Result | None = None
        self._open = False
        self._failed = False

    def __enter__(self) -> Self:
        """Make the reactors and run the first tag."""
        self._open = True
        try:
            self._live.start()
        except BaseException as error:
            self._close(error)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Run the final tag, one microstep on, unless an exception passes through.

        Raises:
            BusyError: Another thread is in ``step``, or this is called by a reaction
                of the program. The program stays open.
        """
        if self._open:
            self._live.reserve()
        try:
            if error is None and self._open and not self._failed:
                self._live.after(self._live.session.finish())
                self._live.finished()
                self._result = self._live.result()
        except BaseException as raised:
            self._close(raised)
            raise
        self._close(error)

    def _close(self, cause: BaseException | None = None) -> None:
        if self._open:
            self._live.reserve()
            self._open = False
            ended = self._result
            if self._at_end is not None and ended is None:
                ended = self._live.result()
            try:
                self._live.close(cause)
            finally:
                if self._at_end is not None and ended is not None:
                    self._at_end(ended)

    @property
    def program(self) -> Program:
        """What is driven."""
        return self._live.program

    @property
    def tag(self) -> Tag:
        """The last tag that was run, elapsed since the start."""
        return self._live.now()

    @property
    def result(self) -> Result:
        """How the run went; known after the ``with`` statement.

        Raises:
            RuntimeError: It has not ended, or not well.
        """
        if self._result is None:
            msg = "a driven program has a result after its with statement"
            raise RuntimeError(msg)
        return self._result

    def preload(self, port: str, value: object, *, sent: Duration) -> None:
        """Put a value into flight, as if an output had been set before the start.

        It arrives over every delayed connection of the port, each after its delay. A
        program that is resumed from a saved state gets back what was under way on
        delayed connections when the state was saved. Call it before the ``with``
        statement.

        Args:
            port: Full name of an output of a contained reactor, e.g.
                ``main.learner.weights``; not a multiport.
            value: The value.
            sent: When it was set, in logical time since the start.

        Raises:
            UnknownNameError: No delayed connection starts at a port of this name.
            RuntimeError: The program was started already.
        """
        if self._open or self._result is not None:
            msg = "preload must be called before the program starts"
            raise RuntimeError(msg)
        self._live.preload(port, value, nanoseconds(sent))

    def step(
        self,
        inputs: Mapping[str, Any] | None = None,
        /,
        *,
        after: Duration = 0,
        **named: Any,  # noqa: ANN401
    ) -> Outputs:
        """Put values on the main reactor's inputs and run until that time is done.

        The inputs are present at one tag, ``after`` from the last one; zero is the next
        microstep. Events that are due earlier run first. Then the tag runs with the
        caller as worker 0, then the microsteps that follow at the same time.

        Args:
            inputs: Values by port name; a sequence for a multiport (None: absent).
            after: How much later in logical time.
            named: More inputs, by keyword.

        Returns:
            The outputs that were present at the tag or its microsteps.

        Raises:
            UnknownNameError: There is no such input.
            WidthError: A sequence does not fit a multiport.
            DTypeError: A value is of another type than its input; nothing was run.
            RuntimeError: The program has ended.
            BusyError: Another thread is in ``step``, or this is called by a reaction
                of the program.
        """
        if not self._open:
            msg = "the program is not running; use it inside its with statement"
            raise RuntimeError(msg)
        if self._failed:
            msg = "the program has ended: an earlier step raised"
            raise RuntimeError(msg)
        values = self._slots({**inputs, **named} if inputs else named)
        delay = nanoseconds(after) if after else 0
        try:
            status, time, microstep, present = self._live.session.step(delay, values)
            self._live.after(status)
        except _core.SessionBusyError as error:
            raise busy(error) from None
        except BaseException as error:
            # Raised here, so there is nothing left to finish; unless nothing began.
            self._failed = not _is_refused_input(error)
            raise
        outputs = Outputs((time, microstep), self._by_name(present))
        if status == "finished":
            self._live.finished()
            self._result = self._live.result()
            self._close()
        return outputs

    def plug(
        self, name: str | None = None, *, after: Duration = 0
    ) -> Callable[..., dict[str, Any]]:
        """Return a function that does ``step`` with one input, or with none.

        For loops that do little else: it does nothing that it need not do every time.
        It takes the value, if there is an input, returns the outputs that were present,
        by name, and raises what ``step`` does.

        Args:
            name: The input; not a multiport. None: time advances without an input.
            after: How much later in logical time it is each time; zero is the next
                microstep.

        Raises:
            UnknownNameError: There is no such input.
            WidthError: It is a multiport.
        """
        slot: int | None = None
        if name is not None:
            port = self._inputs.get(name)
            if port is None or port.width is not None:
                self._slots({name: ()})  # says so
                msg = f"input {name!r} is a multiport"
                raise WidthError(msg, self._inputs[name].where, "Use step(...) for it.")
            slot = self._channels[name][0]
        delay = nanoseconds(after) if after else 0
        run, by_name = self._live.session.step, self._by_name

        def push(value: Any = None) -> dict[str, Any]:  # noqa: ANN401
            if not self._open or self._failed:
                self.step()  # says so
            try:
                values = [] if slot is None else [(slot, value)]
                status, _, _, present = run(delay, values)
                if status != "running":
                    self._live.after(status)
            except _core.SessionBusyError as error:
                raise busy(error) from None
            except BaseException as error:
                self._failed = not _is_refused_input(error)
                raise
            if status == "finished":
                self._live.finished()
                self._result = self._live.result()
                self._close()
            return by_name(present) if present else {}

        return push

    def states(self) -> list[Any]:
        """Return what the option ``state`` of ``drive`` reads, between two steps.

        Returns:
            One result for each federate, the one with the main reactor first. In one
            process there is one.

        Raises:
            ValueError: The option was not given.
            RuntimeError: The program is not running.
            FederationError: A federate is gone; the text names it.
        """
        if self._state is None:
            msg = "state must be a function to read states, got None"
            raise ValueError(msg)
        if not self._open:
            msg = "the program is not running; use it inside its with statement"
            raise RuntimeError(msg)
        return [self._state(self._live.main)]

    def keep(
        self,
        main: Reactor,
        preload: Sequence[tuple[str, object, Duration]],
    ) -> None:
        """Let processes that are lost begin again after the last ``states``.

        Here there is nothing to do: the program is in this process.

        Args:
            main: Makes the program that continues with these states.
            preload: What is in flight; see ``drive``.
        """

    @property
    def restarts_left(self) -> int:
        """How often a process may still begin again."""
        return 0

    def _slots(self, inputs: Mapping[str, Any]) -> list[tuple[int, Any]]:
        values: list[tuple[int, Any]] = []
        for name, value in inputs.items():
            port = self._inputs.get(name)
            if port is None:
                main = self._live.program.reactors[0]
                raise UnknownNameError(
                    name, f"inputs of {main.path}", tuple(self._inputs), main.where
                )
            channels = self._channels[name]
            if port.width is None:
                values.append((channels[0], value))
                continue
            if len(value) != len(channels):
                msg = (
                    f"{len(value)} values for input {name!r}, which has "
                    f"{len(channels)} channels"
                )
                raise WidthError(
                    msg,
                    port.where,
                    "Give one value per channel, None for those that stay absent.",
                )
            values.extend(
                (c, v) for c, v in zip(channels, value, strict=True) if v is not None
            )
        return values

    def _by_name(self, present: Sequence[tuple[int, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for position, value in present:
            name, place, width = self._output_names[position]
            if place is None:
                found[name] = value
                continue
            if name not in found:
                found[name] = [None] * width
            found[name][place] = value
        return found
