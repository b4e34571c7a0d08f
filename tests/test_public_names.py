# SPDX-License-Identifier: Apache-2.0
"""What ``import reactorl`` gives, and what it leaves alone."""

import ast
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

import reactorl

ROOT = Path(reactorl.__file__).parent
# From the bottom; a row imports itself and rows above it in this list.
ROWS = [
    {"_util"},
    {"position", "tag", "_core"},
    {"diagnostics"},
    {"errors"},
    {"_decl"},
    {"_program", "trace"},
    {"_runtime"},
    {"_federation"},
    {"lf", "diagram", "dashboard", "testing"},
    {"rl"},
    {"cli"},
    {"__main__"},
]
# What layers above may use; the names are in the `__all__` of each.
PUBLIC = {
    "reactorl",
    "reactorl.dashboard",
    "reactorl.diagnostics",
    "reactorl.diagram",
    "reactorl.errors",
    "reactorl.lf",
    "reactorl.rl",
    "reactorl.trace",
}


def test_version_is_that_of_the_package() -> None:
    try:
        expected = metadata.version("reactorl")
    except metadata.PackageNotFoundError:
        expected = "0+unknown"

    assert reactorl.__version__ == expected
    assert "__version__" in dir(reactorl)


def test_version_is_looked_up_on_first_use() -> None:
    code = (
        "import sys, reactorl\n"
        "before = 'importlib.metadata' in sys.modules\n"
        "reactorl.__version__\n"
        "print(before, 'importlib.metadata' in sys.modules)"
    )

    done = subprocess.run(
        [
            sys.executable,
            "-I",
            "-S",
            "-c",
            f"sys_path = {sys.path!r}\nimport sys; sys.path[:] = sys_path\n{code}",
        ],
        capture_output=True,
        check=True,
        text=True,
    )

    assert done.stdout == "False True\n"


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


def test_all_lists_each_name_once_in_the_order_of_ruff() -> None:
    def key(name: str) -> tuple[bool, bool, str]:
        return not name.isupper(), name[0].islower(), name

    assert reactorl.__all__ == sorted(set(reactorl.__all__), key=key)


def test_every_public_name_exists() -> None:
    for name in reactorl.__all__:
        assert getattr(reactorl, name) is not None, name
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = reactorl.nothing


def test_public_classes_and_functions_show_the_public_path() -> None:
    for name in reactorl.__all__:
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
        for module, name in _imports(path):
            # `from reactorl import x`: public names may be used above what they need.
            target = module.partition(".")[2].partition(".")[0] or name
            if level.get(target, level["_runtime"] + 1) > level[layer]:
                wrong.append(f"{path.relative_to(ROOT)} imports {module}.{name}")

    assert wrong == []


@pytest.mark.parametrize("layer", ["rl", "cli"])
def test_upper_layers_import_public_names_only(layer: str) -> None:
    public = {package: _public_names(package) for package in PUBLIC}
    wrong = {
        f"{module}.{name}": str(path.relative_to(ROOT))
        for path in sorted((ROOT / layer).rglob("*.py"))
        for module, name in _imports(path, with_typing=True)
        if not f"{module}.".startswith(("reactorl._util.", f"reactorl.{layer}."))
        and name not in public.get(module, ())
        and f"{module}.{name}" not in public
    }

    assert wrong == {}


def _public_names(package: str) -> set[str]:
    """Return what the ``__all__`` of a package lists, without importing it."""
    path = ROOT.joinpath(*package.split(".")[1:])
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return set(ast.literal_eval(node.value))
    msg = f"{file} has no __all__"
    raise AssertionError(msg)


def _imports(path: Path, *, with_typing: bool = False) -> list[tuple[str, str]]:
    """Return what a file imports from this package, as module and name.

    Args:
        path: The file.
        with_typing: Whether imports for type checkers only count, too.
    """
    tree = ast.parse(path.read_text())
    typing_only = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    found = []
    for node in ast.walk(tree):
        if node in typing_only and not with_typing:
            continue
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            found += [(node.module, alias.name) for alias in node.names]
        elif isinstance(node, ast.Import):
            found += [alias.name.rpartition(".")[::2] for alias in node.names]
    return [
        (module, name) for module, name in found if f"{module}.".startswith("reactorl.")
    ]
