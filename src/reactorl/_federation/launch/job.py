# SPDX-License-Identifier: Apache-2.0
"""What the process of a federate has to know, as bytes through a pipe."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from reactorl._program.elaborate import elaborate
from reactorl._program.program import Program
from reactorl._util.serialization import serialize
from reactorl.errors import ReactorlError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reactorl._decl.reactor import Reactor
    from reactorl._federation.federate import Base
    from reactorl._program.placement import Federation
    from reactorl._runtime.options import Options
    from reactorl._runtime.recording import Recording


class Source(Protocol):
    """Where a process gets the program from. Every federate elaborates all of it."""

    def program(self) -> Program:
        """Return the program, always the same."""

    def prepare(self, federate: str) -> None:
        """Do what has to be done before the program is run by a federate."""

    def extra(self) -> object:
        """Return what the launcher gets from a federate besides its result."""


@dataclass(frozen=True, slots=True)
class PythonSource:
    """A program of Python classes.

    Attributes:
        main: The main reactor.
    """

    main: type[Reactor] | Reactor

    def program(self) -> Program:
        """See ``Source``."""
        return elaborate(self.main)

    def prepare(self, federate: str) -> None:
        """See ``Source``."""

    def extra(self) -> object:
        """See ``Source``."""
        return None


def source_of(main: type[Reactor] | Reactor | Program) -> PythonSource:
    """Return where other processes get a program from."""
    if isinstance(main, Program):
        node = main.reactors[0]
        return PythonSource(node.cls(**node.params))
    return PythonSource(main)


@dataclass(frozen=True, slots=True)
class Restored:
    """A checkpoint from which a federate begins again.

    Attributes:
        base: What it had sent and received.
        run: The digest of the run, which its peers expect.
        own: The digest of the program that the source makes, which differs from that by
            the state.
    """

    base: Base
    run: bytes
    own: bytes


@dataclass(frozen=True)
class Job:
    """The part of one federate in a run.

    Attributes:
        source: Where the program comes from, packed.
        federation: The placement.
        options: Options of the run.
        index: Which federate it is.
        coordinator: Where the coordinator listens.
        address: Where the federate listens.
        replay: Physical inputs, instead of those of the world.
        record: Whether physical inputs are recorded.
        encrypt: Whether links are encrypted.
        life: How often the federate was started, from 1.
        keeps: Whether federates that are lost begin again.
        fixed: Federates that never begin again.
        restored: The checkpoint from which it begins; None: from the first tag.
        fingerprint: Numeric results of the calling process, which must be those of
            the federate; empty: they are not compared.
    """

    source: bytes
    federation: Federation
    options: Options
    index: int
    coordinator: str
    address: str
    replay: Recording | None = None
    record: bool = False
    encrypt: bool = False
    life: int = 1
    keeps: bool = False
    fixed: frozenset[int] = frozenset()
    restored: Restored | None = None
    fingerprint: Mapping[str, str] = field(default_factory=dict)


def pack_source(source: Source) -> bytes:
    """Return a source as bytes; classes that cannot be imported go by value.

    Raises:
        ReactorlError: Something in it cannot be sent to another process.
    """
    try:
        return serialize(source)
    except ImportError as error:
        msg = f"a main reactor that cannot be imported needs cloudpickle: {error}"
        remedy = "Install reactorl[federation], or define the reactors in a module."
        raise ReactorlError(msg, None, remedy) from error
    except Exception as error:
        msg = f"the program cannot be sent to another process: {error}"
        remedy = (
            "Define its reactors in a module, and create what cannot be pickled in "
            "setup(). For classes of a .lf file: reactorl run --federated."
        )
        raise ReactorlError(msg, None, remedy) from error
