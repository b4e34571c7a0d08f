# SPDX-License-Identifier: Apache-2.0
"""What follows from the facts: what is broken, and what to do for full speed.

Rules, each a function from all facts to advice; no facts are looked up here, so every
rule can be tested with facts that were made up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from reactorl.cli.doctor.packages import missing_extras

if TYPE_CHECKING:
    from collections.abc import Iterator

Facts: TypeAlias = dict[str, Any]
BUSY = 0.5
"""From how much load for each core on others are in the way."""


@dataclass(frozen=True)
class Advice:
    """Something that is not as it could be, and the way out.

    Attributes:
        what: The fact, without a full stop.
        fix: What to do.
        broken: Whether something does not work, rather than being slow or missing.
    """

    what: str
    fix: str
    broken: bool = False


def advice(facts: Facts) -> list[Advice]:
    """Return all advice, what is broken first."""
    rules = (_broken, _gil, _builds, _cores, _threads, _extras)
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
                name, fix = "what is installed", "Import the packages one by one."
            yield Advice(f"{name} cannot be imported: {problem}", fix, broken=True)


def _gil(facts: Facts) -> Iterator[Advice]:
    python = facts["python"]
    if not python["free_threaded"]:
        yield Advice(
            "this Python has a GIL: reactions written in Python take turns",
            "Use free-threaded CPython 3.14t; reactions that release the GIL (JAX, "
            "Torch, large NumPy) run side by side on this one, too.",
        )
    elif python["gil"]:
        fix = "Unset PYTHON_GIL, and leave -X gil=1 out."
        if "asked" not in python["why"]:
            fix = "Run with PYTHON_GIL=0 if the module is safe without it."
        yield Advice(f"the GIL is on: {python['why']}", fix)
    for name, problem in facts["imports"].items():
        if problem == "gil":
            yield Advice(
                f"importing {name} turns the GIL on",
                f"Take a version of {name} for free-threaded Python, keep it in "
                'another process (VectorEnv(placement="process")), or run with '
                "PYTHON_GIL=0 if it is safe without the GIL.",
            )


def _builds(facts: Facts) -> Iterator[Advice]:
    if facts["python"]["debug_build"]:
        yield Advice("this is a debug build of Python", "Use a release build.")
    elif facts["python"]["optimised"] is False:
        yield Advice(
            "this Python was built without profile-guided optimisation",
            "Code in Python is faster with one that was built with "
            "--enable-optimizations --with-lto.",
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
            "Start it without taskset or a CPU set; else nothing is lost: workers are "
            "as many as the cores it may use.",
        )
    if limit is not None and limit < usable:
        most = max(1, int(limit))
        yield Advice(
            f"a container limit of {limit:g} cores is below the {usable} that are seen",
            f"Give --workers {most} (workers={most}), or raise the limit.",
        )
    if usable < 2:
        yield Advice("there is one core", "More workers than one do not help here.")
    elif machine["load"] is not None and machine["load"] > BUSY * usable:
        yield Advice(
            f"the machine is busy (load {machine['load']:g} on {usable} cores)",
            "Do not trust measurements now.",
        )


def _threads(facts: Facts) -> Iterator[Advice]:
    given = facts["environment"].get("OMP_NUM_THREADS")
    has = facts["packages"].get("torch")
    if has and given is None and facts["machine"]["usable_cores"] > 1:
        yield Advice(
            "each operation of Torch may use all cores, which are our workers', too",
            "With small networks, try OMP_NUM_THREADS=1.",
        )


def _extras(facts: Facts) -> Iterator[Advice]:
    for extra, names in missing_extras(facts["packages"]).items():
        free = facts["python"]["free_threaded"]
        fix = f"pip install 'reactorl[{extra}]'"
        if free and extra == "atari":
            fix = "ale-py has to be built for this Python: docs/atari.md says how."
        if free and extra == "sb3":
            fix = f"{fix}, once PyTorch, which it needs, is there for this Python."
        yield Advice(f"not installed, for {extra}: {', '.join(names)}", fix)
