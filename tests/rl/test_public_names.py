# SPDX-License-Identifier: Apache-2.0
"""Public names of ``reactorl.rl``: the list, lazy loading, and who imports what."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import reactorl.rl

ROOT = Path(__file__).parents[2]
PUBLIC = [
    "ActInput",
    "ActOutput",
    "Algorithm",
    "AtariPreprocessing",
    "BatchLog",
    "Callback",
    "CheckpointError",
    "DQN",
    "EarlyStopping",
    "EnvError",
    "Episode",
    "Evaluated",
    "Flow",
    "FlowError",
    "FlowRun",
    "FrameStack",
    "IMPALA",
    "IPPO",
    "Iteration",
    "Learner",
    "Match",
    "MatchRun",
    "LifeLoss",
    "MultiAgentFlow",
    "MultiAgentIteration",
    "PPO",
    "ParallelRunner",
    "ParallelVectorEnv",
    "PlayProgress",
    "Preset",
    "QLearning",
    "Replay",
    "ReplayConfig",
    "Rollout",
    "RunDirectory",
    "RunError",
    "SAC",
    "SB3VecEnv",
    "SharedStateError",
    "Spaces",
    "TD3",
    "Task",
    "ThreadSafetyError",
    "TorchAlgorithm",
    "Trainer",
    "TrainerOptions",
    "TrainingResult",
    "TrainingSession",
    "Trajectory",
    "VectorEnv",
    "algorithm_names",
    "apply_mlp",
    "compare_runs",
    "find_preset",
    "list_presets",
    "make_mlp",
    "make_vec",
    "native_environments",
    "plot_runs",
    "preset",
    "read_checkpoint",
    "register_vector",
    "runs_in",
    "task_flags",
    "task_of",
    "tune_trainable",
    "write_checkpoint",
]
_NEEDS = {
    "SB3VecEnv": "stable_baselines3",
    "TorchAlgorithm": "torch",
    "tune_trainable": "ray.tune",
}
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PROGRAMS = [
    *sorted((ROOT / "examples").rglob("*.py")),
    *sorted((ROOT / "benchmarks").rglob("*.py")),
]
PACKAGES = {
    "reactorl",
    "reactorl.dashboard",
    "reactorl.diagram",
    "reactorl.lf",
    "reactorl.rl",
    "reactorl.testing",
    "reactorl.trace",
}
PYTHON_BLOCK = re.compile(r"^( *)```python\n(.*?)^ *```", re.MULTILINE | re.DOTALL)


def _run(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(ROOT / "src"), "PATH": ""},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_public_names_are_exactly_these() -> None:
    assert sorted(reactorl.rl.__all__) == sorted(PUBLIC)


@pytest.mark.parametrize("name", PUBLIC)
def test_public_name_loads_and_shows_the_public_path(name: str) -> None:
    package = _NEEDS.get(name)
    if package is not None:
        pytest.importorskip(package)

    assert getattr(reactorl.rl, name).__module__ == "reactorl.rl"
    assert name in dir(reactorl.rl)


def test_unknown_name_raises_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = reactorl.rl.Nothing


def test_import_loads_no_optional_package() -> None:
    code = (
        "import sys, reactorl.rl\n"
        "heavy = {'numpy', 'gymnasium', 'jax', 'torch', 'reactorl._core'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )

    assert _run(code) == "[]\n"


@pytest.mark.parametrize(
    ("package", "name", "extra"),
    [
        ("gymnasium", "VectorEnv", "reactorl[rl]"),
        ("jax", "DQN()._updates", "reactorl[train]"),
        ("optax", "PPO()._optimiser", "reactorl[train]"),
        ("pettingzoo", "ParallelRunner", "reactorl[pettingzoo]"),
        ("ray", "tune_trainable", "reactorl[tune]"),
        ("stable_baselines3", "SB3VecEnv", "reactorl[sb3]"),
        ("torch", "TorchAlgorithm", "pip install torch"),
    ],
)
def test_missing_package_error_names_the_extra(
    package: str, name: str, extra: str
) -> None:
    code = (
        "import sys\n"
        "class Absent:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name.partition('.')[0] == {package!r}:\n"
        "            raise ModuleNotFoundError(f'No module named {name}', name=name)\n"
        "sys.meta_path.insert(0, Absent())\n"
        "import reactorl.rl\n"
        "try:\n"
        f"    reactorl.rl.{name}\n"
        "except ImportError as error:\n"
        "    print(error)\n"
    )

    assert extra in _run(code)


def _imported(source: str) -> set[str]:
    """Return the modules of this package that a program imports from."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found.add(node.module)
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return {name for name in found if name.partition(".")[0] == "reactorl"}


def test_examples_and_benchmarks_import_public_packages_only() -> None:
    found = {
        str(path.relative_to(ROOT)): _imported(path.read_text("utf-8")) - PACKAGES
        for path in PROGRAMS
    }

    assert {name: modules for name, modules in found.items() if modules} == {}


def test_docs_import_public_packages_only() -> None:
    wrong = []
    for page in PAGES:
        for indent, block in PYTHON_BLOCK.findall(page.read_text("utf-8")):
            source = re.sub(f"^{indent}", "", block, flags=re.MULTILINE)
            private = _imported(source) - PACKAGES
            wrong += [f"{page.relative_to(ROOT)}: {name}" for name in private]

    assert wrong == []
