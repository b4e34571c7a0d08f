# SPDX-License-Identifier: Apache-2.0
"""Hypothesis strategies for syntax trees: all nodes of ``syntax.py``."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from hypothesis import strategies as st

from reactorl.lf.parse import syntax
from tests.lf.texts import (
    CHARS,
    CODES,
    HOSTS,
    NAMES,
    NUMBERS,
    PACKAGES,
    PATHS,
    PROPERTY_KEYS,
    STRINGS,
    TIME_UNITS,
    TYPES,
)

# -- names and expressions ----------------------------------------------------------

names = st.builds(syntax.Name, NAMES)
declared = st.builds(syntax.Name, st.one_of(NAMES, TIME_UNITS))
strings = st.builds(syntax.String, STRINGS)
numbers = st.builds(syntax.Number, NUMBERS)
times = st.one_of(
    st.builds(syntax.Time, st.integers(0, 2**40), TIME_UNITS),
    st.builds(syntax.Time, st.none(), st.sampled_from(["forever", "never"])),
)
codes = st.builds(syntax.Code, CODES)
literals = st.one_of(
    strings,
    st.builds(syntax.Char, CHARS),
    numbers,
    st.builds(syntax.Bool, st.booleans()),
    times,
)
_leaves = st.one_of(literals, st.builds(syntax.ParamRef, NAMES), codes)


def tuples(
    elements: st.SearchStrategy[syntax.Node], least: int = 0, most: int = 3
) -> st.SearchStrategy[tuple[syntax.Node, ...]]:
    """Return a strategy for a few nodes of a kind."""
    return st.lists(elements, min_size=least, max_size=most).map(tuple)


exprs = st.recursive(
    _leaves, lambda inner: st.builds(syntax.List, tuples(inner)), max_leaves=6
)
types = st.none() | st.builds(syntax.Type, TYPES)
attribute_args = st.builds(syntax.AttributeArg, st.none() | names, exprs)
attributes = tuples(
    st.builds(syntax.Attribute, names, st.none() | tuples(attribute_args)), most=2
)

# -- target, imports, preambles -----------------------------------------------------

items = st.recursive(
    st.one_of(literals, st.builds(syntax.Path, PATHS)),
    lambda inner: st.one_of(
        st.builds(syntax.ItemList, tuples(inner)),
        st.builds(syntax.Dict, tuples(st.builds(syntax.Entry, PROPERTY_KEYS, inner))),
    ),
    max_leaves=6,
)
dicts = st.builds(
    syntax.Dict, tuples(st.builds(syntax.Entry, PROPERTY_KEYS, items), most=4)
)
targets = st.builds(
    syntax.Target, st.builds(syntax.Name, st.just("Python")), st.none() | dicts
)
imports = st.builds(
    syntax.Import,
    tuples(st.builds(syntax.ImportedName, names, st.none() | names), least=1),
    strings | st.builds(syntax.Package, PACKAGES),
)
preambles = st.builds(
    syntax.Preamble, codes, st.sampled_from([None, "private", "public"])
)

# -- members of a reactor -----------------------------------------------------------

widths = st.none() | st.builds(
    syntax.Width, st.lists(st.integers(0, 99) | names | codes, max_size=3).map(tuple)
)
refs = st.one_of(
    st.builds(syntax.Ref, names, st.none() | names, alias=st.none() | names),
    st.builds(
        syntax.Ref, names, st.none() | names, interleaved=st.sampled_from([True])
    ),
)
triggers = refs | st.builds(
    syntax.Builtin, st.sampled_from(["startup", "shutdown", "reset"])
)
effects = refs | st.builds(
    syntax.ModeChange, st.sampled_from(["reset", "history"]), names
)
params = st.builds(syntax.Param, declared, st.none() | exprs, attributes, types)
states = st.builds(
    syntax.State, declared, st.none() | exprs, st.booleans(), attributes, types
)
methods = st.builds(
    syntax.Method,
    names,
    tuples(st.builds(syntax.MethodParam, names, types)),
    codes,
    st.booleans(),
    types,
)
inputs = st.builds(
    syntax.Port, st.just("input"), declared, widths, st.booleans(), attributes, types
)
outputs = st.builds(
    syntax.Port, st.just("output"), declared, widths, attributes=attributes, type=types
)
timers = st.one_of(
    st.builds(syntax.Timer, names, attributes=attributes),
    st.builds(syntax.Timer, names, exprs, st.none() | exprs, attributes),
)
_origins = st.sampled_from([None, "logical", "physical"])
_actions = st.one_of(
    st.builds(syntax.Action, names, _origins, st.none() | exprs),
    st.builds(syntax.Action, names, _origins, exprs, exprs, st.none() | strings),
)
actions = st.builds(
    lambda action, attributes, type_: replace(
        action, attributes=attributes, type=type_
    ),
    _actions,
    attributes,
    types,
)
watchdogs = st.builds(syntax.Watchdog, names, exprs, tuples(effects), codes, attributes)
hosts = st.none() | st.builds(syntax.Host, HOSTS)
instances = st.builds(
    syntax.Instance,
    declared,
    names,
    tuples(st.builds(syntax.Argument, declared, exprs)),
    widths,
    tuples(st.builds(syntax.Type, TYPES), most=2),
    hosts,
    attributes,
)
connections = st.builds(
    syntax.Connection,
    tuples(refs, least=1),
    tuples(refs, least=1),
    st.booleans(),
    st.booleans(),
    st.none() | exprs,
    st.none() | strings,
    attributes,
)
tardies = st.one_of(
    st.builds(syntax.Tardy, st.just("tardy"), st.none(), st.none() | codes),
    st.builds(syntax.Tardy, st.sampled_from(["STAA", "STP"]), exprs, st.none() | codes),
)
_handled = {
    "code": st.none() | codes,
    "name": st.none() | names,
    "keyword": st.sampled_from(["reaction", "mutation"]),
    "tardy": st.none() | tardies,
    "deadline": st.none() | st.builds(syntax.Deadline, exprs, st.none() | codes),
    "attributes": attributes,
}
reactions = st.one_of(
    st.builds(
        syntax.Reaction, tuples(triggers), tuples(refs), tuples(effects), **_handled
    ),
    # Without a list of triggers a source would be parsed as the name.
    st.builds(syntax.Reaction, st.none(), effects=tuples(effects), **_handled),
)


def _members(
    member: st.SearchStrategy[syntax.Member],
) -> st.SearchStrategy[tuple[syntax.Member, ...]]:
    return st.lists(member, max_size=4).map(_unambiguous)


def _unambiguous(members: list[syntax.Member]) -> tuple[syntax.Member, ...]:
    """Return members in which no reaction is parsed with the connection after it."""
    for n, (one, other) in enumerate(pairwise(members)):
        if isinstance(one, syntax.Reaction) and isinstance(other, syntax.Connection):
            members[n] = replace(one, code=one.code or syntax.Code(""))
    return tuple(members)


members = st.one_of(
    preambles,
    states,
    methods,
    inputs,
    outputs,
    timers,
    actions,
    watchdogs,
    instances,
    connections,
    reactions,
)
modes = st.builds(
    syntax.Mode, st.none() | names, _members(members), st.booleans(), attributes
)
reactors = st.builds(
    syntax.Reactor,
    names,
    _members(members | modes),
    st.sampled_from(["", "main", "federated"]),
    st.booleans(),
    tuples(params),
    tuples(names, most=2),
    tuples(names, most=2),
    hosts,
    attributes,
) | st.builds(
    syntax.Reactor,
    st.none(),
    _members(members | modes),
    st.sampled_from(["main", "federated"]),
)

files = st.builds(
    syntax.File,
    st.none() | targets,
    tuples(imports, most=2),
    tuples(preambles, most=2),
    tuples(reactors, most=2),
)
"""Files without comments."""
