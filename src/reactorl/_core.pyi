"""The reactor runtime's core. Use `reactorl.run` and `reactorl.drive`."""

from collections.abc import Callable, Sequence
from datetime import timedelta


UNTYPED: int = 18446744073709551615

class Port:
    """A port as the reactions of one reactor see it."""

    def set(self, value: object, /) -> None:
        """
        Make the port present with a value, at the current tag. The last set wins.
        """

    @property
    def value(self) -> object:
        """
        The value set at the current tag; if absent, the last one (None if never set).
        """

    @property
    def is_present(self) -> bool:
        """Whether it was set at the current tag."""

class Action:
    """An action as the reactions of its reactor see it."""

    def schedule(self, delay: int | timedelta = 0, value: object = None) -> None:
        """
        schedule(delay=0, value=None): make the action present `delay` plus its minimum delay later; zero means the next microstep. A physical action counts from the physical clock and may be scheduled from any thread.
        """

    @property
    def value(self) -> object:
        """The payload of the event at the current tag; if absent, the last one."""

    @property
    def is_present(self) -> bool:
        """Whether an event of this action is at the current tag."""

class ModeSwitch:
    """A mode as the reactions of its reactor see it."""

    def set(self) -> None:
        """Switch to this mode when the current tag is done; the last call wins."""

class PlanError(Exception):
    pass

class SessionBusyError(RuntimeError):
    pass

class Plan:
    """A program as flat tables of ids."""

    def __init__(self) -> None: ...

    @property
    def slots(self) -> int: ...

    @slots.setter
    def slots(self, arg: int, /) -> None: ...

    @property
    def slot_types(self) -> list[int]:
        """Per slot the type of its values, or UNTYPED; empty: all are untyped."""

    @slot_types.setter
    def slot_types(self, arg: Sequence[int], /) -> None: ...

    @property
    def workers(self) -> int: ...

    @workers.setter
    def workers(self, arg: int, /) -> None: ...

    @property
    def startup(self) -> list[int]: ...

    @startup.setter
    def startup(self, arg: Sequence[int], /) -> None: ...

    @property
    def shutdown(self) -> list[int]: ...

    @shutdown.setter
    def shutdown(self, arg: Sequence[int], /) -> None: ...

    @property
    def reset(self) -> list[int]: ...

    @reset.setter
    def reset(self, arg: Sequence[int], /) -> None: ...

    def add_reactions(self, *, level: Sequence[int], reactor: Sequence[int], home: Sequence[int], scope: Sequence[int], deadline: Sequence[int], forward_from: Sequence[int], forward_to: Sequence[int], native: Sequence[bool], native_handler: Sequence[bool]) -> None: ...

    def add_triggers(self, *, kind: Sequence[int], policy: Sequence[int], scope: Sequence[int], slot: Sequence[int], source: Sequence[int], delay: Sequence[int], spacing: Sequence[int]) -> None: ...

    def add_modes(self, *, modal: Sequence[int], scope: Sequence[int], initial: Sequence[bool]) -> None: ...

    def set_slot_reactions(self, start: Sequence[int], item: Sequence[int]) -> None: ...

    def set_slot_stages(self, start: Sequence[int], item: Sequence[int]) -> None: ...

    def set_downstream(self, start: Sequence[int], item: Sequence[int]) -> None: ...

    def validate(self) -> None: ...

class GatePlan:
    """What the core of a federate knows of others."""

    def __init__(self, *, flat: bool, physical: bool, stops: bool, me: int) -> None: ...

    def add_peer(self, *, in_slots: Sequence[int], in_writers: Sequence[int], out_slots: Sequence[int], out_writers: Sequence[int], in_delay: int, sends: bool, answers: bool) -> None: ...

    def add_route(self, stage: int, peers: Sequence[int], here: bool) -> None: ...

class Session:
    """One run of a plan."""

    def __init__(self, plan: Plan, *, fast: bool, keepalive: bool, trace: bool, trace_values: bool, replay: bool, one_at_a_time: bool, timeout: int | None, start: int | None, shuffle: int, stay_home: bool, timing: int) -> None: ...

    def add_body(self, function: object | None, handler: object | None, instance: object | None, reactor: int, index: int) -> None:
        """Give the next reaction its body; in the order of ids."""

    def set_native(self, *, reaction: int, body: int, handler: int, state: int, stops: bool, inputs: Sequence[tuple[int, int, Sequence[int], int, bool, str]], effects: Sequence[tuple[int, int, Sequence[int], int, bool, str]]) -> None:
        """
        Give a reaction native bodies: addresses of functions and state, 0 for none. An element is (kind, type, slots, trigger or mode, flag, name).
        """

    def set_layouts(self, layouts: Sequence[object]) -> None:
        """
        Say how values are shown that are not single numbers: (from bytes, to bytes, class), by the layout of their type.
        """

    def set_hooks(self, *, refuse: object | None, mismatch: object | None, clock: object | None, late: object | None, deliver: object | None, describe: object | None, freeze_arrays: bool) -> None: ...

    def port(self, *, holder: int, element: int, slot: int, copies: bool, replaceable: bool, readers: Sequence[int], writers: Sequence[int]) -> object: ...

    def action(self, *, holder: int, element: int, slot: int, trigger: int, physical: bool, readers: Sequence[int], writers: Sequence[int]) -> object: ...

    def mode(self, *, holder: int, element: int, resetting: Sequence[int], resuming: Sequence[int]) -> object: ...

    def preload(self, trigger: int, time: int, microstep: int, value: object | None) -> None: ...

    def stop_at(self, time: int, microstep: int) -> None: ...

    def start(self) -> str: ...

    def run(self) -> str: ...

    def set_outputs(self, slots: Sequence[int]) -> None:
        """Say once what every step is to tell about."""

    def step(self, delay: int, inputs: Sequence[tuple[int, object]]) -> tuple[str, int, int, list[tuple[int, object]]]:
        """
        Run the tag that is `delay` from the last one, with these inputs. Returns the status, the tag, and which of the outputs were set, with their values.
        """

    def finish(self) -> str: ...

    def failure(self) -> tuple[int, BaseException | None, tuple[int, str] | None]:
        """
        What ended the run: an interrupt if there was one (-1), else the failure that is first in the fixed order, with its reaction. Of a native body it is a number and a message.
        """

    def tag(self) -> tuple[int, int]: ...

    def start_time(self) -> int:
        """For any thread."""

    def physical_time(self) -> int:
        """For any thread."""

    def running(self) -> int:
        """The reaction whose body the calling thread runs, or -1."""

    def worker(self) -> int:
        """The worker that the calling thread is, or -1."""

    def deadline(self, reaction: int) -> int: ...

    def change_deadline(self, reaction: int, deadline: int) -> None: ...

    def request_stop(self) -> None: ...

    def federate(
        self,
        plan: GatePlan,
        say: Callable[[list[tuple[int, bool, int, int, int, int, int, int, int, object, tuple[int, int, int, int] | None]]], object],
        wait: Callable[[tuple[int, int, int, int, int, int, int, int, bool, int, tuple[int, ...], tuple[int, ...]]], object],
    ) -> None:
        """
        Make this the session of a federate. `say` gets messages for others, `wait` what the coordinator has to know when nothing can be done.
        """

    def put(self, kind: int, final: bool, peer: int, time: int, microstep: int, index: int, at_time: int, at_microstep: int, key: int, value: object | None, promise: tuple[int, int, int, int] | None = None) -> None:
        """
        Take a message from another federate or from the coordinator. For any thread.
        """

    def broken(self) -> str | None:
        """What a message said that cannot be, if that ended the run."""

    def present(self, slot: int) -> bool: ...

    def value(self, slot: int) -> object: ...

    def counts(self) -> tuple[int, int, int]:
        """
        Tags run, events delivered, tags whose work was shared. For any thread.
        """

    def reached(self) -> int:
        """When the latest tag was that is done, since the start. For any thread."""

    def cpu_clocks(self) -> list[int]:
        """
        Per worker the clock of its thread's processor time, 0 where there is none (the caller's, or not started). For any thread.
        """

    def costs(self) -> bytes:
        """
        Per reaction runs, timed runs, and nanoseconds of the timed ones, waiting for an interpreter lock included, as 64-bit numbers. For any thread.
        """

    def cost(self, reaction: int) -> tuple[int, int, int]:
        """Runs, measured runs, and nanoseconds of the measured ones."""

    def trace_bytes(self) -> bytes:
        """What happened so far; for `expand_trace`."""

    def trace_values(self) -> list[object]:
        """What was kept of values that were sent: scalars, types, or (text,)."""

    def timing(self) -> tuple[bytes, bytes, bytes, list[bytes], bytes, bytes]:
        """
        Measured times, as 64-bit numbers: per reaction runs, missed deadlines, total, longest; per worker runs, busy time, invocations not kept; tags, total lag, longest lag, begin, end, then per kept tag number, time, microstep, begin, end, lag; per worker and kept invocation tag number, reaction, missed, begin, end; in a federation per federate and kind waits, total, longest, after these two; per kept wait federate, kind, time, microstep, begin, end.
        """

    def reserve(self) -> None:
        """Keep other threads out from now on, until `close`."""

    def close(self) -> None: ...

def expand_trace(noted: bytes) -> tuple[bytes, bytes]:
    """
    Return the numbers of a trace, in the form told in trace_log.hpp, and for each port set which value was kept.
    """

def values(ports: tuple[object, ...]) -> list[object]:
    """The values of a multiport's present channels, in order."""
