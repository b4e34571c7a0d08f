# SPDX-License-Identifier: Apache-2.0
"""``reactorl train``: train an algorithm, with CleanRL's flags."""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, fields
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reactorl.cli.support.arguments import FlagError, Flags
from reactorl.cli.support.errors import fail, missing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reactorl.rl.algorithms.settings import Settings
    from reactorl.rl.runs.directory import RunDirectory

DESCRIPTION = """\
Train an algorithm on an environment. The run gets a directory in runs/ for its
configuration, its numbers (metrics.csv, and for TensorBoard), its newest
checkpoint, its curve, and a report to look at (report.html).

algorithms:
  dqn         a few actions; double, target network, prioritised replay
  impala      a few actions, or arrays of numbers; made for a lag
  ippo        several agents, each with PPO (PettingZoo)
  ppo         a few actions, or arrays of numbers
  q-learning  a few states and actions, with a table

'reactorl train dqn --help' explains all flags of DQN, with their defaults.
"""
EPILOG = """\
examples:
  reactorl train dqn --env-id CartPole-v1 --seed 1 --workers 2
  reactorl train ppo --env-id Pendulum-v1 --gamma 0.9
  reactorl train ippo --env-id mpe2.simple_spread_v3
  reactorl train dqn --dashboard                watch it in a browser
  reactorl train dqn --resume runs/CartPole-v1__dqn__1__1700000000

exit status: 0 when the training is over, 130 after Ctrl-C (a checkpoint was
written), 2 if something is wrong with the flags or the run, 1 if the training
failed.
"""
NEEDED = (
    "numpy", "gymnasium", "jax", "optax", "cyclopts", "rich", "tensorboardX",
    "matplotlib",
)  # fmt: skip
GROUPS = {
    "environment": (
        "env_id", "num_envs", "norm_obs", "reward_scale", "placement", "env_timeout",
        "env_restart",
    ),
    "training": ("total_timesteps", "seed", "num_steps", "rollouts", "lag"),
    "optimization": (
        "learning_rate", "anneal_lr", "learning_rate_decay", "update_epochs",
        "num_minibatches", "max_grad_norm", "train_frequency",
        "target_network_frequency", "learning_starts",
    ),
    "network": ("hidden",),
    "exploration": ("start_e", "end_e", "exploration_fraction"),
    "replay buffer": ("buffer_size", "batch_size", "priority"),
    "evaluation": ("eval_every", "eval_episodes", "final_episodes"),
    "run": (
        "workers", "runs_dir", "resume", "checkpoint_every", "trace", "timing",
        "dashboard",
    ),
    "Weights & Biases": ("track", "wandb_project_name", "wandb_entity"),
}  # fmt: skip
"""Groups of flags in the help; the others are in a group named after the algorithm."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """How to train; nothing here changes what is learned."""

    workers: int | None = None
    """How many threads; by default as many as help."""
    runs_dir: Path = Path("runs")
    """Where the directory of the run is made."""
    resume: Path | None = None
    """The directory of a run to go on with, from its newest checkpoint; other flags
    are then as they were."""
    checkpoint_every: int = 10_000
    """How many steps from one checkpoint to the next; there is one at the end, too."""
    final_episodes: int = 100
    """How many episodes to play at the end for the final score; 0: none."""
    trace: bool = False
    """Whether to keep what happened in the run's directory, for 'reactorl diff'; takes
    memory for every round, and time for telling arrays apart."""
    timing: bool = False
    """Whether to measure how long reactions take, for 'reactorl trace RUN'."""
    dashboard: bool = False
    """Whether to serve a page that shows the training, for this machine only; the link
    is said at the start."""
    track: bool = False
    """Whether to send the numbers to Weights & Biases (pip install wandb), too."""
    wandb_project_name: str = "reactorl"
    """The project there."""
    wandb_entity: str | None = None
    """The team there."""


def add_to(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the parser of this command."""
    parser = subparsers.add_parser(
        "train",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("algorithm", metavar="ALGORITHM", help="one of the above")
    flags = parser.add_argument(
        "flags", nargs=argparse.REMAINDER, metavar="FLAGS", help="its flags"
    )
    flags.required = False  # nor does any message say so
    parser.set_defaults(command=command)


def command(args: argparse.Namespace) -> int:
    """Train; return the exit status."""
    lacking = missing(NEEDED, "train")
    if lacking:
        return fail(lacking)
    from reactorl.cli.support.training import train
    from reactorl.rl import CheckpointError, FlowError
    from reactorl.rl.algorithms.registry import settings_of
    from reactorl.rl.runs.directory import RunDirectory, RunError

    reach_modules_here()
    try:
        cls = settings_of(args.algorithm)
        settings, options = parsed(args.algorithm, cls(), args.flags)
        resumed = None
        if options.resume is not None:
            resumed = RunDirectory.open(options.resume)
            before = saved_settings(resumed, args.algorithm, cls)
            settings, options = parsed(args.algorithm, before, args.flags)
        line = ["reactorl", "train", args.algorithm, *args.flags]
        return train(args.algorithm, settings, options, resumed, line)
    except FlagError as error:
        return fail(error, prog=f"reactorl train {args.algorithm}")
    except (FlowError, CheckpointError, RunError) as error:
        return fail(error)


def parsed(name: str, default: Settings, flags: Sequence[str]) -> list[Any]:
    """Return the settings and the options; values not given are as in ``default``.

    Raises:
        FlagError: A flag is wrong.
        SystemExit: A flag asks for help (status 0).
    """
    return flags_of(name, default).parse(flags)


def flags_of(name: str, default: Settings) -> Flags:
    """Return the flags of an algorithm."""
    about = (type(default).__doc__ or "").splitlines()[0]
    prog = f"reactorl train {name}"
    return Flags(prog, about, (default, Options()), GROUPS, name)


def reach_modules_here() -> None:
    """Let an environment be in a module of the current directory, after all others."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)


def saved_settings(run: RunDirectory, algorithm: str, cls: type[Settings]) -> Settings:
    """Return the settings of an earlier run.

    Raises:
        RunError: It is of another algorithm, or has other settings.
    """
    from reactorl.rl import RunError

    if run.config["algorithm"] != algorithm:
        what = f"this is a run of {run.config['algorithm']}, not of {algorithm}"
        raise RunError(run.path, what, "Go on with the algorithm it was begun with.")
    reach_modules_here()
    known = {f.name: f.default for f in fields(cls)}
    values = run.config["settings"]
    if values.keys() != known.keys():
        other = ", ".join(sorted(values.keys() ^ known.keys()))
        what = f"the settings are of another version of reactorl ({other})"
        raise RunError(run.path, what, "Begin a new run.")
    given: dict[str, Any] = {
        name: tuple(value) if isinstance(known[name], tuple) else value
        for name, value in values.items()
    }
    return cls(**given)


def check_options(options: Options) -> None:
    """Refuse what cannot be done.

    Raises:
        FlowError: Something cannot.
    """
    from reactorl.rl import FlowError

    if options.workers is not None and options.workers < 1:
        msg = f"--workers is {options.workers}"
        raise FlowError(msg, "It is 1 or more.")
    if options.checkpoint_every < 1:
        msg = f"--checkpoint-every is {options.checkpoint_every}"
        raise FlowError(msg, "It is 1 or more.")
    if options.track and find_spec("wandb") is None:
        msg = "--track needs Weights & Biases, which is not installed"
        raise FlowError(msg, "Install it (pip install wandb), or leave --track out.")


def tracked(options: Options, settings: Settings, name: str) -> Any:  # noqa: ANN401
    """Return a run of Weights & Biases, if it is wanted."""
    if not options.track:
        return None
    import wandb

    from reactorl.rl.checkpoint.identity import described

    return wandb.init(
        project=options.wandb_project_name,
        entity=options.wandb_entity,
        config=described(settings),
        name=name,
    )
