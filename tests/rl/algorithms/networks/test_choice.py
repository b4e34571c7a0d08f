# SPDX-License-Identifier: Apache-2.0
"""Which network is chosen, and networks of the user."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from reactorl.cli.main import main
from reactorl.rl import PPO, FlowError, RunDirectory, task_of
from reactorl.rl.algorithms.networks.choice import choose_network
from reactorl.rl.algorithms.networks.cnn import NATURE_CNN, SMALL_CNN, ImpalaCNN
from reactorl.rl.algorithms.networks.mlp import MLP, apply_mlp, make_mlp
from reactorl.rl.checkpoint.identity import described
from tests.rl.contract.tasks import PPO_TASK
from tests.rl.trained import bits, trained, tuned

if TYPE_CHECKING:
    from pathlib import Path


def chosen(network: str, shape: tuple[int, ...]) -> Any:
    return choose_network(network, shape, (8,), "tanh")


@pytest.mark.parametrize(
    ("shape", "network"),
    [
        ((84, 84, 4), NATURE_CNN),
        ((4, 84, 84), NATURE_CNN),
        ((36, 40), NATURE_CNN),
        ((10, 10, 6), SMALL_CNN),
        ((7, 7, 3), SMALL_CNN),
        ((35, 84, 3), SMALL_CNN),
        ((4, 9, 3), MLP((8,), "tanh")),
        ((20, 20), MLP((8,), "tanh")),
        ((128,), MLP((8,), "tanh")),
        ((), MLP((8,), "tanh")),
    ],
)
def test_the_shape_of_observations_chooses_the_network(
    shape: tuple[int, ...], network: Any
) -> None:
    assert chosen("auto", shape) == network


def test_a_name_chooses_the_network() -> None:
    assert chosen("mlp", (84, 84, 4)) == MLP((8,), "tanh")
    assert chosen("impala-cnn", (84, 84, 4)) == ImpalaCNN()
    assert chosen("small-cnn", (84, 84, 4)) == SMALL_CNN


def test_layers_with_a_head_are_those_of_an_mlp() -> None:
    def generator() -> Any:
        return np.random.Generator(np.random.PCG64(3))

    network = MLP((8, 6), "tanh")
    rows = generator().standard_normal((5, 4)).astype(np.float32)

    params = network.init_with_head(generator(), (4,), 2, 0.01)

    due = make_mlp(generator(), (4, 8, 6, 2), last_scale=0.01)
    assert bits(params) == bits(due)
    found = network.apply_with_head(params, rows, np)
    assert bits(found) == bits(apply_mlp(due, rows, np, "tanh"))


# -- networks of the user -----------------------------------------------------------


def gated(shape: tuple[int, ...]) -> tuple[Any, Any]:
    size = int(np.prod(shape))

    def init(random: Any) -> Any:
        draw = random.standard_normal((2, size, 5)).astype(np.float32)
        return {"value": draw[0], "gate": draw[1]}

    def apply(params: Any, rows: Any) -> Any:
        rows = rows.reshape(len(rows), -1)
        gate = jax.nn.sigmoid(rows @ params["gate"])
        return gate * jnp.tanh(rows @ params["value"])

    return init, apply


NAME = f"{__name__}:gated"


def test_a_function_and_its_name_are_the_same_network() -> None:
    assert PPO(network=gated) == PPO(network=NAME)
    assert described(PPO(network=gated))["network"] == NAME
    named = tuned(PPO_TASK, network=NAME)

    weights, iterations = trained(named, workers=1)

    assert trained(tuned(PPO_TASK, network=gated), workers=2) == (weights, iterations)
    with named.start() as run:
        trunk = run.weights["trunk"][0]
    assert {name: leaf.shape for name, leaf in trunk.items()} == {
        "value": (4, 5),
        "gate": (4, 5),
    }


def test_a_function_without_a_name_can_be_used() -> None:
    def nested(shape: tuple[int, ...]) -> tuple[Any, Any]:
        return gated(shape)

    task = tuned(PPO_TASK, network=nested)

    assert task.algorithm.network is nested
    assert described(task.algorithm)["network"].endswith("nested")
    assert trained(task)[0] == trained(tuned(PPO_TASK, network=gated))[0]


MODULE = """
import jax.numpy as jnp
import numpy as np

def doubled(shape):
    def init(random):
        return random.standard_normal((shape[0], 3)).astype(np.float32)
    def apply(params, rows):
        return jnp.tanh(2 * rows @ params)
    return init, apply
"""


def test_a_network_of_a_module_is_trained_and_resumed_by_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "users_network.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    flags = ["--network", "users_network:doubled", "--num-steps", "8", "--no-preset"]
    flags += ["--eval-every", "0", "--final-episodes", "0", "--no-progress"]
    runs = ["--runs-dir", str(tmp_path / "runs")]

    assert main(["train", "ppo", *flags, *runs, "--total-timesteps", "128"]) == 0

    (path,) = (tmp_path / "runs").iterdir()
    run = RunDirectory.open(path)
    assert run.config["settings"]["network"] == "users_network:doubled"
    assert task_of(run).algorithm.network == "users_network:doubled"
    again = ["train", "ppo", "--resume", str(path), "--no-progress"]
    assert main([*again, "--final-episodes", "0"]) == 0


def flat(shape: tuple[int, ...]) -> Any:
    return gated(shape)[0]


def summed(shape: tuple[int, ...]) -> Any:
    init, apply = gated(shape)
    return init, lambda params, rows: apply(params, rows).sum(axis=1)


@pytest.mark.parametrize(
    ("network", "match"),
    [
        ("vit", "network must be one of auto, mlp, nature-cnn, a3c-cnn, .* got 'vit'"),
        ("nowhere_at_all:net", "import of network 'nowhere_at_all:net' failed: No mod"),
        (f"{__name__}:missing", "import of network .* failed: module .* has no attri"),
        (f"{__name__}:NAME", "network must be a function, got '"),
        (flat, "network must return two functions, init and apply, got <function"),
        (summed, r"network must return features of shape \[row, feature\], got \(1,\)"),
    ],
)
def test_invalid_networks_raise(network: Any, match: str) -> None:
    with pytest.raises(FlowError, match=match):
        tuned(PPO_TASK, network=network).check()


def test_a_cnn_for_rows_of_numbers_raises_before_the_first_step() -> None:
    with pytest.raises(FlowError, match=r"must be an image .* got shape \[4\]"):
        replace(PPO_TASK, algorithm=PPO(network="nature-cnn")).check()
