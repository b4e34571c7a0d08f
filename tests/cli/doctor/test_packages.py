# SPDX-License-Identifier: Apache-2.0
"""Packages and extras in ``reactorl doctor``."""

from __future__ import annotations

import sysconfig
import tomllib
from pathlib import Path

import pytest

from reactorl.cli.doctor.packages import EXTRAS, imported

ROOT = Path(__file__).parents[3]
FREE = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))


def test_extras_are_those_of_pyproject() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

    for extra, names in EXTRAS.items():
        wanted = project["optional-dependencies"][extra]
        found = [w.split(">")[0].split(";")[0].strip() for w in wanted]
        needed = {n for n in found if not n.startswith(("reactorl", "opencv"))}
        assert needed == set(names)


@pytest.mark.skipif(not FREE, reason="free-threaded Python only")
def test_packages_that_fail_to_import_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "fine.py").write_text("print('hello')")
    (tmp_path / "broken.py").write_text("1 / 0")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    found = imported({"fine": "1", "broken": "1", "absent": None})

    assert found == {"broken": "ZeroDivisionError: division by zero"}
