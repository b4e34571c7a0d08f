# SPDX-License-Identifier: Apache-2.0
"""Makes the shards of a task: all with one environment, placement and restart rule."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Final

from reactorl._util.machine import usable_cores
from reactorl.rl.envs.native.choice import are_native
from reactorl.rl.envs.placement import check_processes, choose_placement
from reactorl.rl.envs.rules import Rules
from reactorl.rl.envs.shard import LocalShard
from reactorl.rl.envs.snapshot_policy import SnapshotPolicy
from reactorl.rl.flow.action_masks import KEY
from reactorl.rl.wrappers.life_loss import LIFE_LOST

if TYPE_CHECKING:
    from collections.abc import Callable

    from gymnasium.vector import AutoresetMode

    from reactorl.rl.envs.placement import Placement, PlacementOption, Trial
    from reactorl.rl.envs.rules import NativeOption, Restart
    from reactorl.rl.envs.shard import EnvShard

MAX_SHARDS_PER_CORE: Final = 4
"""With more shards ``"auto"`` does not start a process for each of them."""

NEEDED_INFOS: Final = frozenset(
    {KEY, LIFE_LOST, "final_obs", "final_info", "failure", "restart"}
)
"""Keys of infos that training uses. Others are not sent from process to process: they
may be large, or impossible to send."""


class ShardFactory:
    """Makes shards; results are bit-identical for every placement.

    Args:
        maker: Makes one environment.
        placement: ``"thread"``: in the thread of the reactor that uses the shard;
            ``"process"``: a worker process for each shard; ``"auto"``: whichever is
            faster, measured when the first shard is made, but threads only for
            environments that are safe in them.
        timeout: Limit for one step or reset, in seconds.
        restart: What to do with an environment that fails.
        num_envs: Sub-environments of a shard, for ``"auto"``.
        num_shards: Number of shards, for ``"auto"``.
        sub_env: Class of the sub-environments; None: ``SubEnv``.
        trial: How to measure a step; see ``choose_placement``.
        concurrent: Whether shards may be used concurrently even if ``num_shards`` is 1.
        native: Whether Gymnasium's own environments are stepped in native code.

    Raises:
        TypeError: ``timeout`` is not a number.
        ValueError: An argument has an invalid value.
    """

    def __init__(
        self,
        maker: Callable[[], Any],
        placement: PlacementOption = "thread",
        *,
        timeout: float | None = None,
        restart: Restart = "never",
        num_envs: int = 1,
        num_shards: int = 1,
        sub_env: Callable[..., Any] | None = None,
        trial: Trial | None = None,
        concurrent: bool = False,
        native: NativeOption = False,
    ) -> None:
        self._maker = maker
        self._concurrent = concurrent or num_shards > 1
        self._rules = Rules(
            restart=restart, timeout=timeout, sub_env=sub_env, native=native
        )
        self._rules.check()
        self._num_envs, self._num_shards = num_envs, num_shards
        self._trial = trial
        self.snapshots = SnapshotPolicy()
        self._lock = threading.Lock()
        self._placement: Placement | None = None
        if placement == "process":
            check_processes()
        if placement != "auto":
            makers = [maker] * (2 if self._concurrent else 1)
            self._placement, _ = choose_placement(
                placement, makers, None, concurrent=self._concurrent
            )

    @property
    def placement(self) -> Placement:
        """Where the shards live; measured on first use if it is ``"auto"``."""
        with self._lock:
            if self._placement is None:
                # Processes pay only if several shards can work at the same time.
                most = MAX_SHARDS_PER_CORE * usable_cores()
                self._placement, _ = choose_placement(
                    "auto",
                    [self._maker] * max(self._num_envs, 2),
                    None,
                    self._trial,
                    concurrent=self._concurrent,
                    processes_pay=2 <= self._num_shards <= most,
                    native=are_native([self._maker], self._rules.native),
                )
            return self._placement

    def make(self, count: int, autoreset: AutoresetMode, first: int = 0) -> EnvShard:
        """Make a shard.

        A worker process begins to make its environments at once. In this process,
        ``EnvShard.open`` makes them, on the thread that steps them.

        Args:
            count: Number of sub-environments.
            autoreset: What happens after the end of an episode.
            first: Index of the first sub-environment.
        """
        makers = dict.fromkeys(range(first, first + count), self._maker)
        rules = Rules(
            autoreset,
            self._rules.restart,
            timeout=self._rules.timeout,
            sub_env=self._rules.sub_env,
            resumable=True,
            native=self._rules.native,
            sent_infos=NEEDED_INFOS if self._rules.sub_env is None else None,
        )
        if self.placement == "process":
            from reactorl.rl.envs.process.shard import ProcessShard

            return ProcessShard(makers, rules)
        return LocalShard(makers, rules, deferred=True)
