# SPDX-License-Identifier: Apache-2.0
"""Mistakes as data: what is wrong, where, and the remedy.

Every stage (declarations, elaboration, the LF front end, a run, the command line)
produces ``Diagnostic`` values; every ``ReactorlError`` carries one. Text is made of
them in two places only: ``str()`` for exceptions and ``render()`` for reports.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reactorl.position import Position

__all__ = ["Diagnostic", "Severity"]


class Severity(StrEnum):
    """How severe a diagnostic is."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One mistake, or something legal that is probably not intended.

    Attributes:
        what: The fact, in lower case, without a full stop.
        where: The source position it is about, if there is one.
        remedy: What to do about it; sentences. May be empty.
        severity: Whether it keeps the program from running.
        code: Kind of mistake, for programs, e.g. ``unknown-name``. May be empty.
        related: Other positions that belong to it, e.g. the reactions of a causality
            loop, in order.
        fields: The names and values that the text mentions.
    """

    what: str
    where: Position | None = None
    remedy: str = ""
    severity: Severity = Severity.ERROR
    code: str = ""
    related: tuple[Diagnostic, ...] = ()
    fields: Mapping[str, object] = field(default_factory=dict, compare=False)

    def __str__(self) -> str:
        """Return one paragraph: position, fact, related positions, remedy."""
        text = self.what if self.where is None else f"{self.where}: {self.what}"
        if self.related:
            text = "\n".join([f"{text}:", *(f"  {each}" for each in self.related)])
        if not self.remedy:
            return text
        is_list = bool(self.related) or "\n" in self.what
        return f"{text}\n{self.remedy}" if is_list else f"{text}. {self.remedy}"

    def render(self) -> str:
        """Return it as compilers print it, with the source line if that is known.

        Example::

        hello.lf:4:12: error: reactor Hello has no port 'sensr'
          4 |   reaction(sensr) {= print("hi") =}
            |            ^^^^^
          help: Did you mean 'sensor'?
        """
        return "".join(text for text, _ in self.parts())

    def parts(self) -> Iterator[tuple[str, str]]:
        """Yield the text of ``render`` in parts, each with its role.

        Roles are ``where``, the severity, ``what``, ``source``, ``caret``, ``help``,
        and empty for everything else. A terminal can give them styles.
        """
        if self.where is not None:
            yield f"{self.where.with_column}: ", "where"
        yield f"{self.severity}:", self.severity
        yield " ", ""
        yield f"{self.what}:" if self.related else self.what, "what"
        yield from ((f"\n    {each}", "") for each in self.related)
        excerpt = () if self.where is None else self.where.excerpt()
        for line, role in zip(excerpt, ("source", "caret"), strict=bool(excerpt)):
            yield f"\n{line}", role
        if self.remedy:
            yield "\n  ", ""
            yield "help:", "help"
            yield f" {self.remedy}", ""
