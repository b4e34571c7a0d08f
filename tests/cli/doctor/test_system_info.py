# SPDX-License-Identifier: Apache-2.0
"""Facts about the machine and the extension."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from reactorl.cli.doctor import system_info

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("files", "cores"),
    [
        ({"proc/self/cgroup": "0::/a/b\n"}, None),
        (
            {
                "proc/self/cgroup": "0::/a/b\n",
                "sys/fs/cgroup/a/b/cpu.max": "max 100000\n",
                "sys/fs/cgroup/a/cpu.max": "150000 100000\n",
            },
            1.5,
        ),
        (
            {
                "proc/self/cgroup": "4:memory:/x\n3:cpu,cpuacct:/d\n",
                "sys/fs/cgroup/cpu/d/cpu.cfs_quota_us": "200000\n",
                "sys/fs/cgroup/cpu/d/cpu.cfs_period_us": "100000\n",
                "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
                "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
            },
            2.0,
        ),
        ({"proc/self/cgroup": "nonsense"}, None),
        ({}, None),
    ],
)
def test_container_limits(
    files: dict[str, str], cores: float | None, tmp_path: Path
) -> None:
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    assert system_info.cgroup_cores(tmp_path) == cores


def test_build_of_the_extension(tmp_path: Path) -> None:
    file = tmp_path / "x.so"
    file.write_bytes(b"\0GCC: (Debian 12.2.0-14) 12.2.0\0__assert_fail\0")
    assert system_info.extension_facts(file) == {
        "compiler": "gcc 12.2.0",
        "built_with": ["assertions"],
    }
    file.write_bytes(b"Ubuntu clang version 18.1.3 \0__tsan_init")
    assert system_info.extension_facts(file) == {
        "compiler": "clang 18.1.3",
        "built_with": ["thread sanitizer"],
    }
    assert system_info.extension_facts(tmp_path / "none.so") == {}


def _installed(root: Path, *tags: str) -> None:
    """Write the metadata of an installed wheel, and an empty package."""
    (root / "reactorl").mkdir()
    info = root / "reactorl-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: reactorl\n")
    (info / "WHEEL").write_text("".join(f"Tag: {tag}\n" for tag in tags))


def test_wheel_tags_are_those_of_the_installed_wheel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tags = ["cp311-cp311-manylinux_2_17_x86_64", "cp311-cp311-manylinux2014_x86_64"]
    _installed(tmp_path, *tags)
    monkeypatch.syspath_prepend(tmp_path)

    assert system_info.wheel_tags(tmp_path / "reactorl") == tags


def test_source_tree_has_no_wheel_tags_even_if_a_wheel_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _installed(tmp_path, "cp311-cp311-manylinux2014_x86_64")
    monkeypatch.syspath_prepend(tmp_path)

    assert system_info.wheel_tags(tmp_path / "elsewhere" / "reactorl") == []


@pytest.mark.parametrize(
    ("content", "note", "compiler"),
    [
        (b"\0GCC: (Debian 12.2.0) 12.2.0\0", "Clang 22.1.0\n", "gcc 12.2.0"),
        (b"\0", "Clang 22.1.0\n", "clang 22.1.0"),
        (b"\0", "GNU 14.2.0\n", "gcc 14.2.0"),
        (b"\0", None, None),
    ],
)
def test_compiler_is_that_of_the_extension_or_of_the_file_of_the_build(
    content: bytes, note: str | None, compiler: str | None, tmp_path: Path
) -> None:
    file = tmp_path / "_core.so"
    file.write_bytes(content)
    if note is not None:
        (tmp_path / "_compiler.txt").write_text(note)

    assert system_info.extension_facts(file)["compiler"] == compiler
