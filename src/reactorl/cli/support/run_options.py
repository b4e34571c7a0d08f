# SPDX-License-Identifier: Apache-2.0
"""The options of ``reactorl run``: those of LF's runtime, and our own."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

LEVELS = ("error", "warn", "info", "log", "debug")
_TRUTH = {"true": True, "false": False, "1": True, "0": False}
_SWITCHES = {"-f": "--fast", "-k": "--keepalive"}
_TIMES = {"-o": "--timeout", "-m": "--start-time-multiple"}
_LONGEST = 2**63 - 1


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options and the file."""
    parser.add_argument("file", type=Path, metavar="FILE.lf", help="the program")
    lf = parser.add_argument_group("options of the LF runtime")
    switch: Any = {"nargs": "?", "const": True, "type": _truth, "metavar": "true|false"}
    time: Any = {"type": _time, "metavar": "'N UNIT'"}
    lf.add_argument("-f", "--fast", help="do not wait for physical time", **switch)
    lf.add_argument(
        "-o", "--timeout", help="logical time at which the run ends, e.g. 5 s", **time
    )
    lf.add_argument(
        "-k", "--keepalive", help="keep running when the event queue is empty", **switch
    )
    lf.add_argument(
        "-w",
        "--workers",
        type=_count,
        metavar="N",
        help="number of threads; 0: one per core (default: 0)",
    )
    lf.add_argument(
        "-m",
        "--start-time-multiple",
        help="round the start time up to a multiple of this",
        **time,
    )
    lf.add_argument("-i", "--id", metavar="ID", help="identifier of the federation")
    lf.add_argument("-r", "--rti", metavar="HOST:PORT", help="accepted and ignored")
    lf.add_argument(
        "-l",
        "--logging",
        type=str.lower,
        choices=LEVELS,
        help="least severity that is printed to stderr (default: warn)",
    )
    ours = parser.add_argument_group("further options")
    ours.add_argument(
        "--seed", type=int, metavar="N", help="seed of all random numbers (default: 0)"
    )
    ours.add_argument(
        "--trace",
        type=_new_file,
        metavar="FILE",
        help="write a trace of all events to a file, for 'reactorl diff' and 'reactorl "
        "trace'; after an exception it ends there",
    )
    ours.add_argument(
        "--timing",
        type=_new_file,
        metavar="FILE",
        help="write execution times of reactions to a file, for 'reactorl trace'; with "
        "the file of --trace, that file has both",
    )
    ours.add_argument(
        "--dashboard",
        action="store_true",
        help="serve a live page of the run on localhost; its link is printed to stderr",
    )
    ours.add_argument(
        "--federated",
        action="store_true",
        help="run each federate of a federated program as a process of this machine",
    )
    ours.add_argument(
        "--listen",
        metavar="HOST:PORT",
        help="with --federated: wait there for 'reactorl federate' on other machines, "
        "instead of starting processes; needs --token-file",
    )
    ours.add_argument(
        "--token-file",
        type=Path,
        metavar="FILE",
        help="the secret of the run, which the federates need; written if it does not "
        "exist, and then removed at the end",
    )
    ours.add_argument(
        "--no-encryption",
        action="store_true",
        help="do not encrypt what federates of --listen or --nodes send; for trusted "
        "networks",
    )
    ours.add_argument(
        "--nodes",
        choices=["ray"],
        help="with --federated: run the federates on the nodes of a Ray cluster; 'at' "
        "names nodes",
    )
    ours.add_argument(
        "--ray-address",
        metavar="ADDRESS",
        help="with --nodes ray: the cluster (default: RAY_ADDRESS, or that of this "
        "machine; if there is none, a local one is started)",
    )
    ours.add_argument(
        "--cpus-per-federate",
        type=float,
        metavar="N",
        help="with --nodes ray: CPUs that Ray reserves for each federate (default: 1)",
    )
    ours.add_argument(
        "--python",
        metavar="FILE",
        help="with --nodes ray: the interpreter of the federates, with reactorl "
        "installed (default: that of Ray)",
    )
    ours.add_argument(
        "--mixed",
        action="store_true",
        help="with --nodes ray: accept nodes that compute other bits than this machine",
    )
    ours.add_argument(
        "--restarts",
        type=_count,
        default=0,
        metavar="N",
        help="with --federated: how often a federate begins again whose process is "
        "gone; the result is the same (default: 0)",
    )
    ours.add_argument(
        "--check",
        action="store_true",
        help="detect values that are modified after they were sent (slow)",
    )


def normalised(args: Sequence[str]) -> list[str]:
    """Return the arguments with each option and its value joined by ``=``.

    LF writes a time as two words, ``--timeout 5 s``, and a switch with or without a
    value. Joined, the word that follows, such as the file, is not taken for a value.
    """
    found: list[str] = []
    waiting = list(reversed(args))
    while waiting:
        arg = waiting.pop()
        if arg == "--":
            return [*found, arg, *reversed(waiting)]
        following = waiting[-1] if waiting else ""
        if arg in _SWITCHES or arg in _SWITCHES.values():
            value = waiting.pop() if following.lower() in _TRUTH else "true"
            found.append(f"{_SWITCHES.get(arg, arg)}={value}")
        elif (arg in _TIMES or arg in _TIMES.values()) and following:
            words = [waiting.pop()]
            if waiting and _is_unit(waiting[-1], of=following):
                words.append(waiting.pop())
            found.append(f"{_TIMES.get(arg, arg)}={' '.join(words)}")
        else:
            found.append(arg)
    return found


def _is_unit(word: str, *, of: str) -> bool:
    from reactorl.lf import TIME_UNITS

    # After a number that needs a unit, a word is taken for one, to report it.
    return of.isdecimal() and (
        word in TIME_UNITS or (word.isalpha() and of.strip("0") != "")
    )


# -- types of values --


def _truth(text: str) -> bool:
    try:
        return _TRUTH[text.lower()]
    except KeyError:
        msg = f"must be true or false, got '{text}'"
        raise argparse.ArgumentTypeError(msg) from None


def _count(text: str) -> int:
    from reactorl import MAX_WORKERS

    if not _is_number(text) or int(text) > MAX_WORKERS:
        msg = f"must be an integer from 0 to {MAX_WORKERS}, got '{text}'"
        raise argparse.ArgumentTypeError(msg)
    return int(text)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= 20


def _new_file(text: str) -> Path:
    path = Path(text)
    if path.is_dir():
        msg = f"must be a file, got the directory '{text}'"
        raise argparse.ArgumentTypeError(msg)
    if not path.parent.is_dir():
        msg = f"directory '{path.parent}' does not exist"
        raise argparse.ArgumentTypeError(msg)
    return path


def _time(text: str) -> int:
    from reactorl._util.suggestions import did_you_mean
    from reactorl.lf import TIME_UNITS

    written = text.strip()
    digits = written[: len(written) - len(written.lstrip("0123456789"))]
    unit = written[len(digits) :].strip()
    advice = "Write for example: 5 s"
    if _is_number(digits):
        nanoseconds = int(digits) * TIME_UNITS.get(unit, 1)
        if unit in TIME_UNITS or (unit == "" and nanoseconds == 0):
            if nanoseconds <= _LONGEST:
                return nanoseconds
            advice = "The longest is 2^63 - 1 nanoseconds, 292 years."
        elif unit:
            advice = did_you_mean(unit, TIME_UNITS) or advice
    msg = f"must be a time, got '{text}'. {advice}"
    raise argparse.ArgumentTypeError(msg)
