# SPDX-License-Identifier: Apache-2.0
"""Values of the main module can be sent to worker processes and back."""

from __future__ import annotations

import subprocess
import sys

_SCRIPT = """
import gymnasium as gym

from reactorl.rl import VectorEnv


class Tool:
    def __init__(self, size):
        self.size = size


class Workshop(gym.Env):
    observation_space = gym.spaces.Discrete(3)
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        self.tool = options["tool"]
        return 0, {}

    def step(self, action):
        return 0, 0.0, False, False, {}

    def swap(self, tool):
        old, self.tool = self.tool, tool
        assert type(old) is type(tool) is Tool
        return old


envs = VectorEnv([Workshop] * 2, workers=1, placement="process")
envs.reset(options={"tool": Tool(1)})
first = envs.call("swap", Tool(2))
envs.set_attr("tool", [Tool(3), Tool(4)])
second = envs.get_attr("tool")
envs.close()
assert all(type(tool) is Tool for tool in first + second)
print([tool.size for tool in first + second])
"""


def test_objects_of_classes_that_only_the_main_module_has() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT],
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )

    assert (done.stdout, done.returncode) == ("[1, 1, 3, 4]\n", 0), done.stderr
