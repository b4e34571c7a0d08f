# SPDX-License-Identifier: Apache-2.0
"""Stable-Baselines3 on our vector environment, with bit-identical weights.

``SB3VecEnv`` is a ``VecEnv`` that steps environments on all cores, in threads or in
processes. PPO learns the same weights on it as on SB3's own ``DummyVecEnv``, for any
number of workers.

Run it: ``python examples/sb3_vector.py`` (needs ``reactorl[sb3]``)
"""

import torch
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import VecEnv

from reactorl.rl import SB3VecEnv

STEPS = 1024


def learn(envs: VecEnv) -> dict[str, torch.Tensor]:
    """Return PPO's weights after a few updates."""
    torch.manual_seed(1)
    model = PPO("MlpPolicy", envs, n_steps=64, seed=1, device="cpu")
    model.learn(STEPS)
    envs.close()
    weights: dict[str, torch.Tensor] = model.policy.state_dict()
    return weights


def main() -> None:
    """Train on SB3's environments and on ours, and compare the weights."""
    torch.set_num_threads(1)
    theirs = learn(make_vec_env("CartPole-v1", n_envs=8))
    print(f"PPO, {STEPS} steps on 8 environments, {len(theirs)} arrays of weights")
    for placement, workers in (("thread", 1), ("thread", 2), ("process", 2)):
        ours = learn(
            SB3VecEnv("CartPole-v1", num_envs=8, placement=placement, workers=workers)
        )
        same = all(torch.equal(ours[name], theirs[name]) for name in theirs)
        print(f"{placement}, {workers} workers: same as DummyVecEnv: {same}")


if __name__ == "__main__":
    main()
