# SPDX-License-Identifier: Apache-2.0
"""Write digests of programs and short trainings, to compare two builds of the package.

Run by an interpreter that has the package; writes JSON::

    python tools/wheel_digests.py FILE

Digests of ``program`` and ``vector`` depend on this package, Gymnasium and NumPy,
those of ``train`` on JAX and optax as well. Digests whose packages are not installed
are left out.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import reactorl
import reactorl._core
from reactorl import msec, run
from reactorl.cli.doctor import selfcheck

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reactorl.rl import Algorithm

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
PACKAGES = ("gymnasium", "jax", "jaxlib", "numpy", "optax")
WORKERS = (1, 2)


def programs() -> Iterator[tuple[str, str]]:
    """Yield names and digests of reactor programs, in Python and in LF."""
    for number, digest in enumerate(selfcheck.digests()):
        yield f"program selfcheck {number}", str(digest)
    import reactorl.lf

    pipeline = reactorl.lf.load(EXAMPLES / "lf" / "pipeline.lf")
    main = next(one for one in vars(pipeline).values() if _is_main(one))
    for workers in WORKERS:
        found = run(
            main, workers=workers, seed=2, fast=True, timeout=msec(50), trace="values"
        )
        yield f"program pipeline.lf {workers} workers", str(found.digest)


def _is_main(value: object) -> bool:
    return isinstance(value, type) and value.__name__.lower() == "pipeline"


def vectors() -> Iterator[tuple[str, str]]:
    """Yield names and digests of steps of vector environments and resized images."""
    import numpy as np

    from reactorl.rl import VectorEnv
    from reactorl.rl.wrappers.resize import AreaResize

    for env_id in ("CartPole-v1", "Pendulum-v1", "FrozenLake-v1"):
        for placement in ("thread", "process"):
            for workers in WORKERS:
                envs = VectorEnv(
                    env_id, num_envs=4, workers=workers, placement=placement
                )
                digest = hashlib.sha256()
                observations, _ = envs.reset(seed=3)
                digest.update(observations.tobytes())
                envs.action_space.seed(4)
                for _ in range(200):
                    for array in envs.step(envs.action_space.sample())[:4]:
                        digest.update(np.ascontiguousarray(array).tobytes())
                envs.close()
                name = f"vector {env_id} {placement} {workers} workers"
                yield name, digest.hexdigest()
    image = (np.arange(210 * 160 * 3, dtype=np.uint32) * 2654435761 >> 13).astype("u1")
    resized = AreaResize((210, 160, 3), (84, 84))(image.reshape(210, 160, 3))
    yield "vector resize", hashlib.sha256(resized.tobytes()).hexdigest()


def trainings() -> Iterator[tuple[str, str]]:
    """Yield names and digests of the weights of short trainings."""
    from reactorl.rl import DQN, PPO, Flow, QLearning, Trainer

    tasks: dict[str, tuple[str, Algorithm]] = {
        "q-learning": (
            "FrozenLake-v1",
            QLearning(total_timesteps=2_000, num_envs=2),
        ),
        "ppo": (
            "CartPole-v1",
            PPO(total_timesteps=1_024, num_envs=4, num_steps=64, hidden=(16,)),
        ),
        "dqn": (
            "CartPole-v1",
            DQN(total_timesteps=1_000, num_envs=2, learning_starts=200, hidden=(16,)),
        ),
    }
    for name, (env_id, algorithm) in tasks.items():
        with tempfile.TemporaryDirectory() as directory:
            task = Flow(env_id, algorithm, seed=5)
            place = Path(directory, "run")
            result = Trainer(task, place, final_episodes=0, progress=False).fit()
            yield f"train {name}", result.digest


def collect() -> dict[str, object]:
    """Return the digests, and the versions of packages that they depend on."""
    digests = dict(programs())
    versions = {name: metadata.version(name) for name in PACKAGES if find_spec(name)}
    if "gymnasium" in versions and find_spec("cloudpickle"):
        digests |= vectors()
        needed = ("matplotlib", "optax", "jax")
        if all(find_spec(name) for name in needed):
            digests |= trainings()
    return {
        "extension": reactorl._core.__file__,
        "package": reactorl.__file__,
        "packages": versions,
        "digests": digests,
    }


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps(collect(), indent=2) + "\n")
