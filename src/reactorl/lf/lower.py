# SPDX-License-Identifier: Apache-2.0
"""From classes of a library to reactor classes: the same declarations, in Python.

A class is made of everything its lineage says, in that order; LF's inheritance does
not become Python's. What a class contains is added in ``build()``, because arguments
and widths may depend on parameters of each instance.
"""

from __future__ import annotations

import ast
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from types import new_class
from typing import TYPE_CHECKING, Any

from reactorl._decl.action import LogicalAction, PhysicalAction
from reactorl._decl.bank import configured
from reactorl._decl.connection import interleaved
from reactorl._decl.mode import Mode, history, reset_to
from reactorl._decl.param import REQUIRED, Param
from reactorl._decl.port import Input, MultiInput, MultiOutput, Output
from reactorl._decl.reaction import Reaction
from reactorl._decl.reactor import Reactor
from reactorl._decl.state import State
from reactorl._decl.timer import Timer, reset, shutdown, startup
from reactorl._decl.watchdog import Watchdog
from reactorl.errors import DelayError
from reactorl.lf import bodies, syntax, values
from reactorl.lf.python_block import python_block
from reactorl.lf.selves import Self, give, give_params, self_class
from reactorl.position import Position, at

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import FunctionType

    from reactorl._decl.connection import PortRef
    from reactorl.lf.api import Lf
    from reactorl.lf.code import Compiler
    from reactorl.lf.library import ClassUnit, Part
    from reactorl.lf.source import Source, Span
    from reactorl.lf.tracepoints import Tracepoints

_OCCASIONS = {"startup": startup, "shutdown": shutdown, "reset": reset}


@dataclass(frozen=True, slots=True)
class SourcePosition(Position):
    """A place in a ``.lf`` file, to the character."""

    source: Source = field(compare=False, repr=False)
    span: Span = field(compare=False, repr=False)

    __str__ = Position.__str__


def position(source: Source, span: Span) -> SourcePosition:
    """Return the place of a stretch of source."""
    line = source.line_and_column(span.start)[0]
    return SourcePosition(str(source.path), line, source, span)


class LfReactor(Reactor):
    """A reactor that was written in LF. Bodies get ``self`` from it, see ``selves``."""

    __lf__: Lowered

    def __lf_self__(self) -> Self:
        """Return the object that bodies call self, with its state."""
        content = self.__dict__
        me: Self | None = content.get("__lf_me__")
        if me is None:
            me = content["__lf_me__"] = self.__lf__.new_self(self)
            self.__lf__.initialise(me)
        return me

    def setup(self) -> None:
        """Make the state, before time starts."""
        self.__lf__.lf.begin(self)
        self.__lf_self__()

    def teardown(self) -> None:
        """Let go of the run."""
        self.__lf__.lf.end(self)

    def build(self) -> None:
        """Add what the class contains, and connect it."""
        self.__lf__.build(self)

    def __setattr__(self, name: str, value: object) -> None:
        """Set an element's view, or state: an LF name may be that of a property."""
        me = self.__dict__.get("__lf_me__")
        if me is not None and name in self.__lf__.state_names:
            setattr(me, name, value)
        else:
            self.__dict__[name] = value

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        """Return state and methods, for Python code that extends the class."""
        me = self.__dict__.get("__lf_me__")
        if me is None or name.startswith("__"):
            raise AttributeError(name, name=name, obj=self)
        return getattr(me, name)


class Lowering:
    """Makes reactor classes of a library's classes, each once.

    Args:
        compiler: Makes functions of code; None: no code is executed, and what it
            would say is not known.
        lf: What bodies call ``lf``.
        tracepoints: Where trace points of bodies go.
    """

    def __init__(
        self, compiler: Compiler | None, lf: Lf, tracepoints: Tracepoints
    ) -> None:
        self.compiler = compiler
        self.lf = lf
        self.tracepoints = tracepoints
        self.places: dict[str, SourcePosition] = {}
        self._made: dict[ClassUnit, type[LfReactor]] = {}

    def reactor_class(self, unit: ClassUnit) -> type[LfReactor]:
        """Return the reactor class of a class that has been checked."""
        cls = self._made.get(unit)
        if cls is None:
            lowered = Lowered(unit, self)
            with at(position(unit.file.source, lowered.span)):
                cls = new_class(
                    unit.name, (LfReactor,), {"free_names": True}, lowered.fill
                )
            cls.__lf__ = lowered
            cls.__module__ = unit.file.source.path.stem
            self._made[unit] = cls
        return cls


class Lowered:
    """One class: what it declares, contains, and what its bodies call self."""

    def __init__(self, unit: ClassUnit, lowering: Lowering) -> None:
        self.unit = unit
        self.lf = lowering.lf
        self._lowering = lowering
        self._compiler = lowering.compiler
        self._parts = list(unit.parts())
        self._kinds = {
            part.member.name.text: part.member
            for part in self._parts
            if isinstance(
                part.member,
                syntax.Port
                | syntax.Action
                | syntax.Timer
                | syntax.Watchdog
                | syntax.Mode
                | syntax.Instance,
            )
            and part.member.name is not None
        }
        self._params = unit.params()
        self._param_sources = {
            p.name.text: owner.file.source
            for owner in unit.lineage
            for p in owner.tree.params
        }
        self._states = [p for p in self._parts if isinstance(p.member, syntax.State)]
        self.state_names = frozenset(p.member.name.text for p in self._states)  # type: ignore[union-attr]
        # By the identity of the tree's node: equal code has other lines elsewhere.
        self._functions: dict[int, FunctionType] = {}
        self._self_class: type[Self] | None = None
        name = unit.tree.name
        self.span = unit.tree.span if name is None else name.span

    # -- what the class declares ---------------------------------------------------

    def fill(self, names: Any) -> None:  # noqa: ANN401
        """Put all declarations into a class body."""
        for name, param in self._params.items():
            with at(position(self._param_sources[name], param.name.span)):
                names[self.param_key(name)] = self._param(param)
        modes: dict[int, Mode] = {}  # by the identity of the tree's node
        count = 0
        titles: set[str] = set()
        for part in self._parts:
            member = part.member
            if isinstance(member, syntax.Reaction):
                count += 1
                title = member.name.text if member.name else f"reaction_{count}"
                if title in titles:
                    title = f"reaction_{count}"
                titles.add(title)
            with at(self._position(part)):
                mode = modes[id(part.mode)] if part.mode else nullcontext()
                with mode:
                    match member:
                        case syntax.Mode():
                            assert member.name is not None
                            modes[id(member)] = Mode(initial=member.is_initial)
                            names[member.name.text] = modes[id(member)]
                        case syntax.Port():
                            names[member.name.text] = _port(member)
                        case syntax.Timer():
                            names[member.name.text] = Timer(
                                values.duration(member.offset, 0),
                                values.duration(member.period, 0),
                            )
                        case syntax.Action():
                            names[member.name.text] = _action(member)
                        case syntax.Watchdog():
                            names[member.name.text] = self._watchdog(part, member)
                        case syntax.State() if member.is_reset:
                            key = f"state {member.name.text}"
                            names[key] = self._reset_state(part, member)
                        case syntax.Reaction():
                            key = f"reaction {count}"
                            names[key] = self._reaction(part, member, title)

    def _position(self, part: Part) -> SourcePosition:
        member = part.member
        name = getattr(member, "name", None)
        span = member.span if name is None else name.span
        return position(part.owner.file.source, span)

    def _param(self, param: syntax.Param) -> Param:
        if param.default is not None and not values.is_constant(param.default):
            return Param(REQUIRED, partial(self.default, param))
        return Param(self.default(param))

    def param_key(self, name: str) -> str:
        """Return the name of a parameter among all elements of the class."""
        return values.PREFIX + name if name in self._kinds else name

    def default(self, param: syntax.Param) -> Any:  # noqa: ANN401
        """Return a fresh default value of a parameter."""
        assert param.default is not None
        source = self._param_sources[param.name.text]
        return values.value_of(param.default, {}, lambda code: self._run(code, source))

    def _reaction(self, part: Part, member: syntax.Reaction, title: str) -> Reaction:
        triggers: list[Any] = []
        for trigger in member.triggers or ():
            if isinstance(trigger, syntax.Builtin):
                triggers.append(_OCCASIONS[trigger.kind])
            else:
                triggers.append(_mention(trigger))
        sources: list[Any] = []
        effects: list[Any] = []
        for source in member.sources:
            # LF tolerates actions here; like effects they give no precedence.
            is_action = source.container is None and isinstance(
                self._kinds.get(source.name.text), syntax.Action
            )
            (effects if is_action else sources).append(_mention(source))
        for effect in member.effects:
            if isinstance(effect, syntax.ModeChange):
                enter = history if effect.transition == "history" else reset_to
                effects.append(enter(effect.mode.text))
            else:
                effects.append(_mention(effect))
        deadline = member.deadline
        made = Reaction(
            self._body(part, member, member.code, title),
            (tuple(triggers), tuple(sources), tuple(dict.fromkeys(effects))),
            None if deadline is None else values.duration(deadline.delay),
            title,
            self._position(part),
        )
        if deadline is not None and deadline.code is not None:
            made.handler = self._body(part, member, deadline.code, f"{title}_deadline")
        return made

    def _body(
        self,
        part: Part,
        member: syntax.Reaction | syntax.Watchdog,
        code: syntax.Code | None,
        title: str,
    ) -> Callable[[Any], object]:
        if code is None or self._compiler is None:
            return lambda instance: None
        getters = self._getters(member, code)
        params = ["self", *getters]
        source = part.owner.file.source
        name = title if title.isidentifier() else "reaction"
        function = self._compiler.function(name, params, code, source)
        function.__qualname__ = f"{self.unit.name}.{name}"
        return bodies.Body(function, tuple(getters.values()))

    def _getters(
        self, member: syntax.Reaction | syntax.Watchdog, code: syntax.Code
    ) -> dict[str, Callable[[Reactor], object]]:
        """Return, for each name that a body sees, what finds it in an instance."""
        refs: list[syntax.Ref | syntax.ModeChange | syntax.Builtin] = [*member.effects]
        if isinstance(member, syntax.Reaction):
            refs = [*(member.triggers or ()), *member.sources, *refs]
        found: dict[str, Callable[[Reactor], object]] = {}
        contained: dict[str, list[str]] = {}
        indexed = _needs_full_ports(code)
        for ref in refs:
            if isinstance(ref, syntax.ModeChange):
                found[ref.mode.text] = bodies.own(ref.mode.text)
            elif isinstance(ref, syntax.Builtin):
                continue
            elif ref.container is not None:
                ports = contained.setdefault(ref.container.text, [])
                if ref.name.text not in ports:
                    ports.append(ref.name.text)
            else:
                name = ref.name.text
                kind = self._kinds.get(name)
                if isinstance(kind, syntax.Port):
                    is_multi = kind.width is not None
                    shown: type[bodies.FullPort] | None = None
                    if kind.is_mutable:
                        shown = bodies.MutablePort
                    elif "*" in indexed or (name in indexed and not is_multi):
                        shown = bodies.FullPort
                    found[name] = bodies.port(name, shown, is_multi=is_multi)
                elif not isinstance(kind, syntax.Timer):
                    found[name] = bodies.own(name)
        for name, ports in contained.items():
            found[name] = bodies.child(name, tuple(ports))
            for port in ports:
                found.setdefault(f"{name}_{port}", bodies.child_port(name, port))
        return found

    def _watchdog(self, part: Part, member: syntax.Watchdog) -> Watchdog:
        effects = [e.name.text for e in member.effects if isinstance(e, syntax.Ref)]
        made = Watchdog(values.duration(member.timeout), effects=effects)
        made.handling = self._body(part, member, member.code, member.name.text)
        return made

    # -- state ---------------------------------------------------------------------

    def _reset_state(self, part: Part, member: syntax.State) -> State:
        name = member.name.text

        def initial(instance: LfReactor) -> object:
            content = instance.__dict__
            me = instance.__lf_self__()
            given: set[str] = content.setdefault("__lf_given__", set())
            if name in given:  # the mode is entered by reset
                setattr(me, name, self._initial(part, member, me))
            given.add(name)
            return getattr(me, name)

        return State(_MISSING_DEFAULT, initial, reset=True)

    def _initial(self, part: Part, member: syntax.State, me: Self) -> object:
        if member.init is None:
            return None
        params = _ParamsOf(me)
        source = part.owner.file.source
        return values.value_of(
            member.init, params, lambda code: self._run(code, source, me)
        )

    def new_self(self, instance: Reactor) -> Self:
        """Return a new self with the parameters of an instance, and no state."""
        if self._self_class is None:
            self._self_class = self._make_self_class()
        me = self._self_class.__new__(self._self_class)
        give(me, "__lf_reactor__", instance)
        give(me, "__lf_tracepoints__", self._lowering.tracepoints)
        node = instance.__dict__.get("_node")
        if node is not None:
            give_params(me, node.params, node.bank_index)
        else:
            index = instance.__dict__.get("bank_index")
            give_params(me, instance._params, index)
        return me

    def initialise(self, me: Self) -> None:
        """Give a new self its state, in textual order."""
        for part in self._states:
            member = part.member
            assert isinstance(member, syntax.State)
            setattr(me, member.name.text, self._initial(part, member, me))

    def _make_self_class(self) -> type[Self]:
        names: dict[str, Any] = {}
        compiler = self._compiler
        if compiler is not None:
            for part in self._parts:
                source = part.owner.file.source
                if isinstance(part.member, syntax.Preamble):
                    compiler.execute(part.member.code, source, names)
                elif isinstance(part.member, syntax.Method):
                    method = part.member
                    params = ["self", *(param.name.text for param in method.params)]
                    names[method.name.text] = compiler.function(
                        method.name.text, params, method.code, source
                    )
        return self_class(self.unit.name, self._params, names)

    # -- what the class contains ---------------------------------------------------

    def build(self, shell: Reactor) -> None:
        """Add contained reactors and connections to an instance that is being built."""
        me: list[Self] = []

        def parent() -> Self:
            if not me:
                me.append(self.new_self(shell))
            return me[0]

        for kind, act in (
            (syntax.Instance, self._add),
            (syntax.Connection, self._connect),
        ):
            for part in self._parts:
                if not isinstance(part.member, kind):
                    continue
                mode = part.mode.name.text if part.mode and part.mode.name else None
                place = self._position(part)
                self._lowering.places.setdefault(str(place), place)
                with (
                    at(place),
                    shell.__dict__[mode] if mode else nullcontext(),
                ):
                    act(shell, part, parent)

    def _add(self, shell: Reactor, part: Part, parent: Callable[[], Self]) -> None:
        member = part.member
        assert isinstance(member, syntax.Instance)
        name = member.name.text
        unit = part.owner.children[name]
        cls = self._lowering.reactor_class(unit)
        given = {arg.name.text: arg.value for arg in member.args}
        source = part.owner.file.source

        def argument(param: str, index: int) -> object:
            if param not in given:
                return cls.__lf__.default(cls.__lf__._params[param])
            return values.value_of(
                given[param],
                shell._params,
                lambda code: self._run(code, source, parent(), index),
            )

        def arguments(index: int, *, constant: bool) -> dict[str, Any]:
            return {
                cls.__lf__.param_key(p): argument(p, index)
                for p, declared in cls.__lf__._params.items()
                if _constant(given.get(p), declared) is constant
                and (p != "bank_index" or p in given)
            }

        common = arguments(0, constant=True)
        if member.width is None:
            common |= arguments(0, constant=False)
            shell._builder.add(name, configured(cls, common))
            return
        changing = any(
            not _constant(given.get(p), declared)
            for p, declared in cls.__lf__._params.items()
        )
        bank = configured(cls, common, partial=changing)
        each = (lambda i: arguments(i, constant=False)) if changing else None
        shell._builder.add_bank(name, bank, values.width(member.width), each)

    def _connect(self, shell: Reactor, part: Part, parent: object) -> None:
        member = part.member
        assert isinstance(member, syntax.Connection)
        after: Any = None
        if member.after is not None:
            after = values.duration(member.after)
            if isinstance(after, values.TimeParam):
                try:
                    after = after.evaluate(shell._params)
                except TypeError as error:
                    what = f"the delay of a connection: {error}"
                    raise DelayError(what, self._position(part)) from None
        shell._builder.connect(
            [_reference(shell, ref) for ref in member.left],
            [_reference(shell, ref) for ref in member.right],
            after,
            physical=member.is_physical,
            broadcast=member.broadcast,
        )

    # -- code that is an expression ------------------------------------------------

    def _run(
        self, code: syntax.Code, source: Source, me: Self | None = None, index: int = 0
    ) -> Any:  # noqa: ANN401
        if self._compiler is None:
            return values.UNKNOWN
        function = self._functions.get(id(code))
        if function is None:
            params = ["self", "bank_index"]
            function = self._compiler.expression("value", params, code, source)
            self._functions[id(code)] = function
        return function(me, index)


_MISSING_DEFAULT: Any = State.__init__.__globals__["_MISSING"]


class _ParamsOf(dict[str, Any]):
    """Parameters by name, as ``self`` has them."""

    def __init__(self, me: Self) -> None:
        super().__init__()
        self._me = me

    def __missing__(self, name: str) -> object:
        return getattr(self._me, name)


def _constant(given: syntax.Expr | None, declared: syntax.Param) -> bool:
    expr = declared.default if given is None else given
    return expr is None or values.is_constant(expr)


def _port(
    member: syntax.Port,
) -> Input[Any] | Output[Any] | MultiInput[Any] | MultiOutput[Any]:
    if member.width is None:
        if member.direction == "input":
            return Input(mutable=member.is_mutable)
        return Output()
    width = values.width(member.width)
    if member.direction == "input":
        return MultiInput(width, mutable=member.is_mutable)
    return MultiOutput(width)


def _action(member: syntax.Action) -> LogicalAction[Any] | PhysicalAction[Any]:
    kind = PhysicalAction if member.origin == "physical" else LogicalAction
    policy: Any = ast.literal_eval(member.policy.text) if member.policy else "defer"
    spacing = values.duration(member.min_spacing)
    return kind(values.duration(member.min_delay, 0), spacing, policy)


def _mention(ref: syntax.Ref) -> str:
    if ref.container is None:
        return ref.name.text
    return f"{ref.container.text}.{ref.name.text}"


def _reference(shell: Reactor, ref: syntax.Ref) -> PortRef:
    name = ref.name.text
    found: PortRef
    if ref.container is None:
        found = shell.__dict__[name]
    else:
        holder = shell.__dict__[ref.container.text]
        inner: Mapping[str, PortRef] = holder.__dict__
        found = inner[name] if name in inner else getattr(holder, name)
    return interleaved(found) if ref.interleaved else found


def _needs_full_ports(code: syntax.Code) -> frozenset[str]:
    """Return plain names that a body indexes; ``*`` if it asks when values came."""
    text = code.text
    found = {"*"} if any(word in text for word in bodies.FULL_ABILITIES) else set()
    if "[" in text:
        try:
            tree = ast.parse("if 1:\n" + _indented(python_block(code).text))
        except SyntaxError:
            return frozenset(found)
        found |= {
            node.value.id
            for node in ast.walk(tree)
            if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name)
        }
    return frozenset(found)


def _indented(text: str) -> str:
    return "".join(f" {line}\n" for line in text.split("\n"))
