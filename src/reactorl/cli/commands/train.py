# SPDX-License-Identifier: Apache-2.0
"""``reactorl train``: train an algorithm, with CleanRL's flags."""

from __future__ import annotations

import argparse
import signal
import sys
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reactorl._util.interrupts import remembered_interrupts
from reactorl.cli.support.console import say
from reactorl.cli.support.dataclass_flags import FlagError, Flags
from reactorl.cli.support.errors import explained, fail, missing
from reactorl.cli.support.streams import discard_stdout, repair_streams

if TYPE_CHECKING:
    from reactorl.cli.support.parser import Parser
    from reactorl.rl import Preset, Trainer

DESCRIPTION = """\
Train an algorithm on an environment. The run gets a directory in runs/ with its
configuration, metrics (metrics.csv, and for TensorBoard), newest checkpoint,
learning curve, and a report (report.html).

algorithms:
  dqn         discrete actions; double, dueling, n-step, prioritized replay
  impala      discrete or continuous actions; V-trace, for pipelined training
  ippo        several agents, each with PPO (PettingZoo)
  ppo         discrete or continuous actions
  q-learning  finite observation and action spaces; a table
  sac         continuous actions; entropy coefficient tuned by itself
  td3         continuous actions; deterministic policy, delayed updates

'reactorl train dqn --help' explains all flags of DQN, with their defaults.
"""
EPILOG = """\
examples:
  reactorl train dqn --env-id CartPole-v1 --seed 1 --workers 2
  reactorl train ppo --env-id Pendulum-v1 --gamma 0.9
  reactorl train sac --env-id HalfCheetah-v5 --total-timesteps 1000000
  reactorl train ippo --env-id mpe2.simple_spread_v3
  reactorl train ppo --env-id LunarLander-v3    with the preset for it
  reactorl train --list-presets                 tuned settings by environment
  reactorl train dqn --dashboard                watch it in a browser
  reactorl train impala --nodes ray             on all nodes of a Ray cluster
  reactorl train dqn --resume runs/CartPole-v1__dqn__1__1700000000

exit status: 0 when the training is complete; 130 after Ctrl-C, 143 after
SIGTERM and 129 after SIGHUP (a checkpoint was written); 2 if the flags or the
run are wrong; 1 if the training failed.
"""
LIST_PRESETS = "--list-presets"
NEEDED = ("numpy", "gymnasium", "jax", "optax", "cyclopts", "rich", "matplotlib")
GROUPS = {
    "environment": (
        "env_id", "env_kwargs", "wrappers", "time_limit", "frame_stack",
        "preprocessing", "life_loss", "clip_rewards", "num_envs", "norm_obs",
        "norm_reward", "reward_scale", "placement", "env_timeout", "env_restart",
        "native",
    ),
    "training": ("total_timesteps", "seed", "num_steps", "rollouts", "lag"),
    "optimization": (
        "learning_rate", "anneal_lr", "learning_rate_decay", "update_epochs",
        "num_minibatches", "max_grad_norm", "policy_lr", "q_lr", "train_frequency",
        "gradient_steps", "policy_frequency", "tau", "target_network_frequency",
        "learning_starts",
    ),
    "network": (
        "network", "hidden", "activation", "shared_trunk", "recurrent",
        "recurrent_size", "dueling",
    ),
    "exploration": ("start_e", "end_e", "exploration_fraction", "exploration_noise",
        "noise_persistence"),
    "replay buffer": ("buffer_size", "batch_size", "priority", "n_step"),
    "evaluation": ("eval_every", "eval_episodes", "eval_max_steps", "final_episodes"),
    "run": (
        "workers", "federates", "restarts", "nodes", "ray_address", "cpus_per_federate",
        "python", "mixed", "runs_dir", "resume", "preset",
        "checkpoint_every", "trace", "timing", "dashboard", "progress",
    ),
    "Weights & Biases": ("track", "wandb_project_name", "wandb_entity"),
}  # fmt: skip
"""Groups of flags in the help; the others are in a group named after the algorithm."""


@dataclass(frozen=True, kw_only=True)
class StartFlags:
    """The flags that say where the defaults of the others come from."""

    preset: bool = True
    """Apply the preset for the environment, if there is one: tuned settings instead of
    the defaults of flags that are not given. 'reactorl train --list-presets' lists
    them."""
    resume: Path | None = None
    """Directory of a run to resume from its newest checkpoint; other flags default to
    those of that run."""


def add_to(subparsers: argparse._SubParsersAction[Parser]) -> None:
    """Add the parser of this command."""
    parser = subparsers.add_parser(
        "train",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.unknown_option_help = (
        "Flags of an algorithm follow its name, as in 'reactorl train ppo --seed 2'."
    )
    parser.add_argument(
        LIST_PRESETS,
        action="store_true",
        help="list tuned settings, by algorithm and environment, and exit",
    )
    parser.add_argument(
        "algorithm", nargs="?", metavar="ALGORITHM", help="one of the above"
    )
    flags = parser.add_argument(
        "flags", nargs=argparse.REMAINDER, metavar="FLAGS", help="its flags"
    )
    flags.required = False  # so that no message calls it missing
    parser.set_defaults(command=command, error=parser.error)


def command(args: argparse.Namespace) -> int:
    """Train; return the exit status."""
    with remembered_interrupts():
        return _train(args)


def _train(args: argparse.Namespace) -> int:
    if args.list_presets or LIST_PRESETS in args.flags:
        return list_presets(args.algorithm)
    if args.algorithm is None:
        args.error("the following arguments are required: ALGORITHM")
    lacking = missing(NEEDED, "train")
    if lacking:
        return fail(lacking)
    from reactorl import ReactorlError
    from reactorl.rl import CheckpointError, FlowError, RunError

    name = args.algorithm
    import_from_here()
    try:
        result = trainer_of(name, args.flags).fit()
    except FlagError as error:
        return fail(error, prog=f"reactorl train {name}")
    except (FlowError, CheckpointError, RunError) as error:
        return fail(error)
    except OSError as error:
        if error.filename is None and not getattr(error, "__notes__", ()):
            raise  # of the output
        reason = (error.strerror or str(error)).lower()
        return fail(
            f"writing {error.filename} failed: {reason}. {_how_to_resume(error)}", 1
        )
    except ReactorlError as error:
        say(*explained(error))
        return fail(f"the training failed. {_how_to_resume(error)}", 1)
    repair_streams()  # an environment may have closed them
    try:
        print(result.summary(), flush=True)
    except OSError:
        if result.signal != signal.SIGHUP:
            raise
        discard_stdout()  # the terminal was closed
    if result.trace_error is not None:
        reason = result.trace_error.strerror or ""
        return fail(f"writing the trace failed: {reason}", 1)
    return 0 if result.signal is None else 128 + result.signal


def _how_to_resume(error: Exception) -> str:
    """Return the note of the trainer, which is the last one."""
    notes: list[str] = getattr(error, "__notes__", [""])
    return notes[-1]


def trainer_of(name: str, flags: list[str]) -> Trainer:
    """Return the trainer that flags describe.

    Raises:
        FlagError: A flag is wrong.
        FlowError: A value is invalid.
        RunError: The run to resume cannot be used.
        SystemExit: A flag asks for help (status 0).
    """
    from reactorl.rl import Trainer, find_preset

    plain = flags_of(name)
    given = plain.given(flags)
    run: Path | None = given.get("resume")
    preset: Preset | None = None
    if run is None and given.get("preset", True):
        env_id = given.get("env_id", plain.defaults[0].env_id)
        preset = find_preset(name, env_id)
    environment, options, algorithm, how, _ = flags_of(name, run, preset).parse(flags)
    named = {} if preset is None else {"preset": preset.name}
    task = algorithm.task(environment.env_id, **_values(options), **named)
    if preset is not None:
        say(f"preset: {preset.without(given)}\n")
    line = ["reactorl", "train", name, *flags]
    return Trainer(task, run, resume=run is not None, command=line, **_values(how))


def list_presets(algorithm: str | None = None) -> int:
    """Print the presets, those of one algorithm if it is given."""
    from reactorl.rl import list_presets

    found = list_presets()
    if algorithm is not None:
        found = [one for one in found if one.name.startswith(f"{algorithm}/")]
    for one in found:
        print(f"{one}\n  tried on: {one.tried}\n  source:   {one.source}")
    sys.stdout.flush()
    return 0


def flags_of(name: str, run: Path | None = None, preset: Preset | None = None) -> Flags:
    """Return the flags of an algorithm.

    Args:
        name: Of the algorithm.
        run: The run whose settings are the defaults; None: those of the algorithm.
        preset: Settings that replace defaults.

    Raises:
        FlowError: There is no such algorithm.
        RunError: The run is of another algorithm, or its settings cannot be used.
    """
    from reactorl.rl import TrainerOptions, task_flags

    defaults = [*task_flags(name, run, preset), TrainerOptions(), StartFlags()]
    about = (type(defaults[2]).__doc__ or "").splitlines()[0]
    return Flags(f"reactorl train {name}", about, defaults, GROUPS, name)


def import_from_here() -> None:
    """Let an environment be in a module of the current directory, after all others."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)


def _values(options: Any) -> dict[str, Any]:  # noqa: ANN401
    return {one.name: getattr(options, one.name) for one in fields(options)}
