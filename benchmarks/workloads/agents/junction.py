# SPDX-License-Identifier: Apache-2.0
"""A crossing of two roads, with cars that drive or brake: an environment of our own.

It has the sizes of the paper's TrafficJunction: an agent observes the 3x3 cells around
every car, of each cell the car in it (one of n), its position, and the route of that
car (one of three): 9 * (n + 2 + 3) numbers for each of n cars. That is 324 for four
agents and 1350 for ten.
"""

from __future__ import annotations

from typing import Any

import numpy as np

SIZE = 14
"""Cells along each road."""
WAYS = 3
"""Straight, right, left."""
ARRIVAL = 0.3
"""Probability that an absent car enters."""
EPISODE = 40
GO = 0
CRASH, WAITING = -10.0, -0.01
ABSENT = -1


def _route(entry: int, way: int) -> list[tuple[int, int]]:
    """Return the cells from an entry of the crossing to an exit.

    From the left, then turned by a quarter for each further entry.
    """
    half = SIZE // 2
    cells = [(half, column) for column in range(half)]
    if way == 0:
        cells += [(half, column) for column in range(half, SIZE)]
    elif way == 1:
        cells += [(row, half - 1) for row in range(half + 1, SIZE)]
    else:
        cells += [(half, half)] + [(row, half) for row in range(half - 1, -1, -1)]
    for _ in range(entry):
        cells = [(column, SIZE - 1 - row) for row, column in cells]
    return cells


ROUTES = [_route(entry, way) for entry in range(4) for way in range(WAYS)]


class Junction:
    """The crossing and its cars.

    Args:
        agents: Number of cars.
    """

    def __init__(self, agents: int) -> None:
        self._agents = agents
        self._random = np.random.default_rng(1)
        around = np.arange(-1, 2)
        self._rows = np.repeat(around, 3)
        self._columns = np.tile(around, 3)
        self._features = np.zeros((agents + 1, agents + WAYS), np.float32)
        self._features[:agents, :agents] = np.eye(agents)
        cells = np.arange(-1, SIZE + 1, dtype=np.float32) / SIZE
        self._where = np.stack(np.meshgrid(cells, cells, indexing="ij"), axis=-1)

    def reset(self) -> Any:  # noqa: ANN401
        """Begin with an empty crossing; return the observations."""
        self._steps = 0
        self._route = [ABSENT] * self._agents
        self._at = [0] * self._agents
        self._since = [0] * self._agents
        self._features[:, self._agents :] = 0
        # One more cell on each side, so that views never leave the grid.
        self._grid = np.full((SIZE + 2, SIZE + 2), self._agents)
        return self._seen()

    def step(self, actions: list[int]) -> tuple[Any, list[float], bool]:
        """Step; return observations, rewards, and whether the episode ended."""
        self._steps += 1
        enters = self._random.random(self._agents) < ARRIVAL
        routes = self._random.integers(len(ROUTES), size=self._agents)
        taken: dict[tuple[int, int], int] = {}
        rewards = [0.0] * self._agents
        for car, action in enumerate(actions):
            if self._route[car] == ABSENT:
                if not enters[car]:
                    continue
                self._enter(car, int(routes[car]))
            elif action == GO:
                self._at[car] += 1
            route = ROUTES[self._route[car]]
            if self._at[car] == len(route):
                self._route[car] = ABSENT
                continue
            self._since[car] += 1
            rewards[car] += WAITING * self._since[car]
            cell = route[self._at[car]]
            if cell in taken:
                rewards[car] += CRASH
                rewards[taken[cell]] += CRASH
            taken[cell] = car
        self._grid.fill(self._agents)
        for (row, column), car in taken.items():
            self._grid[row + 1, column + 1] = car
        return self._seen(), rewards, self._steps == EPISODE

    def _enter(self, car: int, route: int) -> None:
        self._route[car], self._at[car], self._since[car] = route, 0, 0
        self._features[car, self._agents :] = 0
        self._features[car, self._agents + route % WAYS] = 1

    def _seen(self) -> Any:  # noqa: ANN401
        """Return a row for each agent: the views of all cars, one after another."""
        count = self._agents
        views = np.zeros((count, 9, count + WAYS + 2), np.float32)
        present = [car for car in range(count) if self._route[car] != ABSENT]
        if present:
            places = [ROUTES[self._route[car]][self._at[car]] for car in present]
            center = np.array(places) + 1
            rows = center[:, :1] + self._rows
            columns = center[:, 1:] + self._columns
            views[present, :, : count + WAYS] = self._features[
                self._grid[rows, columns]
            ]
            views[present, :, count + WAYS :] = self._where[rows, columns]
        return np.tile(views.reshape(-1), (count, 1))
