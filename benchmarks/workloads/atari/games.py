# SPDX-License-Identifier: Apache-2.0
"""The games, raw and with the usual preprocessing.

A raw game is that of the paper, ``Pong-v4``: an action is repeated for 2 to 4 frames at
random, and the observation is the screen in colour. With preprocessing it is repeated
for 4 frames, and the observation is a stack of four frames, 84x84 in grey. Nothing is
random then, neither no-op frames at the start nor sticky actions, so that engines with
other random numbers still play the same games.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchmarks.harness.engine import Engine

FRAMES = 4
STACKED = 4
SIZE = 84
STICKY = 0.0
NOOPS = 0
OURS, GYMNASIUM = "ours", "gymnasium"


def prepared_for(params: dict[str, Any], engine: Engine) -> dict[str, Any]:
    """Return params with the wrapper that preprocesses frames.

    Ours for our engines, for upper bounds, and on free-threaded CPython, for which
    OpenCV, which Gymnasium's needs, has no wheel. All others use Gymnasium's.
    """
    ours = engine.name.startswith(("ours", "free")) or engine.python == "ft"
    return {**params, "wrapper": OURS if ours else GYMNASIUM}


def make_game(params: dict[str, Any]) -> Any:  # noqa: ANN401
    """Return a game."""
    import ale_py
    import gymnasium

    gymnasium.register_envs(ale_py)
    make = partial(
        gymnasium.make,
        f"ALE/{params['game']}-v5",
        repeat_action_probability=STICKY,
        full_action_space=False,
    )
    if not params["prepared"]:
        return make(frameskip=(2, 5))
    preparation: Any
    stack: Any
    if params["wrapper"] == OURS:
        from reactorl.rl import AtariPreprocessing as preparation
        from reactorl.rl import FrameStack as stack
    else:
        from gymnasium.wrappers import AtariPreprocessing as preparation
        from gymnasium.wrappers import FrameStackObservation as stack
    game = preparation(
        make(frameskip=1), noop_max=NOOPS, frame_skip=FRAMES, screen_size=SIZE
    )
    # Zeros before the first frame, as AtariVectorEnv has them.
    return stack(game, STACKED, padding_type="zero")
