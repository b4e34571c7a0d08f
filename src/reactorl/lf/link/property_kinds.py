# SPDX-License-Identifier: Apache-2.0
"""All target properties and the kinds of their values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from reactorl.lf.link.imports import string_value
from reactorl.lf.parse import syntax

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Kind:
    """The kind of a property's value.

    Attributes:
        words: Its name in messages: "'timeout' must be ...".
        accepts: Returns whether a value is of this kind.
        keys: The keys of a table; None if it may have any.
    """

    words: str
    accepts: Callable[[syntax.Item], bool]
    keys: dict[str, Kind] | None = field(default=None)

    def __or__(self, other: Kind) -> Kind:
        """Return the union of two kinds."""
        return Kind(
            f"{self.words}, or {other.words}",
            lambda item: self.accepts(item) or other.accepts(item),
            self.keys if self.keys is not None else other.keys,
        )


def word(item: syntax.Item) -> str | None:
    """Return the text of a string or bare word; None for anything else."""
    if isinstance(item, syntax.String):
        return string_value(item)
    if isinstance(item, syntax.Path):
        return item.text
    return None


def whole(item: syntax.Item) -> int | None:
    """Return the value of an integer; None for anything else."""
    if isinstance(item, syntax.Number):
        try:
            return int(item.text)
        except ValueError:
            return None
    return None


def _is_time(item: syntax.Item) -> bool:
    if isinstance(item, syntax.Time):
        return item.unit != "never"
    return whole(item) == 0


def _is_count(item: syntax.Item) -> bool:
    number = whole(item)
    return number is not None and number >= 0


def choice(*words: str) -> Kind:
    """Return the kind of one word out of several, ignoring case."""
    folded = {w.casefold() for w in words}

    def accepts(item: syntax.Item) -> bool:
        if isinstance(item, syntax.Bool):
            return str(item.value).casefold() in folded
        text = word(item)
        return text is not None and text.casefold() in folded

    return Kind(f"one of {', '.join(words)}", accepts)


def table(**keys: Kind) -> Kind:
    """Return the kind of a table with these keys; ``_`` is a dash."""
    named = {key.replace("_", "-"): kind for key, kind in keys.items()}
    words = f"a table such as '{{{next(iter(named), 'key')}: ...}}'"
    return Kind(words, lambda item: isinstance(item, syntax.Dict), named or None)


TRUTH = Kind("true or false", lambda item: isinstance(item, syntax.Bool))
TIME = Kind("a time such as '5 s'", _is_time)
COUNT = Kind("an integer of at least 0", _is_count)
TEXT = Kind("a string", lambda item: word(item) is not None)
VERSION = Kind(
    "a version such as '3.11'",
    lambda item: word(item) is not None or isinstance(item, syntax.Number),
)
TEXTS = Kind(
    "a string or a list of strings",
    lambda item: (
        all(word(i) is not None for i in item.items)
        if isinstance(item, syntax.ItemList)
        else word(item) is not None
    ),
)
ANYTHING = Kind("a value", lambda item: True)
TABLE = table()

_CLOCK_SYNC_OPTIONS = table(
    local_federates_on=TRUTH,
    test_offset=TIME,
    period=TIME,
    attenuation=COUNT,
    trials=COUNT,
    collect_stats=TRUTH,
)

KINDS: Final[dict[str, Kind]] = {
    # Properties that affect a run.
    "timeout": TIME,
    "fast": TRUTH,
    "keepalive": TRUTH,
    "logging": choice("error", "warn", "info", "log", "debug"),
    "workers": COUNT,
    "single-threaded": TRUTH,
    "files": TEXTS,
    "tracing": TRUTH | table(trace_file_name=TEXT),
    # Coordination of federations.
    "coordination": choice("centralized", "decentralized"),
    "coordination-options": table(advance_message_interval=TIME),
    "clock-sync": choice("off", "init", "initial", "on"),
    "clock-sync-options": _CLOCK_SYNC_OPTIONS,
    "auth": TRUTH,
    "comm-type": choice("TCP", "TLS", "SST"),
    "DNET": TRUTH,
    # Scheduling, which does not affect the result.
    "scheduler": Kind(
        "one of NP, GEDF_NP, adaptive",
        (choice("NP", "GEDF_NP", "adaptive", "GEDF_NP_CI", "PEDF_NP") | TABLE).accepts,
    ),
    # Build options, without effect: nothing is built.
    "docker": TRUTH
    | table(
        rti_image=TEXT,
        docker_compose_override=TEXT,
        builder_base=TEXT,
        runner_base=TEXT,
        docker_file=TEXT,
        pre_build_script=TEXT,
        run_script=TEXT,
        post_build_script=TEXT,
        docker_config_file=TEXT,
    ),
    "protobufs": TEXTS,
    "python-version": VERSION,
    "build": TEXT,
    "build-type": choice("Debug", "Release", "RelWithDebInfo", "MinSizeRel", "Test"),
    "cmake-args": TABLE,
    "cmake-include": TEXTS,
    "cmake-init-include": TEXTS,
    "compile-definitions": TABLE,
    "compiler": TEXT,
    "export-dependency-graph": TRUTH,
    "export-to-yaml": TRUTH,
    "hierarchical-bin": TRUTH,
    "no-compile": TRUTH,
    "no-source-mapping": TRUTH,
    "platform": ANYTHING,
    "print-statistics": TRUTH,
    "runtime-version": TEXT,
    "trace-plugin": TEXT | table(package=TEXT, library=TEXT, path=TEXT),
    "verify": TRUTH,
}
"""Every property of the Python target."""

RENAMED: Final[dict[str, str]] = {"threads": "workers"}
"""Old and new names of properties with the same values."""

OLD: Final[dict[str, str]] = {
    "threading": "single-threaded",
    "flags": "compile-definitions",
}
"""Obsolete properties, and the property to use instead, with other values."""

OTHERS: Final = frozenset(
    {
        "cargo-dependencies",
        "cargo-features",
        "external-runtime-path",
        "no-runtime-validation",
        "ros2",
        "ros2-dependencies",
        "rust-include",
        "single-file-project",
    }
)
"""Properties of other LF targets."""
