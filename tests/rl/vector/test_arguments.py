# SPDX-License-Identifier: Apache-2.0
"""Wrong arguments of a vector environment are refused with clear errors."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces

from reactorl.rl import EnvError, VectorEnv
from tests.rl.toy_envs import Toy, every_space, toys

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.fixture(params=["thread", "process"], scope="module")
def envs(request: pytest.FixtureRequest) -> Iterator[VectorEnv]:
    """Three toys, by two workers; every test resets them."""
    found = VectorEnv(toys(3), workers=2, placement=request.param)
    yield found
    found.close()


@pytest.mark.parametrize("actions", [[0, 1], [0, 1, 2, 0], np.zeros(2, np.int64), []])
def test_a_wrong_number_of_actions_is_refused(
    envs: VectorEnv,
    actions: Any,
) -> None:
    envs.reset(seed=1)
    turns = envs.get_attr("turn")

    with pytest.raises(
        ValueError, match=rf"actions must have 3 items, .*got {len(actions)}"
    ):
        envs.step(actions)

    assert envs.get_attr("turn") == turns  # nobody was stepped


@pytest.mark.parametrize("actions", [0, None])
def test_actions_that_are_no_batch_are_refused(envs: VectorEnv, actions: Any) -> None:
    envs.reset(seed=1)

    with pytest.raises(
        TypeError, match=rf"actions must have an item for each of the 3 .*got {actions}"
    ):
        envs.step(actions)


@pytest.mark.parametrize("env_id", ["abc", [0.5, 1.5, 2.5], 1])
def test_ids_that_are_no_numbers_are_refused(envs: VectorEnv, env_id: Any) -> None:
    with pytest.raises(TypeError, match="env_id must be a list of integers, got"):
        envs.send([0, 0, 0], env_id)


@pytest.mark.parametrize("seed", ["x", 1.5, {}.items])
def test_seeds_that_are_no_numbers_are_refused(envs: VectorEnv, seed: Any) -> None:
    with pytest.raises(TypeError, match=r"seed must be an integer, .*got"):
        envs.reset(seed=seed)


def test_options_that_are_no_dict_are_refused(envs: VectorEnv) -> None:
    with pytest.raises(TypeError, match="options must be a dict or None, got 3"):
        envs.reset(options=3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="options must be a dict or None, got 3"):
        envs.async_reset(options=3)  # type: ignore[arg-type]


def test_the_module_of_an_id_that_cannot_be_imported_is_named() -> None:
    with pytest.raises(ModuleNotFoundError) as raised:
        VectorEnv("no_such_games:Chess-v0", 2)

    assert str(raised.value) == (
        "importing 'no_such_games', the module in the id 'no_such_games:Chess-v0', "
        "failed: No module named 'no_such_games'. Install it, or add its directory to "
        "PYTHONPATH."
    )


@pytest.mark.parametrize("seed", [[1, 2], [1, 2, 3, 4], ()])
def test_a_wrong_number_of_seeds_is_refused(envs: VectorEnv, seed: Any) -> None:
    with pytest.raises(ValueError, match=f"num_envs=3 but got length={len(seed)}"):
        envs.reset(seed=seed)


@pytest.mark.parametrize(
    ("mask", "error", "match"),
    [
        ([True, False, True], TypeError, "reset_mask.*array.*list"),
        (np.ones(3), TypeError, "reset_mask.*bool.*float64"),
        (np.ones(2, np.bool_), ValueError, r"reset_mask.*\(3,\).*\(2,\)"),
        (np.zeros(3, np.bool_), ValueError, "reset_mask.*at least one True"),
    ],
)
def test_bad_masks_are_refused(
    envs: VectorEnv,
    mask: Any,
    error: type[Exception],
    match: str,
) -> None:
    with pytest.raises(error, match=match):
        envs.reset(options={"reset_mask": mask})


class Spaceless(gym.Env[Any, Any]):
    """Does not say what it shows and takes."""


BAD: list[tuple[Callable[[], object], type[Exception], str]] = [
    (
        lambda: VectorEnv("CartPole-v1", 2.5),
        TypeError,
        r"num_envs must be an integer, got 2\.5",
    ),
    (
        lambda: VectorEnv("CartPole-v1", "2"),
        TypeError,
        "num_envs must be an integer, got '2'",
    ),
    (
        lambda: VectorEnv("CartPole-v1", workers="2"),
        TypeError,
        "workers must be .*got '2'",
    ),
    (
        lambda: VectorEnv("CartPole-v1", batch_size="1"),
        TypeError,
        "batch_size must be .*got '1'",
    ),
    (
        lambda: VectorEnv("CartPole-v1", timeout="1"),
        TypeError,
        "timeout must be .*got '1'",
    ),
    (
        lambda: VectorEnv([Toy], timeout=float("nan")),
        ValueError,
        "timeout must be .*got nan",
    ),
    (
        lambda: VectorEnv("CartPole-v1", env_kwargs=3),
        TypeError,
        "env_kwargs must be a dict, got 3",
    ),
    (
        lambda: VectorEnv("CartPole-v1", env_kwargs={"gravty": 3}),
        EnvError,
        "environment 0 .*unexpected keyword argument 'gravty'.*CartPole-v1",
    ),
    (
        lambda: VectorEnv("CartPole-v1", wrappers=gym.wrappers.ClipAction),
        TypeError,
        "wrappers must be a list .*ClipAction",
    ),
    (
        lambda: VectorEnv("CartPole-v1", wrappers=[gym.wrappers.ClipAction, 3]),
        TypeError,
        r"wrappers\[1\] must be .*got 3",
    ),
    (
        lambda: VectorEnv([Toy, lambda: None], placement="thread"),
        EnvError,
        "environment 1 .*must return an environment, got None, which has no reset",
    ),
    (
        lambda: VectorEnv([Toy, lambda: Toy], placement="thread"),
        EnvError,
        "environment 1 .*got <class",
    ),
    (
        lambda: VectorEnv([Toy, Spaceless], placement="process", workers=1),
        EnvError,
        "environment 1 .*Spaceless.*which has no action_space",
    ),
    (lambda: VectorEnv([]), ValueError, "env_fns must not be empty"),
    (lambda: VectorEnv([Toy()]), TypeError, r"env_fns\[0\].*an environment.*lambda"),
    (lambda: VectorEnv([Toy, 3]), TypeError, r"env_fns\[1\] must be a function, got 3"),
    (lambda: VectorEnv(Toy), TypeError, "a list of functions"),
    (lambda: VectorEnv(Toy()), TypeError, "a list of functions"),
    (lambda: VectorEnv(None), TypeError, "env must be .*got None"),
    (
        lambda: VectorEnv("CartPole-v1", 0),
        ValueError,
        "num_envs must be at least 1, got 0",
    ),
    (lambda: VectorEnv([Toy], 2), ValueError, "num_envs must be .*1, got 2"),
    (
        lambda: VectorEnv([Toy], env_kwargs={"a": 1}),
        ValueError,
        "must be given with an id",
    ),
    (lambda: VectorEnv("Nothing-v0", 2), gym.error.NameNotFound, "Nothing"),
    (
        lambda: VectorEnv([Toy], restart="now"),
        ValueError,
        "restart must be one of never.*got 'now'",
    ),
    (
        lambda: VectorEnv([Toy], placement="moon"),
        ValueError,
        "placement must be .*got 'moon'",
    ),
    (
        lambda: VectorEnv([Toy], timeout=0),
        ValueError,
        "timeout must be above 0 seconds, got 0",
    ),
    (
        lambda: VectorEnv([Toy], timeout=math.inf, placement="process"),
        ValueError,
        "timeout must be at most 1000000 seconds, or None for no limit, got inf",
    ),
    (
        lambda: VectorEnv("CartPole-v1", 10**11),
        ValueError,
        "num_envs must be at most 1000000, got 100000000000",
    ),
    (lambda: VectorEnv([Toy], autoreset_mode="maybe"), ValueError, "maybe"),
    (lambda: VectorEnv([Toy], workers=0), ValueError, "workers.*0"),
    (lambda: VectorEnv([Toy], workers=-1), ValueError, "workers.*-1"),
    (
        lambda: VectorEnv([Toy], workers=0, placement="process"),
        ValueError,
        "workers.*0",
    ),
    (
        lambda: VectorEnv([Toy], observation_mode="wild"),
        ValueError,
        "Invalid `observation_mode`, .*got wild",
    ),
    (
        lambda: VectorEnv([Toy], observation_mode=(1, 2)),
        TypeError,
        "both elements of observation_mode to be Spaces, got <class 'int'>",
    ),
    (
        lambda: VectorEnv([Toy, partial(Toy, every_space()["discrete"])]),
        RuntimeError,
        r"environment 1: .*observation spaces .*Box.*Discrete.*'different'",
    ),
    (
        lambda: VectorEnv([Toy, Toy, partial(Toy, actions=spaces.Discrete(9))]),
        RuntimeError,
        r"environment 2: .*action_space=Discrete\(9\), .*=Discrete\(3\)",
    ),
    (
        lambda: VectorEnv(
            [Toy, partial(Toy, every_space()["float64"])], observation_mode="different"
        ),
        ValueError,  # Gymnasium's own, of batch_differing_spaces
        "dtypes to be equal",
    ),
]


@pytest.mark.parametrize(("make", "error", "match"), BAD)
def test_bad_arguments_are_refused(
    make: Callable[[], object], error: type[Exception], match: str
) -> None:
    with pytest.raises(error, match=match):
        make()
