# SPDX-License-Identifier: Apache-2.0
"""``reactorl completion``: print a script that enables completion in a shell."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from reactorl.cli.support.errors import fail

if TYPE_CHECKING:
    import argparse

DESCRIPTION = """\
Print a script that makes a shell complete commands, options, .lf files, runs,
algorithms and their flags when the tab key is pressed. Needs argcomplete.
"""
EPILOG = """\
examples:
  reactorl completion fish | source        in ~/.config/fish/config.fish
  eval "$(reactorl completion bash)"       in ~/.bashrc
  eval "$(reactorl completion zsh)"        in ~/.zshrc, after compinit

exit status: 0, or 2 if the shell is unknown or argcomplete is not installed.
"""
SHELLS = ("bash", "zsh", "fish")


def add_to(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the parser of this command."""
    parser = subparsers.add_parser(
        "completion",
        description=DESCRIPTION,
        epilog=EPILOG,
    )
    parser.add_argument("shell", choices=SHELLS, help="the shell")
    parser.set_defaults(command=command)


def command(args: argparse.Namespace) -> int:
    """Print the script; return the exit status."""
    if find_spec("argcomplete") is None:
        what = "'reactorl completion' requires argcomplete, which is not installed"
        return fail(what, help="Install it: pip install 'reactorl[cli]'")
    from argcomplete.shell_integration import shellcode

    print(shellcode(["reactorl"], use_defaults=False, shell=args.shell))
    return 0
