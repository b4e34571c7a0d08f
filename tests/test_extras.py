# SPDX-License-Identifier: Apache-2.0
"""Each extra of pyproject.toml: the error without it contains the pip command."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# Hides modules from imports and from find_spec.
HIDE = """\
import sys
hidden = sys.argv[1:]
class Hiding:
    def __init__(self, finder):
        self.finder = finder
    def __getattr__(self, name):
        return getattr(self.finder, name)
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in hidden:
            return None
        return self.finder.find_spec(name, path, target)
sys.meta_path = [Hiding(finder) for finder in sys.meta_path]
"""
COMMAND = """
from reactorl.cli.main import entry
sys.argv = ["reactorl", {words}]
entry()
"""
VECTOR = "\nfrom reactorl.rl import VectorEnv\nVectorEnv({env_id!r}, num_envs=1)\n"

CASES = {
    "cli": ("argcomplete", COMMAND.format(words="'completion', 'bash'"), "cli"),
    "rl": ("gymnasium", "\nfrom reactorl.rl import VectorEnv\n", "rl"),
    "train": ("jax", COMMAND.format(words="'train', 'dqn'"), "train"),
    "federation": (
        "cryptography",
        "\nfrom reactorl._federation.certificate import Certificate\nCertificate()\n",
        "federation",
    ),
    "ray": (
        "ray",
        "\nfrom reactorl import RayFederation\nRayFederation().sized(2)\n",
        "ray",
    ),
    "pettingzoo": (
        "pettingzoo",
        "\nimport reactorl.rl.multi_agent.pettingzoo\n",
        "pettingzoo",
    ),
    "sb3": ("stable_baselines3", "\nimport reactorl.rl.adapters.sb3\n", "sb3"),
    "tune": ("ray", "\nfrom reactorl.rl import tune_trainable\n", "tune"),
    "atari": ("ale_py", VECTOR.format(env_id="ALE/Pong-v5"), "ale-py"),
    "box2d": ("Box2D", VECTOR.format(env_id="LunarLander-v3"), "gymnasium[box2d]"),
    "mujoco": ("mujoco", VECTOR.format(env_id="HalfCheetah-v5"), "gymnasium[mujoco]"),
    "minigrid": (
        "minigrid",
        VECTOR.format(env_id="MiniGrid-Empty-5x5-v0"),
        "minigrid",
    ),
    "minatar": ("minatar", VECTOR.format(env_id="MinAtar/Breakout-v1"), "minatar"),
}
"""By extra: a module of it, code that needs it, and what pip is to install."""


def test_there_is_a_case_for_each_extra() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

    assert CASES.keys() == project["optional-dependencies"].keys()


@pytest.mark.parametrize("extra", CASES)
def test_error_without_an_extra_contains_the_pip_command(
    extra: str, tmp_path: Path
) -> None:
    module, code, wanted = CASES[extra]

    done = subprocess.run(
        [sys.executable, "-c", HIDE + code, module],
        capture_output=True,
        check=False,
        cwd=tmp_path,
        text=True,
        timeout=300,
    )

    assert done.returncode != 0
    spelt = {f"pip install {q}{p}{q}" for q in ("'", '"', "") for p in (wanted,)}
    spelt |= {f"pip install 'reactorl[{wanted}]'"}
    assert any(one in done.stderr for one in spelt), done.stderr
