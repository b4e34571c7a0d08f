# SPDX-License-Identifier: Apache-2.0
"""``reactorl doctor``: facts for a bug report, and advice for full speed."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from reactorl.cli.doctor.advice import advice
from reactorl.cli.doctor.native_envs import native_environments
from reactorl.cli.doctor.nodes import node_advice, node_sections
from reactorl.cli.doctor.packages import imported, installed
from reactorl.cli.doctor.system_info import (
    machine_facts,
    package_facts,
    python_facts,
    variables,
)
from reactorl.cli.support.console import say

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator

    from reactorl.cli.doctor.advice import Advice, Facts
    from reactorl.cli.support.console import Part

DESCRIPTION = """\
Print facts for a bug report: versions, Python and its GIL, the extension,
cores, packages, environment variables; run a small program on two workers twice
and compare the results; list the environments that are stepped in native code;
give advice for full speed. Changes nothing.

With --nodes: the nodes of a running Ray cluster instead of this machine.
Compares versions and numeric fingerprints, measures clocks, and latency and
bandwidth between the head and each node, and warns of a Ray that is open to
strangers.
"""
EPILOG = """\
examples:
  reactorl doctor
  reactorl doctor --json > report.json
  reactorl doctor --nodes ray

exit status: 0, or 1 if the installation, or a node, is broken.
"""


def add_to(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the parser of this command."""
    parser = subparsers.add_parser(
        "doctor",
        description=DESCRIPTION,
        epilog=EPILOG,
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument(
        "--quick",
        action="store_true",
        help="do not import packages to find those that turn the GIL on (on "
        "free-threaded Python)",
    )
    parser.add_argument(
        "--nodes",
        metavar="CLUSTER",
        help="look at the nodes of a Ray cluster: 'ray' for that of this machine, "
        "ray://HOST:PORT, or HOST:PORT",
    )
    parser.set_defaults(command=command)


def command(args: argparse.Namespace) -> int:
    """Print the facts and the advice; return the exit status."""
    if args.nodes is not None:
        from reactorl import inspect_nodes  # needs an extra

        facts = inspect_nodes("auto" if args.nodes == "ray" else args.nodes)
        found, sections = node_advice(facts), node_sections(facts)
    else:
        facts = collect(quick=args.quick)
        found, sections = advice(facts), _sections(facts)
    if args.json:
        everything = {**facts, "advice": [asdict(one) for one in found]}
        print(json.dumps(everything, indent=2))
    else:
        say(*report(sections, found), stream=sys.stdout)
    return 1 if any(one.broken for one in found) else 0


def collect(*, quick: bool = False) -> Facts:
    """Return all facts, as plain data."""
    python, packages = python_facts(), installed()
    return {
        "reactorl": package_facts(),
        "python": python,
        "machine": machine_facts(),
        "packages": packages,
        "environment": variables(),
        "imports": {}
        if quick or not python["free_threaded"] or python["gil"]
        else imported(packages),
        "self_check": check_itself(),
        "native_environments": native_environments() if packages["gymnasium"] else {},
    }


def check_itself(seconds: float = 60) -> dict[str, Any]:
    """Run a small program in another process; return the outcome.

    Returns:
        ``ok``, and with it ``digest`` or ``problem``.
    """
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "reactorl.cli.doctor.selfcheck"],
            capture_output=True,
            check=False,
            text=True,
            timeout=seconds,
        )
        if done.returncode != 0:
            said = done.stderr.strip().splitlines() or ["no message"]
            return {"ok": False, "problem": f"status {done.returncode}: {said[-1]}"}
        digests = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        return {"ok": False, "problem": f"{type(error).__name__}: {error}"}
    if len(set(digests)) != 1:
        return {"ok": False, "problem": f"digests differ: {', '.join(digests)}"}
    return {"ok": True, "digest": digests[0]}


# -- as text --


def report(
    sections: Iterable[tuple[str, list[tuple[str, str]]]], found: list[Advice]
) -> Iterator[Part]:
    """Yield the facts and the advice as styled text."""
    for title, rows in sections:
        yield title, "bold"
        width = max(len(name) for name, _ in rows)
        yield from (f"\n  {name:<{width}}  {value}" for name, value in rows)
        yield "\n\n"
    if not found:
        yield "nothing to improve\n", "bold green"
    for broken, title in ((True, "broken"), (False, "recommended")):
        some = [one for one in found if one.broken is broken]
        if some:
            yield f"{title}\n", "bold red" if broken else "bold"
        for one in some:
            yield f"  - {one.what}\n    "
            yield "->", "green"
            yield f" {one.fix}\n"


def _sections(facts: Facts) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    ours, python, machine = facts["reactorl"], facts["python"], facts["machine"]
    check = facts["self_check"]
    how = [ours.get("compiler") or "compiler unknown", *ours.get("built_with", ())]
    extension = ours["extension"] or "not found"
    yield (
        f"reactorl {ours['version'] or '(not installed)'}",
        [
            ("place", ours["place"]),
            ("wheel", ", ".join(ours.get("wheel") or ()) or "none (source tree)"),
            ("extension", f"{extension} ({', '.join(how)})"),
            (
                "self-check",
                f"same digest on 2, 2 and 1 workers ({check['digest'][:16]})"
                if check["ok"]
                else f"FAILED: {check['problem']}",
            ),
        ],
    )
    kinds = [
        "free-threaded" if python["free_threaded"] else "with a GIL",
        *(["debug build"] if python["debug_build"] else []),
        *(["PGO"] if python["optimised"] else []),
        python["compiler"],
    ]
    yield (
        f"{python['implementation']} {python['version']}",
        [
            ("build", ", ".join(kinds)),
            ("GIL", f"{'on' if python['gil'] else 'off'}: {python['why']}"),
            ("executable", python["executable"]),
            ("processes", f"start method {python['start_method']}"),
        ],
    )
    limit = machine["cgroup_cores"]
    shm = machine["dev_shm_mib"]
    yield (
        "machine",
        [
            ("system", ", ".join(filter(None, (machine["system"], machine["libc"])))),
            ("processor", machine["cpu"]),
            (
                "cores",
                f"{machine['usable_cores']} usable of {machine['cores']}, "
                + ("no container limit" if limit is None else f"limit {limit:g}"),
            ),
            ("load", "unknown" if machine["load"] is None else f"{machine['load']:g}"),
            ("memory", f"{machine['memory_gib']} GiB"),
            (
                "shared memory",
                ("memfd" if machine["memfd"] else "temporary files")
                + ("" if shm is None else f"; /dev/shm has {shm:,} MiB free"),
            ),
        ],
    )
    yield (
        "packages",
        [(name, found or "-") for name, found in facts["packages"].items()],
    )
    if facts["native_environments"]:
        yield (
            "environments in native code",
            [
                (name, f"no: {reason}" if reason else "yes")
                for name, reason in facts["native_environments"].items()
            ],
        )
    if facts["environment"]:
        yield "environment", list(facts["environment"].items())
