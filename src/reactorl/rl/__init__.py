# SPDX-License-Identifier: Apache-2.0
"""Reinforcement learning on reactors: vector environments, algorithms, training.

Names load on first use: ``import reactorl.rl`` imports neither Gymnasium nor JAX.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from reactorl.rl.adapters.ray_tune import tune_trainable
    from reactorl.rl.adapters.sb3 import SB3VecEnv
    from reactorl.rl.algorithms.dqn import DQN
    from reactorl.rl.algorithms.impala import IMPALA
    from reactorl.rl.algorithms.ippo import IPPO
    from reactorl.rl.algorithms.networks.mlp import apply_mlp, make_mlp
    from reactorl.rl.algorithms.ppo import PPO
    from reactorl.rl.algorithms.q_learning import QLearning
    from reactorl.rl.algorithms.registry import algorithm_names
    from reactorl.rl.algorithms.sac import SAC
    from reactorl.rl.algorithms.td3 import TD3
    from reactorl.rl.algorithms.torch import TorchAlgorithm
    from reactorl.rl.checkpoint.file import (
        CheckpointError,
        read_checkpoint,
        write_checkpoint,
    )
    from reactorl.rl.envs.errors import EnvError, SharedStateError, ThreadSafetyError
    from reactorl.rl.envs.native.choice import native_environments
    from reactorl.rl.flow.algorithm import (
        ActInput,
        ActOutput,
        Algorithm,
        FlowError,
        Spaces,
    )
    from reactorl.rl.flow.evaluation import Evaluated, PlayProgress
    from reactorl.rl.flow.flow import Flow, FlowRun
    from reactorl.rl.flow.learner import Learner
    from reactorl.rl.flow.multi_agent import MultiAgentFlow, MultiAgentIteration
    from reactorl.rl.flow.replay import Replay, ReplayConfig
    from reactorl.rl.flow.rollout import Rollout
    from reactorl.rl.flow.task import Iteration, Task
    from reactorl.rl.flow.trajectory import Episode, Trajectory
    from reactorl.rl.multi_agent.inference import Match, MatchRun
    from reactorl.rl.multi_agent.pettingzoo import ParallelRunner
    from reactorl.rl.multi_agent.vector import ParallelVectorEnv
    from reactorl.rl.presets.lookup import (
        Preset,
        find_preset,
        list_presets,
        preset,
    )
    from reactorl.rl.runs.callbacks import Callback, EarlyStopping
    from reactorl.rl.runs.compare import compare_runs
    from reactorl.rl.runs.config import task_flags, task_of
    from reactorl.rl.runs.directory import RunDirectory, RunError, runs_in
    from reactorl.rl.runs.plot import plot_runs
    from reactorl.rl.runs.result import TrainingResult
    from reactorl.rl.runs.session import TrainingSession
    from reactorl.rl.runs.trainer import Trainer, TrainerOptions
    from reactorl.rl.vector.batch_log import BatchLog
    from reactorl.rl.vector.env import VectorEnv
    from reactorl.rl.vector.registration import make_vec, register_vector
    from reactorl.rl.wrappers.atari import AtariPreprocessing
    from reactorl.rl.wrappers.frame_stack import FrameStack
    from reactorl.rl.wrappers.life_loss import LifeLoss

__all__ = [
    "DQN",
    "IMPALA",
    "IPPO",
    "PPO",
    "SAC",
    "TD3",
    "ActInput",
    "ActOutput",
    "Algorithm",
    "AtariPreprocessing",
    "BatchLog",
    "Callback",
    "CheckpointError",
    "EarlyStopping",
    "EnvError",
    "Episode",
    "Evaluated",
    "Flow",
    "FlowError",
    "FlowRun",
    "FrameStack",
    "Iteration",
    "Learner",
    "LifeLoss",
    "Match",
    "MatchRun",
    "MultiAgentFlow",
    "MultiAgentIteration",
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
    "SB3VecEnv",
    "SharedStateError",
    "Spaces",
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

_MODULES: Final = {
    "adapters.ray_tune": ["tune_trainable"],
    "adapters.sb3": ["SB3VecEnv"],
    "algorithms.dqn": ["DQN"],
    "algorithms.impala": ["IMPALA"],
    "algorithms.ippo": ["IPPO"],
    "algorithms.networks.mlp": ["apply_mlp", "make_mlp"],
    "algorithms.ppo": ["PPO"],
    "algorithms.q_learning": ["QLearning"],
    "algorithms.registry": ["algorithm_names"],
    "algorithms.sac": ["SAC"],
    "algorithms.td3": ["TD3"],
    "algorithms.torch": ["TorchAlgorithm"],
    "checkpoint.file": ["CheckpointError", "read_checkpoint", "write_checkpoint"],
    "envs.errors": ["EnvError", "SharedStateError", "ThreadSafetyError"],
    "envs.native.choice": ["native_environments"],
    "flow.algorithm": ["ActInput", "ActOutput", "Algorithm", "FlowError", "Spaces"],
    "flow.evaluation": ["Evaluated", "PlayProgress"],
    "flow.flow": ["Flow", "FlowRun"],
    "flow.learner": ["Learner"],
    "flow.multi_agent": ["MultiAgentFlow", "MultiAgentIteration"],
    "flow.replay": ["Replay", "ReplayConfig"],
    "flow.rollout": ["Rollout"],
    "flow.task": ["Iteration", "Task"],
    "flow.trajectory": ["Episode", "Trajectory"],
    "multi_agent.inference": ["Match", "MatchRun"],
    "multi_agent.pettingzoo": ["ParallelRunner"],
    "multi_agent.vector": ["ParallelVectorEnv"],
    "presets.lookup": ["Preset", "find_preset", "list_presets", "preset"],
    "runs.callbacks": ["Callback", "EarlyStopping"],
    "runs.compare": ["compare_runs"],
    "runs.config": ["task_flags", "task_of"],
    "runs.directory": ["RunDirectory", "RunError", "runs_in"],
    "runs.plot": ["plot_runs"],
    "runs.result": ["TrainingResult"],
    "runs.session": ["TrainingSession"],
    "runs.trainer": ["Trainer", "TrainerOptions"],
    "vector.batch_log": ["BatchLog"],
    "vector.env": ["VectorEnv"],
    "vector.registration": ["make_vec", "register_vector"],
    "wrappers.atari": ["AtariPreprocessing"],
    "wrappers.frame_stack": ["FrameStack"],
    "wrappers.life_loss": ["LifeLoss"],
}
_HOMES: Final = {name: module for module, names in _MODULES.items() for name in names}
_EXTRAS: Final = {
    "cloudpickle": "rl",
    "gymnasium": "rl",
    "numpy": "rl",
    "pettingzoo": "pettingzoo",
    "ray": "tune",
    "stable_baselines3": "sb3",
}
"""Which extra installs a package; all others come with ``train``."""


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    try:
        module = import_module(f"{__name__}.{_HOMES[name]}")
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package in ("", "reactorl"):
            raise
        extra = _EXTRAS.get(package, "train")
        how = "torch" if package == "torch" else f"'reactorl[{extra}]'"
        msg = f"{__name__}.{name} needs {package}: pip install {how}"
        raise ImportError(msg, name=package) from error
    value: object = getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
