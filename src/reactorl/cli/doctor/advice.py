# SPDX-License-Identifier: Apache-2.0
"""Advice that follows from the facts: repairs, and measures for full speed.

Each rule is a function from all facts to advice. Rules look nothing up themselves, so
they can be tested with artificial facts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from reactorl.cli.doctor.packages import missing_extras

if TYPE_CHECKING:
    from collections.abc import Iterator

Facts: TypeAlias = dict[str, Any]
BUSY = 0.5
"""Load per core above which other processes disturb measurements."""


@dataclass(frozen=True)
class Advice:
    """A problem and its remedy.

    Attributes:
        what: The fact, without a full stop.
        fix: What to do.
        broken: Whether something does not work, rather than being slow or missing.
    """

    what: str
    fix: str
    broken: bool = False


def advice(facts: Facts) -> list[Advice]:
    """Return all advice, the repairs first."""
    rules = (_broken, _gil, _builds, _cores, _threads, _extras, _native)
    found = [one for rule in rules for one in rule(facts)]
    return sorted(found, key=lambda one: not one.broken)


def _broken(facts: Facts) -> Iterator[Advice]:
    check = facts["self_check"]
    if not check["ok"]:
        yield Advice(
            f"the self-check failed: {check['problem']}",
            "Install reactorl again for this Python (pip install --force-reinstall "
            "reactorl); if that does not help, report this output.",
            broken=True,
        )
    for name, problem in facts["imports"].items():
        if problem not in ("", "gil"):
            fix = f"Install it again: pip install --force-reinstall {name}"
            if name == "(all)":
                name, fix = "the packages", "Import them one by one to find the cause."
            yield Advice(f"{name} cannot be imported: {problem}", fix, broken=True)


def _gil(facts: Facts) -> Iterator[Advice]:
    python = facts["python"]
    if not python["free_threaded"]:
        yield Advice(
            "this Python has a GIL: reactions written in Python run one at a time",
            "Use free-threaded CPython 3.14t. Reactions that release the GIL (JAX, "
            "Torch, large NumPy arrays) run in parallel on this one as well.",
        )
    elif python["gil"]:
        fix = "Unset PYTHON_GIL and do not use -X gil=1."
        if not python["gil_requested"]:
            fix = "Run with PYTHON_GIL=0 if the module is safe without it."
        yield Advice(f"the GIL is on: {python['why']}", fix)
    for name, problem in facts["imports"].items():
        if problem == "gil":
            yield Advice(
                f"importing {name} turns the GIL on",
                f"Use a version of {name} for free-threaded Python, run it in "
                'another process (VectorEnv(placement="process")), or run with '
                "PYTHON_GIL=0 if it is safe without the GIL.",
            )


def _builds(facts: Facts) -> Iterator[Advice]:
    if facts["python"]["debug_build"]:
        yield Advice("this is a debug build of Python", "Use a release build.")
    elif facts["python"]["optimised"] is False:
        yield Advice(
            "this Python was built without profile-guided optimisation",
            "Use a Python that was built with --enable-optimizations --with-lto.",
        )
    slow = facts["reactorl"].get("built_with")
    if slow:
        yield Advice(
            f"the extension was built with {', '.join(slow)}",
            "Install a release build: pip install --force-reinstall reactorl",
        )


def _cores(facts: Facts) -> Iterator[Advice]:
    machine = facts["machine"]
    usable, limit = machine["usable_cores"], machine["cgroup_cores"]
    if machine["cores"] and usable < machine["cores"]:
        yield Advice(
            f"this process may use {usable} of {machine['cores']} cores",
            "Start it without taskset or a CPU set. The default number of workers is "
            "already the number of usable cores.",
        )
    if limit is not None and limit < usable:
        most = max(1, int(limit))
        yield Advice(
            f"the container limit of {limit:g} cores is below {usable} visible cores",
            f"Give --workers {most} (workers={most}), or raise the limit.",
        )
    if usable < 2:
        yield Advice("the machine has one core", "Use one worker.")
    elif machine["load"] is not None and machine["load"] > BUSY * usable:
        yield Advice(
            f"the machine is busy (load {machine['load']:g} on {usable} cores)",
            "Do not trust measurements while it is busy.",
        )


def _threads(facts: Facts) -> Iterator[Advice]:
    given = facts["environment"].get("OMP_NUM_THREADS")
    has = facts["packages"].get("torch")
    if has and given is None and facts["machine"]["usable_cores"] > 1:
        yield Advice(
            "operations of Torch may use all cores and compete with the workers",
            "With small networks, try OMP_NUM_THREADS=1.",
        )


def _extras(facts: Facts) -> Iterator[Advice]:
    for extra, names in missing_extras(facts["packages"]).items():
        free = facts["python"]["free_threaded"]
        fix = f"pip install 'reactorl[{extra}]'"
        if free and extra == "atari":
            fix = "Build ale-py for this Python, as docs/atari.md explains."
        if free and extra == "sb3":
            fix = f"{fix}, when PyTorch, which it requires, supports this Python."
        yield Advice(f"not installed, for {extra}: {', '.join(names)}", fix)


def _native(facts: Facts) -> Iterator[Advice]:
    reasons = {reason for reason in facts["native_environments"].values() if reason}
    if reasons:
        yield Advice(
            "some environments are stepped in Python that have native code: "
            + "; ".join(sorted(reasons)),
            "Results are the same. For the speed of native code, use the version of "
            "Gymnasium that docs/vector.md names.",
        )
