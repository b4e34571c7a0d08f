# SPDX-License-Identifier: Apache-2.0
"""The base class of all reactors. An instance is in one of three states.

*Configured*: ``Actor(lr=0.1)`` has parameters; its ports can be referred to.
*Building*: in ``build()`` it adds reactors and connections. *Running*: made anew from
the Program, it has state, runs reactions, and knows the tag.
"""

from __future__ import annotations

from functools import cached_property
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    NoReturn,
    Protocol,
    TypeVar,
    dataclass_transform,
    overload,
)

from reactorl._decl.connection import PortRef
from reactorl._decl.meta import ReactorType
from reactorl._decl.param import REQUIRED
from reactorl._decl.state import state
from reactorl.errors import DeclarationError, ProgramError, UnknownNameError
from reactorl.position import here
from reactorl.tag import Duration, Tag, nanoseconds

if TYPE_CHECKING:
    import random  # noqa: TID251
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np

    from reactorl._decl.bank import Bank
    from reactorl._decl.classdecl import ClassDecl
    from reactorl._decl.port import Sink, Source, Width
    from reactorl._program.program import ReactorNode
    from reactorl.position import Position

R = TypeVar("R", bound="Reactor")
T = TypeVar("T")


class Context(Protocol):
    """What a running reactor can query; one object may serve many reactors."""

    run_seed: int

    def tag(self) -> Tag:
        """Return the current tag, absolute."""

    def start_time(self) -> int:
        """Return the time of the first tag."""

    def physical_time(self) -> int:
        """Return the wall clock."""

    def request_stop(self) -> None:
        """Make the next microstep the final tag."""

    def check_deadline(self, invoke_handler: bool) -> bool:  # noqa: FBT001
        """Return whether the running reaction is late; optionally run its handler."""

    def update_deadline(self, deadline: int) -> None:
        """Change the running reaction's deadline."""


class BuildCalls(Protocol):
    """The calls that are legal in ``build()``."""

    def note(self, error: DeclarationError | ProgramError) -> None:
        """Add an error that does not end ``build()``."""

    def add(self, name: str, reactor: Reactor, at: str | None = None) -> Reactor:
        """Contain ``reactor`` under ``name``."""

    def add_bank(
        self,
        name: str,
        reactor: Reactor,
        width: Width,
        each: Callable[[int], Mapping[str, Any]] | None,
        at: str | None = None,
    ) -> Bank[Any]:
        """Contain a bank under ``name``."""

    def connect(
        self,
        source: object,
        target: object,
        after: Duration | None,
        *,
        physical: bool,
        broadcast: bool,
        apart: bool = False,
        serializer: str | None = None,
    ) -> None:
        """Add a connection."""


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(state,))
class Reactor(metaclass=ReactorType):
    """A reactor: ports, state, reactions, contained reactors; subclass it.

    Calling the class with its parameters, by keyword, gives a configured reactor that
    can be contained in another or run. Instances share nothing: they influence each
    other only through ports.
    """

    if TYPE_CHECKING:
        __reactor__: ClassVar[ClassDecl]
        _where: Position
        _label: str
        _params: Mapping[str, Any]
        _given: Mapping[str, Any]
        _context: Context
        _node: ReactorNode
        _builder: BuildCalls

    bank_index = 0
    """Position in its bank; 0 outside banks."""

    _freezes: ClassVar[bool] = True  # front ends may have other rules for values
    _sets_inputs: ClassVar[bool] = False  # likewise: may a reaction set what it reads

    def __init__(self, **params: Any) -> None:  # noqa: ANN401
        """Set the parameters.

        Raises:
            UnknownNameError: The class has no such parameter.
            DeclarationError: A parameter without default is missing.
        """
        self._configure(params, partial=False)

    def _configure(self, params: Mapping[str, Any], *, partial: bool) -> None:
        """Set the parameters; ``partial`` if members of a bank add to them."""
        where = here()
        cls = type(self)
        self._where = where
        self._label = cls.__name__
        self._given = params
        check_params(cls, params, where)
        set_params(self, complete_params(cls, params, where, partial=partial))
        add_references(self)

    def __bind_body__(self, body: Any) -> tuple[Any, object]:  # noqa: ANN401
        """Return the callable for a body of this instance, and its one argument.

        A front end whose bodies have other arguments overrides this.
        """
        return body, self

    def __repr__(self) -> str:
        """Return the class and, if it runs, the full name."""
        node: ReactorNode | None = self.__dict__.get("_node")
        path = "not running" if node is None else node.path
        return f"<{type(self).__name__} {path}>"

    # -- what users write -----------------------------------------------------------

    def build(self) -> None:
        """Add reactors and connections; runs once per instance, before time starts.

        Parameters, contained reactors of the class body and own port widths are known.
        Runs on a temporary object: make state in ``setup()``.
        """

    def setup(self) -> None:
        """Make the state of this instance; runs once, before time starts.

        Parents come before children. Ports have no values yet.
        """

    def teardown(self) -> None:
        """Release resources; runs once at the very end, also after an error.

        Children come before parents. It is not at a tag: use a reaction on
        ``shutdown`` for effects that other reactors see.
        """

    # -- in build() -----------------------------------------------------------------

    @overload
    def add(
        self,
        name: str,
        reactor: type[R],
        *,
        at: str | None = None,
        **params: Any,  # noqa: ANN401
    ) -> R: ...
    @overload
    def add(self, name: str, reactor: R, *, at: str | None = None) -> R: ...

    def add(
        self, name: str, reactor: Any, *, at: str | None = None, **params: Any
    ) -> Any:
        """Contain a reactor: ``self.add("extra", Actor, lr=0.2)``; only in build().

        Afterwards it is also ``self.<name>``; reactions name its ports as
        ``"extra.done"``.

        Args:
            name: Its name.
            reactor: Its class, or a configured reactor.
            at: The federate in which it runs, unless the ``Federation`` of the run
                says something else; no part of the program.
            params: Its parameters, if ``reactor`` is a class.

        Raises:
            DeclarationError: The name is taken or not an identifier.
        """
        from reactorl._decl.bank import configured

        return self._building("add").add(name, configured(reactor, params), at)

    def add_bank(
        self,
        name: str,
        reactor: type[R] | R,
        *,
        width: Width,
        each: Callable[[int], Mapping[str, Any]] | None = None,
        at: str | None = None,
        **params: Any,  # noqa: ANN401
    ) -> Bank[R]:
        """Contain a bank of ``width`` reactors; only in build().

        Args:
            name: Its name; members are ``name[0]``, ``name[1]``, ...
            reactor: The class of the members, or one reactor as the model for all.
            width: How many.
            each: Returns the parameters in which member i differs.
            at: The federate of all members; see ``add``.
            params: Parameters of all members, if ``reactor`` is a class.
        """
        from reactorl._decl.bank import configured

        member = configured(reactor, params, partial=each is not None)
        return self._building("add_bank").add_bank(name, member, width, each, at)

    def connect(
        self,
        source: Source[T] | Sequence[Source[T]],
        target: Sink[T] | Sequence[Sink[T]],
        *,
        after: Duration | None = None,
        physical: bool = False,
        broadcast: bool = False,
    ) -> None:
        """Carry what ``source`` is set to at a tag to ``target``; only in build().

        Without ``after`` the value arrives at the same tag, so every reaction that
        reads ``target`` runs later in that tag than the one that set ``source``. With
        ``after`` it arrives that much later in logical time; ``after=0`` means the
        next microstep. Wall-clock time plays no part in either.

        Both sides are flattened to channels, banks member by member, and joined pair
        by pair; surplus channels stay unconnected, with a warning.

        Args:
            source: Outputs of contained reactors, inputs of this one.
            target: Inputs of contained reactors, outputs of this one. Each channel
                receives from at most one connection.
            after: Logical delay.
            physical: Deliver at the wall-clock time of sending (plus ``after``).
            broadcast: Repeat the sources until all targets are served.

        Raises:
            WiringError: A target already receives from another port, or a port is out
                of this reactor's reach.

        Example:
            >>> self.connect(self.learner.weights, self.actor.weights, after=0)
        """
        self._building("connect").connect(
            source, target, after, physical=physical, broadcast=broadcast
        )

    def _building(self, what: str) -> BuildCalls:
        builder: BuildCalls | None = self.__dict__.get("_builder")
        if builder is None:
            msg = f"{what}() must be called in build()"
            raise DeclarationError(
                msg,
                here(),
                "The structure is fixed before time starts; override build().",
            )
        return builder

    # -- in reactions ---------------------------------------------------------------

    if TYPE_CHECKING:

        def _running(self) -> Context: ...
    else:

        def _running(self) -> Context:
            try:
                return self._context
            except AttributeError:
                self._not_running()

    def _not_running(self) -> NoReturn:
        msg = f"{self._label or type(self).__name__} is not running yet"
        raise DeclarationError(
            msg,
            here(),
            "Time and names are known in setup() and reactions.",
        ) from None

    @property
    def tag(self) -> Tag:
        """The current tag; constant while a reaction runs."""
        return self._running().tag()

    @property
    def logical_time(self) -> int:
        """The time of the current tag, nanoseconds since 1970-01-01."""
        return self._running().tag().time

    @property
    def elapsed(self) -> int:
        """Logical nanoseconds since the start; constant while a reaction runs."""
        context = self._running()
        return context.tag().time - context.start_time()

    @property
    def start_time(self) -> int:
        """The time of the first tag."""
        return self._running().start_time()

    def physical_time(self) -> int:
        """Return the wall clock in nanoseconds; it moves while a reaction runs."""
        return self._running().physical_time()

    def physical_elapsed(self) -> int:
        """Return wall-clock nanoseconds since the start."""
        context = self._running()
        return context.physical_time() - context.start_time()

    def lag(self) -> int:
        """Return by how much the wall clock is ahead of the current tag."""
        context = self._running()
        return context.physical_time() - context.tag().time

    def request_stop(self) -> None:
        """End the program: the current tag finishes, the next microstep is the last.

        That one runs its pending events and the ``shutdown`` reactions.
        """
        self._running().request_stop()

    def check_deadline(self, *, invoke_handler: bool = True) -> bool:
        """Return whether the running reaction is past its deadline now.

        If so and ``invoke_handler``, its deadline handler runs in place, first.
        Without a deadline the answer is False.
        """
        return self._running().check_deadline(invoke_handler)

    def update_deadline(self, deadline: Duration) -> None:
        """Change the running reaction's deadline, for later checks and later tags."""
        self._running().update_deadline(nanoseconds(deadline))

    # -- in setup() and reactions ---------------------------------------------------

    @property
    def name(self) -> str:
        """The full name, e.g. ``main.actor[3]``."""
        try:
            return self._node.path
        except AttributeError:
            self._not_running()

    @cached_property
    def seed(self) -> int:
        """A seed of its own: depends on the run's seed and the full name only."""
        from reactorl._util import seeds

        return seeds.derive(self._running().run_seed, self.name)

    @cached_property
    def random(self) -> random.Random:
        """Random numbers of this reactor alone, seeded by ``seed``."""
        from reactorl._util import seeds

        return seeds.python_stream(self.seed)

    @cached_property
    def np_random(self) -> np.random.Generator:  # noqa: TID251
        """NumPy's generator of this reactor alone, seeded by ``seed``."""
        from reactorl._util import seeds

        return seeds.numpy_stream(self.seed)


def check_params(cls: type[Reactor], given: Mapping[str, Any], where: Position) -> None:
    """Check that all names are parameters of ``cls``."""
    for name in given:
        if name not in cls.__reactor__.params:
            known = tuple(cls.__reactor__.params)
            raise UnknownNameError(
                name, f"parameter list of {cls.__name__}", known, where
            )


def complete_params(
    cls: type[Reactor],
    given: Mapping[str, Any],
    where: Position,
    *,
    partial: bool = False,
) -> dict[str, Any]:
    """Return all parameters of ``cls``, ``given`` over defaults, in declared order.

    Raises:
        DeclarationError: One without default is missing, and not ``partial``.
    """
    values: dict[str, Any] = {}
    for name, declared in cls.__reactor__.params.items():
        missing = declared.required and given.get(name, REQUIRED) is REQUIRED
        value = given[name] if name in given else declared.fallback()
        if missing and not partial and name != "bank_index":
            msg = f"{cls.__name__} needs the parameter {name!r}"
            raise DeclarationError(
                msg,
                where,
                f"Write {cls.__name__}({name}=...); declared at {declared.where}.",
            )
        values[name] = value
    return values


# -- prototypes: reactors that do not run ---------------------------------------------


def prototype(
    cls: type[R],
    params: Mapping[str, Any],
    *,
    label: str | None = None,
    bank_index: int | None = None,
) -> R:
    """Return an instance of ``cls`` that has parameters and nothing else.

    Args:
        cls: The class; its ``__init__`` is not called.
        params: All its parameters.
        label: The name of the reactor in messages; the name of the class if None.
        bank_index: Its position in its bank, if it is in one.
    """
    reactor = cls.__new__(cls)
    reactor._label = cls.__name__ if label is None else label
    set_params(reactor, params)
    if bank_index is not None and "bank_index" not in params:
        reactor.bank_index = bank_index
    return reactor


def set_params(reactor: Reactor, params: Mapping[str, Any]) -> None:
    """Give a reactor its parameters."""
    reactor._params = params
    for name, value in params.items():
        setattr(reactor, f"_p_{name}", value)


def add_references(reactor: Reactor) -> None:
    """Give a prototype its ports and contained reactors, to be named and connected."""
    content = reactor.__dict__
    decl = type(reactor).__reactor__
    for port in decl.ports:
        content[port.name] = PortRef(reactor, port)
    for child in decl.children:
        content[child.name] = child.handle
