# SPDX-License-Identifier: Apache-2.0
"""The parser of all commands: argparse, with mistakes said as everything else is."""

from __future__ import annotations

import argparse
import sys
from typing import Any, NoReturn

from reactorl._util.suggestions import did_you_mean
from reactorl.cli.support.console import say


class Parser(argparse.ArgumentParser):
    """Says mistakes in colours on a terminal, and what was probably meant."""

    def __init__(self, **options: Any) -> None:  # noqa: ANN401
        # What is short for an option today may be short for two tomorrow.
        options.setdefault("allow_abbrev", False)
        if sys.version_info >= (3, 14):
            options.setdefault("color", False)  # the same help on every Python
        super().__init__(**options)

    def error(self, message: str) -> NoReturn:
        """End with status 2."""
        self.fail(message)

    def fail(self, what: str, help: str = "") -> NoReturn:
        """Say how the command is used, and what is wrong; end with status 2."""
        advice = f"  help: {help}\n" if help else ""
        say(f"{self._short_usage()}{self.prog}: error: {what}\n{advice}")
        self.exit(2)

    def _short_usage(self) -> str:
        """Return how the command is used, without its many options."""
        if self.usage is not None:
            return self.format_usage()
        formatter = self._get_formatter()
        positional = [a for a in self._actions if not a.option_strings]
        formatter.add_usage(None, positional, [])
        usage = formatter.format_help()
        return usage.replace(self.prog, f"{self.prog} [options]", 1)

    def refuse(self, unknown: list[str]) -> NoReturn:
        """End because of arguments that mean nothing here."""
        first = unknown[0]
        if not first.startswith("-"):
            self.fail(f"there is an argument too many: '{first}'")
        name = first.partition("=")[0]
        close = did_you_mean(name, (o for o in self.options() if len(o) > 2))
        help = close or f"'{self.prog} --help' lists the options."
        self.fail(f"there is no option '{name}'", help)

    def options(self) -> list[str]:
        """Return all options there are, as they are written."""
        return [o for action in self._actions for o in action.option_strings]
