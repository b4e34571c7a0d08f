# SPDX-License-Identifier: Apache-2.0
"""What ``import reactorl`` gives, and what it leaves alone."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import reactorl

ROOT = Path(reactorl.__file__).parent
LAZY = set(reactorl._LAZY)
# From the bottom; a row imports itself and rows above it in this list.
ROWS = [
    {"_util"},
    {"position", "tag", "_core"},
    {"diagnostics"},
    {"errors"},
    {"_decl"},
    {"_program", "trace"},
    {"_runtime"},
    {"lf", "diagram", "dashboard", "testing"},
    {"rl"},
    {"cli"},
    {"__main__"},
]


def test_importing_loads_no_heavy_package_and_no_core() -> None:
    code = (
        "import sys, reactorl\n"
        "heavy = {'numpy', 'jax', 'torch', 'gymnasium', 'reactorl._core'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )

    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        check=True,
        text=True,
        env={"PYTHONPATH": str(ROOT.parent), "PATH": ""},
    )

    assert done.stdout == "[]\n"


def test_all_is_sorted_as_ruff_sorts_it_and_each_name_exists() -> None:
    assert len(set(reactorl.__all__)) == len(reactorl.__all__)
    for name in set(reactorl.__all__) - LAZY:
        assert hasattr(reactorl, name), name
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = reactorl.nothing


def test_public_classes_and_functions_show_the_public_path() -> None:
    for name in set(reactorl.__all__) - LAZY:
        thing = getattr(reactorl, name)
        if isinstance(thing, type) or type(thing).__name__ == "function":
            assert thing.__module__ == "reactorl", name


def test_layers_import_downwards_only() -> None:
    level = {name: row for row, names in enumerate(ROWS) for name in names}
    wrong = []
    for path in sorted(ROOT.rglob("*.py")):
        layer = path.relative_to(ROOT).parts[0].removesuffix(".py")
        if layer == "__init__":
            continue
        for name in _imports(ast.parse(path.read_text())):
            target = name.split(".")[1]
            # A public name of the package itself may be used above what it needs.
            if level.get(target, level["_runtime"] + 1) > level[layer]:
                wrong.append(f"{path.relative_to(ROOT)} imports {name}")

    assert wrong == []


def _imports(tree: ast.Module) -> list[str]:
    """Return what a module imports from this package at run time."""
    typing_only = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    found = []
    for node in ast.walk(tree):
        if node in typing_only:
            continue
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        found += [name for name in names if name.startswith("reactorl.")]
    return found
