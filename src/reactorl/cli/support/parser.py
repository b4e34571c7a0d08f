# SPDX-License-Identifier: Apache-2.0
"""The parser of all commands: argparse with suggestions and our form of errors."""

from __future__ import annotations

import argparse
import sys
from typing import Any, NoReturn

from reactorl._util.suggestions import closest


class Parser(argparse.ArgumentParser):
    """Prints a short usage line and suggests what was probably meant."""

    unknown_option_help = ""
    """The remedy for an unknown option that resembles no known one."""

    def __init__(self, **options: Any) -> None:  # noqa: ANN401
        # An abbreviation that is unique today may be ambiguous tomorrow.
        options.setdefault("allow_abbrev", False)
        options.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        if sys.version_info >= (3, 14):
            options.setdefault("color", False)  # the same help on every Python
        super().__init__(**options)

    def _print_message(self, message: str, file: Any = None) -> None:  # noqa: ANN401
        """Print the help; argparse would ignore that the output is full or broken."""
        if message and file is sys.stdout:
            file.write(message)
        else:
            super()._print_message(message, file)

    def error(self, message: str) -> NoReturn:
        """Print an error of argparse, and exit with status 2."""
        self.fail(message)

    def fail(self, what: str, help: str = "") -> NoReturn:
        """Print the usage and an error, and exit with status 2."""
        from reactorl.cli.support.console import say
        from reactorl.cli.support.errors import fail

        say(self._short_usage())
        self.exit(fail(what, help=help, prog=self.prog))

    def refuse(self, unknown: list[str]) -> NoReturn:
        """Exit because of arguments that the command does not have."""
        first = unknown[0]
        if not first.startswith("-"):
            self.fail(f"unexpected argument '{first}'")
        name = first.partition("=")[0]
        known = [o for action in self._actions for o in action.option_strings]
        lists = f"'{self.prog} --help' lists the options."
        otherwise = self.unknown_option_help or lists
        self.fail(f"unknown option '{name}'", suggest_option(name, known) or otherwise)

    def _short_usage(self) -> str:
        """Return the usage line with ``[options]`` in place of each option."""
        if self.usage is not None:
            return self.format_usage()
        short = Parser(prog=f"{self.prog} [options]", add_help=False)
        for action in self._actions:
            if not action.option_strings:
                short._add_action(action)
        return short.format_usage()


def suggest_option(option: str, known: list[str]) -> str:
    """Return ``Did you mean '--x'?``; empty if no known long option is similar."""
    words = {name.lstrip("-"): name for name in known if name.startswith("--")}
    found = closest(option.lstrip("-"), words)
    return f"Did you mean '{words[found]}'?" if found else ""
