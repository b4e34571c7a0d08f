# SPDX-License-Identifier: Apache-2.0
"""``reactorl eval``: play episodes with what a run has learned."""

from __future__ import annotations

import argparse
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reactorl.cli.commands.train import NEEDED, saved_settings
from reactorl.cli.support.errors import fail, missing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reactorl.rl.runs.directory import RunDirectory

DESCRIPTION = """\
Play episodes with what a run has learned, without exploring, and say what they
came to. With --capture-video each becomes a picture that moves, in the run's
directory.
"""
EPILOG = """\
examples:
  reactorl eval runs/CartPole-v1__dqn__1__1700000000
  reactorl eval runs/mine --episodes 3 --capture-video

exit status: 0, or 2 if there is no such run or it cannot be played.
"""
SEED = 3_000_000
"""Where seeds begin that nothing else plays."""


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
        help="how many (default: 20)",
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=SEED,
        metavar="N",
        help="of the first episode (default: %(default)s)",
    )
    parser.add_argument(
        "--capture-video",
        action="store_true",
        help="keep each episode as a GIF in RUN/videos",
    )
    parser.set_defaults(command=command)


def command(args: argparse.Namespace) -> int:
    """Play; return the exit status."""
    lacking = missing(NEEDED, "eval")
    if lacking:
        return fail(lacking)
    import gymnasium as gym

    from reactorl.rl import CheckpointError, FlowError
    from reactorl.rl.runs.directory import RunDirectory, RunError

    try:
        return _play(RunDirectory.open(args.run), args)
    except (FlowError, CheckpointError, RunError) as error:
        return fail(error)
    except gym.error.DependencyNotInstalled as error:
        return fail(f"the environment cannot be drawn: {error}")
    except OSError as error:
        return fail(
            f"{error.filename or args.run}: {(error.strerror or '').lower()}", 1
        )


def _play(run: RunDirectory, args: argparse.Namespace) -> int:
    from reactorl.rl.algorithms.registry import settings_of
    from reactorl.rl.checkpoint.file import read_checkpoint

    name = run.config["algorithm"]
    flow = saved_settings(run, name, settings_of(name)).flow()
    saved = read_checkpoint(run.checkpoint, flow).data
    film = Film(run.path / "videos") if args.capture_video else None
    episodes = flow.play(
        flow.learned(saved),
        episodes=args.episodes,
        seed=args.seed,
        watch=None if film is None else film.take,
    )
    scores = [episode.score for episode in episodes]
    steps = int(saved["round"]) * flow.steps_per_round
    print(f"{run.path} after {steps:,} steps: {len(scores)} episodes")
    print(f"  return  {_spread(scores)}")
    by_agent: dict[str, list[float]] = {}
    for episode in episodes:
        for agent, score in episode.by_agent:
            by_agent.setdefault(agent, []).append(score)
    width = max(map(len, by_agent), default=0)
    for agent, mine in by_agent.items():
        print(f"    {agent:<{width}}  {_spread(mine)}")
    lengths = [episode.length for episode in episodes]
    print(f"  length  mean {sum(lengths) / len(lengths):.6g}")
    if film is not None:
        film.save(lengths)
        print(f"  videos  {film.directory}")
    return 0


def _spread(values: Sequence[float]) -> str:
    mean = sum(values) / len(values)
    return f"mean {mean:.6g}, least {min(values):g}, most {max(values):g}"


class Film:
    """Pictures of one environment, in order."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._frames: list[Any] = []
        self._pause = 33

    def take(self, env: Any) -> None:  # noqa: ANN401
        """Take a picture of it as it is."""
        picture = env.render()
        if getattr(picture, "ndim", 0) != 3:
            from reactorl.rl import FlowError

            msg = f"{env} shows no picture but {type(picture).__name__}"
            raise FlowError(msg, "Leave --capture-video out.")
        self._frames.append(picture)
        fps = env.metadata.get("render_fps") or 30
        self._pause = max(20, round(1000 / fps))  # viewers show none shorter

    def save(self, lengths: list[int]) -> None:
        """Keep episodes of these lengths, each as a file."""
        from PIL import Image

        from reactorl._util.files import write_atomic

        self.directory.mkdir(exist_ok=True)
        frames = iter(self._frames)
        for number, length in enumerate(lengths):
            # An episode has one picture more than steps: where it ended.
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
        msg = f"'{text}' is not a number from 1"
        raise argparse.ArgumentTypeError(msg)
    return int(text)
