# SPDX-License-Identifier: Apache-2.0
"""Flags made from configuration dataclasses, parsed by cyclopts.

Every field of the dataclasses becomes a flag: its name with hyphens, its type, its
default value, and as help the docstring below the field. A table of groups sorts the
flags in the help. Only ``train`` has such flags; cyclopts is imported when they are
needed, because most commands run without it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from inspect import Parameter as Formal
from inspect import Signature
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

from reactorl._util.dataclass_fields import field_docs, field_types
from reactorl._util.key_values import EXAMPLE, parse_key_values
from reactorl.cli.support.parser import suggest_option
from reactorl.errors import ReactorlError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from cyclopts import App, CycloptsError, Group, Token
    from rich.console import Console


class FlagError(ReactorlError):
    """A flag that does not exist or a value that it does not accept."""

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(what, remedy=remedy)
        self.args = (what, remedy)


@dataclass(frozen=True)
class Flags:
    """The flags of one command.

    Attributes:
        prog: The command, as it is shown in the usage line.
        description: What the command does.
        defaults: Instances of dataclasses. Their values are the flags' defaults.
        groups: Titles of groups in the help, and the fields in each.
        other: Title of the group of all other fields, which comes first.
    """

    prog: str
    description: str
    defaults: Sequence[Any]
    groups: Mapping[str, Sequence[str]] = field(default_factory=dict)
    other: str = "options"

    def parse(self, args: Sequence[str]) -> list[Any]:
        """Return the instances with the values that the arguments give.

        Raises:
            FlagError: An argument is wrong.
            SystemExit: The arguments ask for help, which was printed (status 0).
        """
        given = self.given(args)
        return [
            replace(one, **{k: given[k] for k in _names(one) if k in given})
            for one in self.defaults
        ]

    def given(self, args: Sequence[str]) -> Mapping[str, Any]:
        """Return the values that the arguments give, by field.

        Raises:
            FlagError: An argument is wrong.
            SystemExit: The arguments ask for help, which was printed (status 0).
        """
        from cyclopts import CycloptsError

        app = self._app()
        try:
            call, bound, _ = app.parse_args(
                list(args), print_error=False, exit_on_error=False
            )
        except CycloptsError as error:
            raise self._explained(error) from None
        if call is not app.default_command:  # the help
            call(*bound.args, **bound.kwargs)
            sys.stdout.flush()
            raise SystemExit(0)
        found: Mapping[str, Any] = bound.arguments
        return found

    def add_to(self, parser: argparse.ArgumentParser) -> None:
        """Add the flags to a parser, for shell completion."""
        for argument in self._app().assemble_argument_collection():
            kind: dict[str, Any] = {"choices": argument.get_choices() or None}
            if argument.hint is bool:
                kind = {"action": "store_true"}
            parser.add_argument(
                *argument.names,
                dest=argument.field_info.name,
                help=(argument.parameter.help or "").replace("%", "%%"),
                **kind,
            )

    def _app(self) -> App:
        from cyclopts import App, Group

        def command(**_: object) -> None:
            """Stand for the command, whose parameters are the flags."""

        order = [self.other, *self.groups]
        groups = {title: Group(title, sort_key=k) for k, title in enumerate(order)}
        parameters = list(self._parameters(groups))
        command.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
        command.__annotations__ = {p.name: p.annotation for p in parameters}
        app = App(
            name=self.prog,
            usage=f"{self.prog} [FLAGS]",
            help=self.description,
            help_format="plaintext",
            console=_console(),
            group_commands=Group("help", sort_key=len(order)),
            version_flags=(),
        )
        app.default(command)
        return app

    def _parameters(self, groups: Mapping[str, Group]) -> Iterator[Formal]:
        from cyclopts import Parameter

        titles = {name: title for title, names in self.groups.items() for name in names}
        for one in self.defaults:
            hints, helps = field_types(type(one)), field_docs(type(one))
            flags = {each.name: each.metadata.get("flag") for each in fields(one)}
            for name in _names(one):
                hint = _flag_type(hints[name])
                how = Parameter(
                    name=f"--{flags[name]}" if flags[name] else None,
                    help=helps.get(name, ""),
                    group=groups[titles.get(name, self.other)],
                    converter=_converter(hints[name]),
                    allow_repeating=True,  # the last one counts, as everywhere else
                    # A flag with a name of its own is repeated for several values.
                    consume_multiple=get_origin(hint) is tuple and not flags[name],
                    negative=None if bool in (hint, *get_args(hint)) else (),
                    show_default=_shown if _is_shown(getattr(one, name)) else False,
                )
                yield Formal(
                    name,
                    Formal.KEYWORD_ONLY,
                    default=getattr(one, name),
                    annotation=Annotated[hint, how, _NotByPydantic()],
                )

    def _explained(self, error: CycloptsError) -> FlagError:
        """Return the error in the words of the other commands."""
        from cyclopts import (
            CoercionError,
            MissingArgumentError,
            UnknownOptionError,
            UnusedCliTokensError,
        )

        help = f"'{self.prog} --help' explains all flags."
        token = getattr(error, "token", None)
        if isinstance(error, UnknownOptionError):
            name = error.token.keyword or error.token.value
            known = [n for a in error.argument_collection for n in a.names]
            return FlagError(
                f"unknown option '{name}'", suggest_option(name, known) or help
            )
        if isinstance(error, CoercionError) and token is not None and token.keyword:
            kind = _kind(error.target_type)
            what = f"{token.keyword} must be {kind}, got '{token.value}'"
            return FlagError(what, help)
        if isinstance(error, UnusedCliTokensError) and error.unused_tokens:
            return FlagError(f"unexpected argument '{error.unused_tokens[0]}'", help)
        if isinstance(error, MissingArgumentError) and error.argument is not None:
            name = error.keyword or error.argument.name
            return FlagError(f"{name} must have a value", help)
        return FlagError(str(error).removesuffix("."), help)


class _NotByPydantic:
    """A mark: if Pydantic was imported, cyclopts validates with it, and must not here.

    What a flag accepts must not depend on the imports of an environment. Also, a value
    may be of another type than its texts: a mapping, or a function that has a name.
    """

    def __get_pydantic_core_schema__(self, _: object, __: object) -> dict[str, str]:
        return {"type": "any"}


def _console() -> Console:
    """Return a console for the help, wide enough for a flag and a few words."""
    from rich.console import Console

    console = Console()
    return console if console.width >= 60 else Console(width=60)


def _names(instance: Any) -> list[str]:  # noqa: ANN401
    return [one.name for one in fields(instance) if one.init]


def _flag_type(hint: Any) -> Any:  # noqa: ANN401
    """Return the type of a flag's values: texts, for arguments and wrappers.

    What can be a function in Python is a name on the command line.
    """
    if any(get_origin(kind) is Callable for kind in get_args(hint)):
        return str
    return tuple[str, ...] if get_origin(hint) in (Mapping, Sequence) else hint


def _is_shown(value: object) -> bool:
    """Return whether a default value tells something."""
    return value is not None and value not in ((), {})


def _converter(hint: Any) -> Callable[..., Any] | None:  # noqa: ANN401
    """Return a conversion of key=value texts, or a strict one to int.

    cyclopts alone would round ``1.5``.
    """
    if get_origin(hint) is Mapping:
        return _key_values
    if int not in (hint, *get_args(hint)):
        return None
    from cyclopts import CoercionError, convert

    def converted(kind: Any, tokens: Sequence[Token]) -> Any:  # noqa: ANN401
        if type(None) in get_args(hint) and tokens[0].value == "None":
            return None
        for token in tokens:
            try:
                int(token.value)
            except ValueError:
                raise CoercionError(token=token, target_type=int) from None
        return convert(kind, tokens)

    return converted


def _key_values(_: Any, tokens: Sequence[Token]) -> dict[str, Any]:  # noqa: ANN401
    found: dict[str, Any] = {}
    for token in tokens:
        try:
            found |= parse_key_values([token.value])
        except ValueError as error:
            what = f"{token.keyword} {error}"
            raise FlagError(what, f"{EXAMPLE}.") from None
    return found


def _shown(value: object) -> str:
    """Return a default value as it is written on the command line."""
    if isinstance(value, Mapping):
        return " ".join(f"{key}={part!r}" for key, part in value.items())
    if isinstance(value, tuple):
        return " ".join(map(str, value))
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)


def _kind(kind: Any) -> str:  # noqa: ANN401
    """Return the name of a type of values, with its article."""
    if choices := get_args(kind):
        return "one of " + ", ".join(map(str, choices))
    return {int: "an integer", float: "a number", bool: "true or false"}.get(
        kind, f"a {getattr(kind, '__name__', kind)}"
    )
