# SPDX-License-Identifier: Apache-2.0
"""Makes the shards of a training: all of one environment, placement and rules."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Literal

from reactorl.rl.envs.placement import check_processes, choose_placement
from reactorl.rl.envs.shard import LocalShard

if TYPE_CHECKING:
    from collections.abc import Callable

    from reactorl.rl.envs.placement import Placement, Trial
    from reactorl.rl.envs.rules import Rules
    from reactorl.rl.envs.shard import EnvShard


class ShardFactory:
    """Makes shards; results are bit-identical for every placement.

    Args:
        maker: Makes one environment.
        rules: Settings of all sub-environments.
        placement: ``"thread"``: in the thread of the reactor that uses the shard;
            ``"process"``: a worker process for each shard; ``"auto"``: whichever is
            faster, measured when the first shard is made.
        num_envs: Number of sub-environments of a shard, for ``"auto"``.
        num_shards: Number of shards, for ``"auto"``.
        trial: How to measure a step; see ``choose_placement``.

    Raises:
        ValueError: ``placement`` or a rule is not valid.
    """

    def __init__(
        self,
        maker: Callable[[], Any],
        rules: Rules,
        placement: Placement | Literal["auto"] = "thread",
        *,
        num_envs: int = 1,
        num_shards: int = 1,
        trial: Trial | None = None,
    ) -> None:
        rules.check()
        self.maker = maker
        self.rules = rules
        self._wanted = placement
        self._count = num_envs
        self._shards = num_shards
        self._trial = trial
        self._lock = threading.Lock()
        self._chosen: Placement | None = None
        if placement == "process":
            check_processes()
        elif placement != "auto":
            self._chosen, _ = choose_placement(placement, [maker], None)

    @property
    def placement(self) -> Placement:
        """Where the shards live; measured on first use if it is ``"auto"``."""
        with self._lock:
            if self._chosen is None:
                wanted = self._wanted
                if wanted == "auto" and self._shards < 2:
                    wanted = "thread"  # nothing would overlap with a single shard
                makers = [self.maker] * max(self._count, 2)
                self._chosen, _ = choose_placement(wanted, makers, None, self._trial)
            return self._chosen

    def make(self, count: int) -> EnvShard:
        """Make a shard with sub-environments 0 to ``count`` - 1.

        In this thread its environments are made by ``open``, which must be called on
        the thread that steps them; a worker process begins to make them at once.
        """
        makers = dict.fromkeys(range(count), self.maker)
        if self.placement == "process":
            from reactorl.rl.envs.process.shard import ProcessShard

            return ProcessShard(makers, self.rules)
        return LocalShard(makers, self.rules, deferred=True)
