# SPDX-License-Identifier: Apache-2.0
"""``reactorl federate``: take part in a run that waits for processes to join."""

from __future__ import annotations

import argparse
from pathlib import Path

from reactorl import FederationError
from reactorl.cli.support.console import say
from reactorl.cli.support.errors import explained

DESCRIPTION = """\
Become a federate of a run that 'reactorl run --federated --listen' has started
on this or another machine. Start one such process for each federate, with ssh,
Slurm, Kubernetes or by hand; the program must be at the same path.
"""
EPILOG = """\
examples:
  reactorl federate --join node0:5000 --token-file ~/run.token
  srun reactorl federate --join $HEAD:5000 --token-file run.token

exit status: 0 if the run ended normally, 1 after an error here, 2 if the run
did not accept this process, 3 if another federate failed.
"""


def add_to(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the parser of this command."""
    parser = subparsers.add_parser(
        "federate",
        description=DESCRIPTION,
        epilog=EPILOG,
    )
    parser.add_argument(
        "--join", required=True, metavar="HOST:PORT", help="where the run listens"
    )
    parser.add_argument(
        "--token-file",
        required=True,
        type=Path,
        metavar="FILE",
        help="the secret of the run; if it does not exist yet, it is waited for",
    )
    parser.add_argument(
        "--name", default="", help="the federate to become (default: the run decides)"
    )
    parser.add_argument(
        "--host",
        default="",
        help="the name or number by which other federates reach this machine (default: "
        "its address towards the run)",
    )
    parser.add_argument(
        "--no-encryption",
        action="store_true",
        help="do not encrypt; as the run does",
    )
    parser.add_argument(
        "--patience",
        type=_seconds,
        default=60.0,
        metavar="SECONDS",
        help="how long the run may need to be there (default: 60)",
    )
    parser.set_defaults(command=command)


def command(args: argparse.Namespace) -> int:
    """Take part in the run; return the exit status."""
    from reactorl import join_federation

    try:
        return join_federation(
            args.join,
            args.token_file,
            name=args.name,
            host=args.host,
            encrypt=False if args.no_encryption else None,
            patience=args.patience,
        )
    except FederationError as error:
        say(*explained(error))
        return 2


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < 1e9:
        msg = f"must be a number of seconds, got '{text}'"
        raise argparse.ArgumentTypeError(msg)
    return seconds
