# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers: steps by hand, sequences against steps."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from reactorl.rl.algorithms.networks.recurrent import GRU, LSTM


def generator(seed: int = 1) -> Any:
    return np.random.Generator(np.random.PCG64(seed))


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def random_params(layer: Any, inputs: int) -> Any:
    """Return parameters without zeros, so that all of them count."""
    random = generator(7)
    params = layer.init(generator(), inputs)
    return jax.tree.map(
        lambda leaf: random.standard_normal(leaf.shape).astype(np.float32), params
    )


@pytest.mark.parametrize("xp", [np, jnp], ids=["numpy", "jax"])
def test_gru_step_equals_its_definition(xp: Any) -> None:
    layer = GRU(3)
    params = random_params(layer, 2)
    x, h = np.float32([[1, -2], [0.5, 3]]), np.float32([[1, 2, 3], [-1, 0, 1]])

    found = layer.step(params, layer.project(params, x, xp), {"h": h}, xp)

    wi, wh = (np.split(params[n], 3, axis=1) for n in ("wi", "wh"))
    b = np.split(params["b"], 3)
    r = sigmoid(x @ wi[0] + b[0] + h @ wh[0])
    z = sigmoid(x @ wi[1] + b[1] + h @ wh[1])
    n = np.tanh(x @ wi[2] + b[2] + r * (h @ wh[2] + params["bh"]))
    np.testing.assert_allclose(found["h"], (1 - z) * n + z * h, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("xp", [np, jnp], ids=["numpy", "jax"])
def test_lstm_step_equals_its_definition(xp: Any) -> None:
    layer = LSTM(3)
    params = random_params(layer, 2)
    x = np.float32([[1, -2], [0.5, 3]])
    h, c = np.float32([[1, 2, 3], [-1, 0, 1]]), np.float32([[0, 1, 2], [3, 2, 1]])

    found = layer.step(params, layer.project(params, x, xp), {"h": h, "c": c}, xp)

    wi, wh = (np.split(params[n], 4, axis=1) for n in ("wi", "wh"))
    b = np.split(params["b"], 4)
    i, f, g, o = (x @ wi[k] + b[k] + h @ wh[k] for k in range(4))
    cell = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    near = {"rtol": 1e-5, "atol": 1e-6}
    np.testing.assert_allclose(found["c"], cell, **near)
    np.testing.assert_allclose(found["h"], sigmoid(o) * np.tanh(cell), **near)


def test_torch_gives_the_same_steps() -> None:
    torch = pytest.importorskip("torch")
    x, h = np.float32([[1, -2], [0.5, 3]]), np.float32([[1, 2, 3], [-1, 0, 1]])
    for layer, theirs in ((GRU(3), torch.nn.GRUCell), (LSTM(3), torch.nn.LSTMCell)):
        params = random_params(layer, 2)
        cell = theirs(2, 3)
        size = 3 * layer.gates
        bias = np.zeros(size, np.float32)
        bias[6:9] = params.get("bh", 0)
        with torch.no_grad():
            cell.weight_ih[:] = torch.from_numpy(params["wi"].T.copy())
            cell.weight_hh[:] = torch.from_numpy(params["wh"].T.copy())
            cell.bias_ih[:] = torch.from_numpy(params["b"])
            cell.bias_hh[:] = torch.from_numpy(bias)
            before: Any = torch.from_numpy(h)
            if layer.names == ("h", "c"):
                due = cell(torch.from_numpy(x), (before, before))[0]
            else:
                due = cell(torch.from_numpy(x), before)
        memory = dict.fromkeys(layer.names, h)
        found = layer.step(params, layer.project(params, x, np), memory, np)
        np.testing.assert_allclose(found["h"], due.numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("layer", [GRU(3), LSTM(3)], ids=["gru", "lstm"])
def test_sequences_are_steps_with_zero_memory_at_episode_starts(layer: Any) -> None:
    params = random_params(layer, 2)
    inputs = generator().standard_normal((5, 2, 2)).astype(np.float32)
    starts = np.zeros((5, 2), bool)
    starts[2, 0] = starts[4, 1] = True
    before = {
        name: generator(place).standard_normal((2, 3)).astype(np.float32)
        for place, name in enumerate(layer.names)
    }

    found = jax.jit(layer.unroll)(params, inputs, before, starts)

    memory = before
    for step, start in zip(range(5), starts, strict=True):
        memory = {n: np.where(start[:, None], 0, m) for n, m in memory.items()}
        memory = layer.step(params, layer.project(params, inputs[step], np), memory, np)
        for name in layer.names:
            near = {"rtol": 1e-4, "atol": 1e-5}
            np.testing.assert_allclose(found[name][step], memory[name], **near)


@pytest.mark.parametrize("layer", [GRU(2), LSTM(2)], ids=["gru", "lstm"])
def test_gradients_through_time_equal_finite_differences(layer: Any) -> None:
    params = random_params(layer, 2)
    inputs = generator().standard_normal((4, 1, 2)).astype(np.float32)
    starts = np.array([[False], [False], [True], [False]])

    def loss(params: Any) -> Any:
        return (layer.unroll(params, inputs, layer.initial(1), starts)["h"] ** 2).sum()

    gradient = jax.grad(loss)(params)

    def exact(params: Any) -> float:
        memory = {n: np.zeros((1, 2)) for n in layer.names}
        total = 0.0
        for step, start in zip(inputs.astype(np.float64), starts, strict=True):
            if start[0]:
                memory = {n: np.zeros((1, 2)) for n in layer.names}
            memory = layer.step(params, layer.project(params, step, np), memory, np)
            total += float((memory["h"] ** 2).sum())
        return total

    wide = {name: leaf.astype(np.float64) for name, leaf in params.items()}
    for name, found in gradient.items():
        for index in np.ndindex(found.shape):
            each = []
            for change in (1e-6, -1e-6):
                changed = {n: leaf.copy() for n, leaf in wide.items()}
                changed[name][index] += change
                each.append(exact(changed))
            due = (each[0] - each[1]) / 2e-6
            assert found[index] == pytest.approx(due, rel=1e-3, abs=1e-4)


def test_memory_is_zero_at_first_and_the_forget_gate_open() -> None:
    assert [m.tolist() for m in LSTM(2).initial(1).values()] == [[[0, 0]], [[0, 0]]]
    bias = LSTM(2).init(generator(), 3)["b"]
    assert bias.tolist() == [0, 0, 1, 1, 0, 0, 0, 0]
    wi = GRU(4).init(generator(), 6)["wi"]
    assert wi.shape == (6, 12)
    np.testing.assert_allclose(wi[:, :4].T @ wi[:, :4], np.eye(4), atol=1e-5)
