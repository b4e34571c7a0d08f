# SPDX-License-Identifier: Apache-2.0
"""``reactorl eval``: evaluate the weights of a run."""

from __future__ import annotations

import argparse
import io
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reactorl._util.status_line import StatusLine
from reactorl.cli.commands.train import NEEDED, import_from_here
from reactorl.cli.support.errors import fail, missing, reason

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reactorl.rl import RunDirectory

DESCRIPTION = """\
Play episodes greedily with the weights of a run, and print their returns. With
--capture-video, write each episode as a GIF into the run's directory.
"""
EPILOG = """\
examples:
  reactorl eval runs/CartPole-v1__dqn__1__1700000000
  reactorl eval runs/mine --episodes 3 --capture-video

exit status: 0, or 2 if there is no such run or it cannot be evaluated.
"""
SEED = 3_000_000
"""Not used by training, evaluation or the final evaluation."""


def add_to(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the parser of this command."""
    parser = subparsers.add_parser(
        "eval",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("run", type=Path, metavar="RUN", help="the run's directory")
    parser.add_argument(
        "--episodes",
        type=_count,
        default=20,
        metavar="N",
        help="number of episodes (default: 20)",
    )
    parser.add_argument(
        "--seed",
        type=_seed,
        default=SEED,
        metavar="N",
        help="seed of the first environment (default: %(default)s)",
    )
    parser.add_argument(
        "--eval-max-steps",
        type=_count,
        metavar="N",
        help="steps after which an episode is cut (default: that of the run)",
    )
    parser.add_argument(
        "--capture-video",
        action="store_true",
        help="write each episode as a GIF into RUN/videos",
    )
    parser.set_defaults(command=command)


def command(args: argparse.Namespace) -> int:
    """Evaluate; return the exit status."""
    lacking = missing(NEEDED, "eval")
    if lacking:
        return fail(lacking)
    import gymnasium as gym

    from reactorl.rl import CheckpointError, FlowError, RunDirectory, RunError

    try:
        return _play(RunDirectory.open(args.run), args)
    except (FlowError, CheckpointError, RunError) as error:
        return fail(error)
    except gym.error.DependencyNotInstalled as error:
        return fail(f"rendering the environment failed: {error}")
    except OSError as error:
        return fail(reason(error, args.run), 1)


def _play(run: RunDirectory, args: argparse.Namespace) -> int:
    from reactorl.rl import read_checkpoint, task_of

    import_from_here()
    task = task_of(run)
    saved = read_checkpoint(run.checkpoint, task).data
    if args.eval_max_steps is not None:
        task = replace(task, eval_max_steps=args.eval_max_steps)
    film = Film(run.path / "videos") if args.capture_video else None
    with StatusLine() as line:
        episodes = task.play(
            task.trained_weights(saved),
            episodes=args.episodes,
            seed=args.seed,
            watch=None if film is None else film.take,
            report=lambda done: line.show(f"evaluation: {done}"),
        )
    returns = [episode.episode_return for episode in episodes]
    steps = int(saved["round"]) * task.steps_per_iteration
    print(f"{run.path} after {steps:,} steps: {len(returns)} episodes")
    print(f"  return  {_spread(returns)}")
    by_agent: dict[str, list[float]] = {}
    for episode in episodes:
        for agent, value in episode.by_agent:
            by_agent.setdefault(agent, []).append(value)
    width = max(map(len, by_agent), default=0)
    for agent, mine in by_agent.items():
        print(f"    {agent:<{width}}  {_spread(mine)}")
    lengths = [episode.length for episode in episodes]
    print(f"  length  mean {sum(lengths) / len(lengths):.6g}")
    cut = task.cut_text(episodes)
    if cut:
        print(f"  cut     {cut}")
    if film is not None:
        film.save(lengths)
        print(f"  videos  {film.directory}")
    return 0


def _spread(values: Sequence[float]) -> str:
    mean = sum(values) / len(values)
    return f"mean {mean:.6g}, min {min(values):g}, max {max(values):g}"


class Film:
    """Rendered frames of one environment."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._frames: list[Any] = []
        self._pause = 33

    def take(self, env: Any) -> None:  # noqa: ANN401
        """Render a frame."""
        picture = env.render()
        if getattr(picture, "ndim", 0) != 3:
            from reactorl.rl import FlowError

            msg = (
                f"render() of {env} must return an image, got {type(picture).__name__}"
            )
            raise FlowError(msg, "Leave --capture-video out.")
        self._frames.append(picture)
        fps = env.metadata.get("render_fps") or 30
        self._pause = max(20, round(1000 / fps))  # viewers show no shorter ones

    def save(self, lengths: list[int]) -> None:
        """Write episodes of these lengths, each as a file."""
        from PIL import Image

        from reactorl._util.files import write_atomic

        self.directory.mkdir(exist_ok=True)
        frames = iter(self._frames)
        for number, length in enumerate(lengths):
            # An episode has one frame more than steps: the last state.
            first, *rest = (Image.fromarray(next(frames)) for _ in range(length + 1))

            picture = io.BytesIO()
            first.save(
                picture,
                format="GIF",
                save_all=True,
                append_images=rest,
                duration=self._pause,
            )
            write_atomic(
                self.directory / f"episode-{number:03}.gif", picture.getbuffer()
            )


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        msg = f"must be an integer of at least 1, got '{text}'"
        raise argparse.ArgumentTypeError(msg)
    return int(text)


def _seed(text: str) -> int:
    if not (text.isascii() and text.isdecimal()):
        msg = f"must be an integer of 0 or more, got '{text}'"
        raise argparse.ArgumentTypeError(msg)
    return int(text)
