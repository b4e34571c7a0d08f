# SPDX-License-Identifier: Apache-2.0
"""The syntax tree of a ``.lf`` file.

Nodes are frozen. Equality ignores positions (``span``) and comments, so a tree equals
the tree of the same program in a different format.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from reactorl.lf.source import NOWHERE, Span


@dataclass(frozen=True, slots=True)
class Node:
    """Base class of all nodes."""

    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


# -- names and expressions ----------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Name(Node):
    """An identifier, where it is declared or used."""

    text: str


@dataclass(frozen=True, slots=True)
class String(Node):
    """A string in double quotes, one or three; ``text`` includes them."""

    text: str


@dataclass(frozen=True, slots=True)
class Char(Node):
    """A character in single quotes; ``text`` includes them."""

    text: str


@dataclass(frozen=True, slots=True)
class Number(Node):
    """A number as written, with its sign."""

    text: str


@dataclass(frozen=True, slots=True)
class Bool(Node):
    """``true``, ``True``, ``false`` or ``False``."""

    value: bool


@dataclass(frozen=True, slots=True)
class Time(Node):
    """``5 ms``, ``forever`` or ``never``. A bare ``0`` is a ``Number``.

    Attributes:
        magnitude: How many units; None for forever and never.
        unit: The unit as written, or ``forever`` or ``never``.
    """

    magnitude: int | None
    unit: str


@dataclass(frozen=True, slots=True)
class ParamRef(Node):
    """A parameter's name, used as a value."""

    name: str


@dataclass(frozen=True, slots=True)
class Code(Node):
    """The text between ``{=`` and ``=}``; ``span`` includes the delimiters."""

    text: str


@dataclass(frozen=True, slots=True)
class List(Node):
    """``[a, b]``."""

    items: tuple[Expr, ...]


Expr: TypeAlias = "String | Char | Number | Bool | Time | ParamRef | Code | List"


@dataclass(frozen=True, slots=True)
class Type(Node):
    """A type annotation without the colon; an error in the Python target."""

    text: str


@dataclass(frozen=True, slots=True)
class AttributeArg(Node):
    """One argument of an attribute; a bare name is a ``ParamRef``."""

    name: Name | None
    value: Expr


@dataclass(frozen=True, slots=True)
class Attribute(Node):
    """``@label("x")``. Without parentheses ``args`` is None."""

    name: Name
    args: tuple[AttributeArg, ...] | None = None


# -- target, imports, preambles -----------------------------------------------------


@dataclass(frozen=True, slots=True)
class Path(Node):
    """A bare word or path as a property's value: ``log``, ``NP``, ``a/b.py``."""

    text: str


@dataclass(frozen=True, slots=True)
class Entry(Node):
    """``key: value``; the key as written, a string keeps its quotes."""

    key: str
    value: Item
    key_span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Dict(Node):
    """``{key: value, ...}``."""

    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class ItemList(Node):
    """``[item, ...]`` as a property's value."""

    items: tuple[Item, ...]


Item: TypeAlias = "Dict | ItemList | String | Char | Number | Bool | Time | Path"


@dataclass(frozen=True, slots=True)
class Target(Node):
    """``target Python {...}``."""

    name: Name
    properties: Dict | None = None


@dataclass(frozen=True, slots=True)
class ImportedName(Node):
    """``Name`` or ``Name as Alias``."""

    name: Name
    alias: Name | None = None


@dataclass(frozen=True, slots=True)
class Package(Node):
    """``<pkg/File.lf>``; ``text`` is the stripped text between the angle brackets."""

    text: str


@dataclass(frozen=True, slots=True)
class Import(Node):
    """``import A, B as C from "file.lf"`` or ``from <package/File.lf>``."""

    names: tuple[ImportedName, ...]
    origin: String | Package


@dataclass(frozen=True, slots=True)
class Preamble(Node):
    """``preamble {= ... =}`` of a file or a reactor."""

    code: Code
    visibility: Literal["private", "public"] | None = None


# -- members of a reactor -----------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Width(Node):
    """``[2 + n]``: a sum of numbers and parameters; empty for ``[]``.

    ``Code`` and ``widthof`` terms are parsed and then rejected by a rule.
    """

    terms: tuple[int | Name | Code, ...]


@dataclass(frozen=True, slots=True)
class Ref(Node):
    """A port, action, timer, mode, watchdog or ``child.port``."""

    name: Name
    container: Name | None = None
    interleaved: bool = False
    alias: Name | None = None


@dataclass(frozen=True, slots=True)
class Builtin(Node):
    """``startup``, ``shutdown`` or ``reset`` as a trigger."""

    kind: Literal["startup", "shutdown", "reset"]


@dataclass(frozen=True, slots=True)
class ModeChange(Node):
    """``reset(M)`` or ``history(M)`` as an effect; a plain ``M`` is a ``Ref``."""

    transition: Literal["reset", "history"]
    mode: Name


Trigger: TypeAlias = "Ref | Builtin"
Effect: TypeAlias = "Ref | ModeChange"


@dataclass(frozen=True, slots=True)
class Param(Node):
    """A parameter of a reactor."""

    name: Name
    default: Expr | None = None
    attributes: tuple[Attribute, ...] = ()
    type: Type | None = None


@dataclass(frozen=True, slots=True)
class State(Node):
    """``reset state x = e``."""

    name: Name
    init: Expr | None = None
    is_reset: bool = False
    attributes: tuple[Attribute, ...] = ()
    type: Type | None = None


@dataclass(frozen=True, slots=True)
class MethodParam(Node):
    """A parameter of a method."""

    name: Name
    type: Type | None = None


@dataclass(frozen=True, slots=True)
class Method(Node):
    """``method f(a, b) {= =}``."""

    name: Name
    params: tuple[MethodParam, ...]
    code: Code
    is_const: bool = False
    type: Type | None = None


@dataclass(frozen=True, slots=True)
class Port(Node):
    """``mutable input[n] x`` or ``output y``."""

    direction: Literal["input", "output"]
    name: Name
    width: Width | None = None
    is_mutable: bool = False
    attributes: tuple[Attribute, ...] = ()
    type: Type | None = None


@dataclass(frozen=True, slots=True)
class Timer(Node):
    """``timer t(offset, period)``."""

    name: Name
    offset: Expr | None = None
    period: Expr | None = None
    attributes: tuple[Attribute, ...] = ()


@dataclass(frozen=True, slots=True)
class Action(Node):
    """``logical action a(min_delay, min_spacing, "policy")``."""

    name: Name
    origin: Literal["logical", "physical"] | None = None
    min_delay: Expr | None = None
    min_spacing: Expr | None = None
    policy: String | None = None
    attributes: tuple[Attribute, ...] = ()
    type: Type | None = None


@dataclass(frozen=True, slots=True)
class Watchdog(Node):
    """``watchdog w(timeout) -> a {= =}``."""

    name: Name
    timeout: Expr
    effects: tuple[Effect, ...]
    code: Code
    attributes: tuple[Attribute, ...] = ()


@dataclass(frozen=True, slots=True)
class Host(Node):
    """``at user@host:port``, as written without the ``at``."""

    text: str


@dataclass(frozen=True, slots=True)
class Argument(Node):
    """``p = e`` in an instantiation."""

    name: Name
    value: Expr


@dataclass(frozen=True, slots=True)
class Instance(Node):
    """``c = new[n] Class(p = e) at host``."""

    name: Name
    class_name: Name
    args: tuple[Argument, ...] = ()
    width: Width | None = None
    generics: tuple[Type, ...] = ()
    host: Host | None = None
    attributes: tuple[Attribute, ...] = ()


@dataclass(frozen=True, slots=True)
class Connection(Node):
    """``(a.x, b.x)+ -> c.y after 1 ms serializer "proto"``.

    Attributes:
        broadcast: Whether the left side is ``( )+``. Parentheses without ``+`` have no
            meaning and are not represented.
    """

    left: tuple[Ref, ...]
    right: tuple[Ref, ...]
    is_physical: bool = False
    broadcast: bool = False
    after: Expr | None = None
    serializer: String | None = None
    attributes: tuple[Attribute, ...] = ()


@dataclass(frozen=True, slots=True)
class Deadline(Node):
    """``deadline(d) {= =}``; the handler may be missing."""

    delay: Expr
    code: Code | None = None


@dataclass(frozen=True, slots=True)
class Tardy(Node):
    """``tardy {= =}``, or the old forms ``STAA(d) {= =}`` and ``STP(d) {= =}``."""

    keyword: Literal["tardy", "STAA", "STP"]
    offset: Expr | None = None
    code: Code | None = None


@dataclass(frozen=True, slots=True)
class Reaction(Node):
    """``reaction name(triggers) sources -> effects {= =}``, and its further clauses.

    Attributes:
        triggers: None without a list in parentheses (an old form).
        code: None without a body, which is an error in the Python target.
    """

    triggers: tuple[Trigger, ...] | None
    sources: tuple[Ref, ...] = ()
    effects: tuple[Effect, ...] = ()
    code: Code | None = None
    name: Name | None = None
    keyword: Literal["reaction", "mutation"] = "reaction"
    tardy: Tardy | None = None
    deadline: Deadline | None = None
    attributes: tuple[Attribute, ...] = ()


@dataclass(frozen=True, slots=True)
class Mode(Node):
    """``initial mode M { ... }``."""

    name: Name | None
    members: tuple[Member, ...]
    is_initial: bool = False
    attributes: tuple[Attribute, ...] = ()


Member: TypeAlias = (
    "Preamble | State | Method | Port | Timer | Action | Watchdog | Instance "
    "| Connection | Reaction | Mode"
)


@dataclass(frozen=True, slots=True)
class Reactor(Node):
    """A reactor class.

    Attributes:
        params: Empty for ``()`` and without parentheses, which are equivalent.
    """

    name: Name | None
    members: tuple[Member, ...] = ()
    kind: Literal["", "main", "federated"] = ""
    is_realtime: bool = False
    params: tuple[Param, ...] = ()
    bases: tuple[Name, ...] = ()
    generics: tuple[Name, ...] = ()
    host: Host | None = None
    attributes: tuple[Attribute, ...] = ()


# -- a file -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Comment(Node):
    """A comment with its delimiters: ``//``, ``#``, ``/* */`` or ``''' '''``."""

    text: str


@dataclass(frozen=True, slots=True)
class File(Node):
    """A ``.lf`` file."""

    target: Target | None = None
    imports: tuple[Import, ...] = ()
    preambles: tuple[Preamble, ...] = ()
    reactors: tuple[Reactor, ...] = ()
    comments: tuple[Comment, ...] = field(default=(), compare=False)
