# SPDX-License-Identifier: Apache-2.0
"""Rules for attributes: all known attributes and their arguments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from reactorl.lf.diagnostics import nearest
from reactorl.lf.link.imports import string_value
from reactorl.lf.link.rules.expressions import check_literal
from reactorl.lf.parse import syntax

if TYPE_CHECKING:
    from reactorl.lf.link.rules.context import Context

_WORDS: Final = {
    "string": 'a string such as "x"',
    "time": "a time such as 10 ms",
    "count": "an integer of at least 0",
    "truth": "true or false",
    "word": "a word or string",
    "any": "a value",
}


@dataclass(frozen=True)
class _Spec:
    """Arguments of an attribute, name and kind; the last ``optional`` may be absent."""

    args: tuple[tuple[str, str], ...] = ()
    optional: int = 0
    choices: tuple[str, ...] = ()


_TEXT = _Spec((("value", "string"),))
_TIME = _Spec((("value", "time"),))
_FLAG = _Spec((("value", "truth"),), optional=1)
_WORD = _Spec((("value", "word"),))

_LEVELS = ("error", "warn", "info", "log", "debug")

SPECS: Final[dict[str, _Spec]] = {
    # Appearance in diagrams.
    "label": _TEXT,
    "icon": _TEXT,
    "side": _Spec((("value", "string"),), choices=("north", "south", "east", "west")),
    "layout": _Spec((("option", "string"), ("value", "string"))),
    # Coordination of federates.
    "maxwait": _TIME,
    "absent_after": _TIME,
    "transient": _Spec(),
    "enclave": _Spec((("workers", "count"), ("each", "truth")), optional=2),
    # Other.
    "sparse": _Spec(),
    "property": _Spec((("name", "string"), ("value", "any"))),
    # Target properties as attributes of the main reactor.
    "timeout": _TIME,
    "fast": _FLAG,
    "keepalive": _FLAG,
    "logging": _Spec((("value", "word"),), choices=_LEVELS),
    "build_type": _WORD,
    "platform": _Spec((("value", "word"), ("options", "any")), optional=1),
    "clock_sync": _Spec((("value", "word"),), choices=("off", "init", "initial", "on")),
}
"""All attributes; those that LF generates begin with an underscore."""


def check(context: Context) -> None:
    """Report unknown attributes and wrong arguments."""
    reactor = context.unit.tree
    groups = [reactor.attributes, *(param.attributes for param in reactor.params)]
    for part in context.unit.own_parts():
        member = part.member
        if not isinstance(member, syntax.Preamble | syntax.Method):
            groups.append(member.attributes)
    for group in groups:
        for attribute in group:
            _check_attribute(context, attribute)


def _check_attribute(context: Context, attribute: syntax.Attribute) -> None:
    name = attribute.name.text
    spec = SPECS.get(name)
    if spec is not None:
        _check_arguments(context, attribute, spec)
    elif not name.startswith("_"):
        what = f"unknown attribute '@{name}'; it has no effect"
        context.warning(attribute, what, nearest(name, SPECS))


def _check_arguments(
    context: Context, attribute: syntax.Attribute, spec: _Spec
) -> None:
    args = attribute.args or ()
    expected = dict(spec.args)
    positions = list(expected)
    given: set[str] = set()
    for n, arg in enumerate(args):
        if arg.name is not None:
            name = arg.name.text
        else:
            name = positions[n] if n < len(positions) else ""
        if name not in expected:
            _report_argument(context, attribute, arg, positions)
            return
        if name in given:
            context.error(arg, f"'{name}' is given twice", "Remove one of the two.")
            return
        given.add(name)
        _check_argument(context, attribute, arg, expected[name], spec.choices)
    required = positions[: len(positions) - spec.optional]
    missing = [name for name in required if name not in given]
    if missing:
        kinds = " and ".join(_WORDS[expected[name]] for name in missing)
        what = f"attribute '@{attribute.name.text}' must have {kinds}"
        context.error(attribute, what, _example(attribute.name.text, spec))


def _report_argument(
    context: Context,
    attribute: syntax.Attribute,
    arg: syntax.AttributeArg,
    positions: list[str],
) -> None:
    name = attribute.name.text
    if not positions:
        context.error(
            arg, f"attribute '@{name}' takes no argument", f"Write '@{name}'."
        )
    elif arg.name is None:
        count = f"{len(positions)} argument{'s' if len(positions) > 1 else ''}"
        context.error(arg, f"attribute '@{name}' takes at most {count}", "Remove this.")
    else:
        what = f"attribute '@{name}' has no argument '{arg.name.text}'"
        context.error(arg.name, what, nearest(arg.name.text, positions))


def _check_argument(
    context: Context,
    attribute: syntax.Attribute,
    arg: syntax.AttributeArg,
    kind: str,
    choices: tuple[str, ...],
) -> None:
    value = arg.value
    if not _is_kind(value, kind):
        what = f"this argument of '@{attribute.name.text}' must be {_WORDS[kind]}"
        context.error(
            value, what, _example(attribute.name.text, SPECS[attribute.name.text])
        )
        return
    check_literal(context, value)
    text = _text(value)
    if choices and text is not None and text.casefold() not in choices:
        what = f"unknown value '{text}' of '@{attribute.name.text}'"
        context.error(value, what, nearest(text, choices))


def _is_kind(value: syntax.Expr, kind: str) -> bool:
    match kind:
        case "string":
            return isinstance(value, syntax.String | syntax.Char)
        case "time":
            if isinstance(value, syntax.Time):
                return value.unit != "never"
            return isinstance(value, syntax.Number) and value.text == "0"
        case "count":
            return isinstance(value, syntax.Number) and value.text.isdigit()
        case "truth":
            return isinstance(value, syntax.Bool)
        case "word":
            # 'on' and 'off' are parsed as names, true and false as booleans.
            return isinstance(value, syntax.String | syntax.ParamRef | syntax.Bool)
        case _:
            return True


def _text(value: syntax.Expr) -> str | None:
    if isinstance(value, syntax.String):
        return string_value(value)
    return value.name if isinstance(value, syntax.ParamRef) else None


def _example(name: str, spec: _Spec) -> str:
    samples = {"string": '"x"', "time": "10 ms", "count": "1", "truth": "true"}
    args = ", ".join(
        f'"{spec.choices[0]}"' if spec.choices else samples.get(kind, '"x"')
        for _, kind in spec.args
    )
    return f"Write for example '@{name}({args})'."
