# SPDX-License-Identifier: Apache-2.0
"""The star as a plain loop, and with a pool of threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from benchmarks.engines.plain import MultiPort, Port, plain
from benchmarks.workloads.star.ours import Client, PlayerClient, PlayerServer, Server
from benchmarks.workloads.star.players import player_maker

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchmarks.harness.engine import Engine


def clients(params: dict[str, Any], indices: Iterable[int]) -> list[Any]:
    """Return clients without a runtime."""
    new_player = player_maker(params)
    if new_player is None:
        return [plain(Client, request=Port(), reply=Port()) for _ in indices]
    made = [
        plain(
            PlayerClient,
            bank_index=index,
            new_player=new_player,
            request=Port(),
            reply=Port(),
        )
        for index in indices
    ]
    for client in made:
        client.create()
    return made


def _star(params: dict[str, Any], watch: Any) -> tuple[Any, list[Any]]:  # noqa: ANN401
    made = clients(params, range(params["clients"]))
    server = Server if player_maker(params) is None else PlayerServer
    replies = MultiPort(client.reply for client in made)
    return plain(server, watch=watch, request=Port(), replies=replies), made


def run(params: dict[str, Any], watch: Any, engine: Engine) -> None:  # noqa: ANN401
    """Run the star client by client."""
    del engine
    server, made = _star(params, watch)
    server.begin()
    request = server.request
    while request.is_present:
        request.is_present = False
        value = request.value
        for client in made:
            client.request.set(value)
            client.work()
        server.gather()


def futures(params: dict[str, Any], watch: Any, engine: Engine) -> None:  # noqa: ANN401
    """Run the star with each client a task of a pool."""
    server, made = _star(params, watch)

    def work(client: Any) -> None:  # noqa: ANN401
        client.request.set(value)
        client.work()

    with ThreadPoolExecutor(engine.workers) as pool:
        server.begin()
        request = server.request
        while request.is_present:
            request.is_present = False
            value = request.value
            for _ in pool.map(work, made):
                pass
            server.gather()
