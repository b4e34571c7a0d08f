# SPDX-License-Identifier: Apache-2.0
"""ReactoRL: deterministic parallel reinforcement learning on the reactor model.

Write a task as reactors; it runs on every core, with the same results for any number
of workers. ``Reactor``, ``Input``, ``Output``, ``param``, ``reaction`` and ``run`` are
where to begin.
"""

from __future__ import annotations

from importlib import import_module
from types import FunctionType
from typing import TYPE_CHECKING

from reactorl._decl.action import Action, LogicalAction, PhysicalAction
from reactorl._decl.bank import Bank, bank
from reactorl._decl.connection import interleaved
from reactorl._decl.mode import Mode, ModeControl, history, reset_to
from reactorl._decl.param import param
from reactorl._decl.port import Input, MultiInput, MultiOutput, MultiPort, Output, Port
from reactorl._decl.reaction import reaction
from reactorl._decl.reactor import Reactor
from reactorl._decl.state import state
from reactorl._decl.timer import Timer, reset, shutdown, startup
from reactorl._decl.watchdog import Watchdog, WatchdogControl
from reactorl._program.elaborate import Analysis, analyze, elaborate
from reactorl._program.placement import Federation
from reactorl._program.program import Program
from reactorl.diagnostics import Diagnostic, Severity
from reactorl.errors import (
    AccessError,
    BusyError,
    CausalityError,
    ContainmentError,
    DeclarationError,
    DelayError,
    DTypeError,
    FederationError,
    GlobalRandomError,
    Hop,
    ProgramError,
    ReactionError,
    ReactorlError,
    ReactorlWarning,
    ReplayError,
    SharedValueError,
    TraceError,
    UnknownNameError,
    WidthError,
    WiringError,
)
from reactorl.position import Position
from reactorl.tag import (
    FOREVER,
    NEVER,
    Duration,
    Tag,
    hours,
    minutes,
    msec,
    nsec,
    sec,
    usec,
)

if TYPE_CHECKING:
    from reactorl._decl.native import (
        NativeBody,
        NativeState,
        get_include,
        native,
        native_state,
    )
    from reactorl._federation.drive import drive
    from reactorl._federation.launch.joining import join_federation
    from reactorl._federation.launch.on_ray.federation import RayFederation
    from reactorl._federation.nodes.on_ray import inspect_nodes
    from reactorl._federation.run import run
    from reactorl._runtime.options import MAX_WORKERS
    from reactorl._runtime.recording import Recording
    from reactorl._runtime.result import Result
    from reactorl._runtime.watch import FederateSample, Sample, Watch
    from reactorl.diagram.picture import graph

    __version__: str

__all__ = [
    "FOREVER",
    "MAX_WORKERS",
    "NEVER",
    "AccessError",
    "Action",
    "Analysis",
    "Bank",
    "BusyError",
    "CausalityError",
    "ContainmentError",
    "DTypeError",
    "DeclarationError",
    "DelayError",
    "Diagnostic",
    "Duration",
    "FederateSample",
    "Federation",
    "FederationError",
    "GlobalRandomError",
    "Hop",
    "Input",
    "LogicalAction",
    "Mode",
    "ModeControl",
    "MultiInput",
    "MultiOutput",
    "MultiPort",
    "NativeBody",
    "NativeState",
    "Output",
    "PhysicalAction",
    "Port",
    "Position",
    "Program",
    "ProgramError",
    "RayFederation",
    "ReactionError",
    "Reactor",
    "ReactorlError",
    "ReactorlWarning",
    "Recording",
    "ReplayError",
    "Result",
    "Sample",
    "Severity",
    "SharedValueError",
    "Tag",
    "Timer",
    "TraceError",
    "UnknownNameError",
    "Watch",
    "Watchdog",
    "WatchdogControl",
    "WidthError",
    "WiringError",
    "analyze",
    "bank",
    "drive",
    "elaborate",
    "get_include",
    "graph",
    "history",
    "hours",
    "inspect_nodes",
    "interleaved",
    "join_federation",
    "minutes",
    "msec",
    "native",
    "native_state",
    "nsec",
    "param",
    "reaction",
    "reset",
    "reset_to",
    "run",
    "sec",
    "shutdown",
    "startup",
    "state",
    "usec",
]

# What runs needs the compiled core, which is loaded on first use.
_LAZY = {
    "MAX_WORKERS": "reactorl._runtime.options",
    "Recording": "reactorl._runtime.recording",
    "Result": "reactorl._runtime.result",
    "FederateSample": "reactorl._runtime.watch",
    "Sample": "reactorl._runtime.watch",
    "Watch": "reactorl._runtime.watch",
    "NativeBody": "reactorl._decl.native",
    "NativeState": "reactorl._decl.native",
    "get_include": "reactorl._decl.native",
    "graph": "reactorl.diagram.picture",
    "native": "reactorl._decl.native",
    "native_state": "reactorl._decl.native",
    "drive": "reactorl._federation.drive",
    "RayFederation": "reactorl._federation.launch.on_ray.federation",
    "join_federation": "reactorl._federation.launch.joining",
    "inspect_nodes": "reactorl._federation.nodes.on_ray",
    "run": "reactorl._federation.run",
}
_LAZY_PACKAGES = ("diagram", "lf", "rl")


def _public(thing: object) -> object:
    """Make tracebacks and help() show the public path of a class or function."""
    if isinstance(thing, type | FunctionType):
        thing.__module__ = __name__
    return thing


def __getattr__(name: str) -> object:
    if name in _LAZY:
        value = _public(getattr(import_module(_LAZY[name]), name))
        globals()[name] = value
        return value
    if name in _LAZY_PACKAGES:
        return import_module(f"{__name__}.{name}")
    if name == "__version__":
        value = globals()[name] = _version()
        return value
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})


def _version() -> str:
    """Return the version of the installed package; looking it up is slow."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(__name__)
    except PackageNotFoundError:  # a source tree that was not installed
        return "0+unknown"


for _name in __all__:
    _public(globals().get(_name))
