"""Target properties and attributes of the main reactor."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from reactorl import Severity
from reactorl.lf.diagnostics import Report
from reactorl.lf.link.properties import Properties
from reactorl.lf.link.property_kinds import KINDS
from reactorl.lf.link.resolve import resolve
from reactorl.lf.parse.syntax import Time
from reactorl.lf.parse.time_units import TIME_UNITS, nanoseconds_of
from reactorl.tag import FOREVER, NEVER

SEC = 1_000_000_000


def properties(directory: Path, table: str, attributes: str = "") -> Properties:
    path = directory / "Program.lf"
    path.write_text(f"target Python {table}\n{attributes}\nmain reactor {{ }}\n")
    report = Report()
    linked = resolve(path, report)
    assert [d.render() for d in report.in_order()] == []
    assert linked is not None
    return linked.properties


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ("", Properties()),
        ("{}", Properties()),
        ("{timeout: 5 s}", Properties(timeout=5 * SEC)),
        ("{timeout: 0}", Properties(timeout=0)),
        ('{"timeout": 1 min,}', Properties(timeout=60 * SEC)),
        ("{timeout: forever}", Properties(timeout=FOREVER)),
        ("{fast: true, keepalive: False}", Properties(fast=True, keepalive=False)),
        ("{workers: 3}", Properties(workers=3)),
        ("{workers: 0}", Properties(workers=None)),
        ("{single-threaded: true}", Properties(workers=1)),
        ("{single-threaded: false, workers: 2}", Properties(workers=2)),
        ("{logging: DEBUG}", Properties(logging="debug")),
        ('{logging: "warn"}', Properties(logging="warn")),
        ("{tracing: true}", Properties(tracing="Program")),
        ("{tracing: false}", Properties(tracing=None)),
        ('{tracing: {trace-file-name: "x"}}', Properties(tracing="x")),
        ("{tracing: {}}", Properties(tracing="Program")),
        ("{coordination: decentralized}", Properties(coordination="decentralized")),
    ],
)
def test_value_of_a_property(tmp_path: Path, table: str, expected: Properties) -> None:
    assert properties(tmp_path, table) == expected


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ("@timeout(2 s)", Properties(timeout=2 * SEC, fast=False)),
        ("@fast", Properties(timeout=SEC, fast=True)),
        ("@fast(true) @keepalive(false)", Properties(SEC, fast=True, keepalive=False)),
        ('@logging("Info")', Properties(timeout=SEC, fast=False, logging="info")),
        ("@logging(error)", Properties(timeout=SEC, fast=False, logging="error")),
    ],
)
def test_attribute_of_main_overrides_target_property(
    tmp_path: Path, attributes: str, expected: Properties
) -> None:
    found = properties(tmp_path, "{timeout: 1 s, fast: false}", attributes)

    assert found == expected


def test_old_name_of_a_property_works_with_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "Program.lf"
    path.write_text("target Python {threads: 2}\nmain reactor { }\n")
    report = Report()

    linked = resolve(path, report)

    assert linked is not None
    assert linked.properties == Properties(workers=2)
    assert [d.severity for d in report.diagnostics] == [Severity.WARNING]


def test_properties_without_effect_are_accepted(tmp_path: Path) -> None:
    table = """{
      scheduler: GEDF_NP, coordination-options: {advance-message-interval: 10 ms},
      clock-sync: initial, clock-sync-options: {local-federates-on: true, period: 5 ms},
      auth: false, comm-type: TCP, DNET: true, docker: {rti-image: "x"},
      python-version: "3.12", build-type: Release, cmake-args: {BUILD: "x"},
      cmake-include: ["a.txt", "b.txt"], compile-definitions: {A: 1}, build: "make",
      no-compile: true, no-source-mapping: true, trace-plugin: "x", verify: true,
      export-dependency-graph: false, runtime-version: "x", print-statistics: true
    }"""

    assert properties(tmp_path, table) == Properties()


def test_files_are_relative_to_the_declaring_file(tmp_path: Path) -> None:
    sub = tmp_path / "sub"
    (sub / "package").mkdir(parents=True)
    (sub / "b.py").touch()
    (tmp_path / "a.py").touch()
    (sub / "Lib.lf").write_text(
        'target Python {timeout: 9 s, files: ["b.py", package, "../a.py"]}\n'
        "reactor R { }\n"
    )
    main = tmp_path / "Main.lf"
    main.write_text(
        'target Python {files: "a.py"}\nimport R from "sub/Lib.lf"\nmain reactor {}\n'
    )

    linked = resolve(main, Report())

    assert linked is not None
    assert linked.properties == Properties(
        files=(tmp_path / "a.py", sub / "b.py", sub / "package")
    )


def test_length_of_every_time_unit() -> None:
    lengths = {"us": 1_000, "msecs": 10**6, "min": 60 * SEC, "h": 3_600 * SEC}
    lengths |= {"d": 86_400 * SEC, "weeks": 604_800 * SEC, "nsec": 1, "second": SEC}

    for unit, length in lengths.items():
        assert nanoseconds_of(Time(3, unit)) == 3 * length
    assert len(TIME_UNITS) == 27
    assert nanoseconds_of(Time(None, "forever")) == FOREVER
    assert nanoseconds_of(Time(None, "never")) == NEVER
    assert nanoseconds_of(Time(10**9, "weeks")) == FOREVER


def test_documentation_lists_every_property() -> None:
    text = (Path(__file__).parents[3] / "docs" / "lf.md").read_text()
    section = text.split("## Target properties")[1].split("\n## ")[0]

    documented = re.findall(r"^\| (.*?) \|", section, re.MULTILINE)
    named = {name for cell in documented for name in re.findall(r"`([^`]+)`", cell)}

    assert named >= set(KINDS)
