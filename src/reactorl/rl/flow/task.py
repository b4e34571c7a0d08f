# SPDX-License-Identifier: Apache-2.0
"""The interface between what is trained and the trainer.

A *task* is an environment, an algorithm and how to evaluate; a *run* of it is its
program under way. ``Flow`` and ``MultiAgentFlow`` are tasks; ``Trainer`` trains any.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeVar

from reactorl._util.serialization import state_without_cache
from reactorl.diagram import Graph, graph
from reactorl.rl._public import public
from reactorl.rl.envs.placement import PlacementOption  # noqa: TC001 - of a flag
from reactorl.rl.envs.rules import MAX_TIMEOUT, Restart
from reactorl.rl.flow.algorithm import FlowError, require
from reactorl.rl.flow.environment import EnvOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Unpack

    from reactorl import Program, Reactor
    from reactorl.rl.checkpoint.registry import Data, StateRegistry
    from reactorl.rl.flow.algorithm import Algorithm, Metrics, Weights
    from reactorl.rl.flow.evaluation import Evaluated, PlayProgress
    from reactorl.rl.flow.run import DrivenRun, RunOptions
    from reactorl.rl.flow.trajectory import Episode


@public
@dataclass(frozen=True)
class Iteration:
    """What one iteration gave."""

    number: int
    """From 1."""
    steps: int
    """Environment steps, of all environments."""
    episodes: tuple[Episode, ...]
    """Episodes that ended, in the order of environments."""
    metrics: Metrics | None
    """Metrics of the learner, if it learned."""
    evaluation: Evaluated | None
    """The result of an evaluation that ended."""


EVAL_MAX_STEPS: Final = 10_000
"""Steps after which an episode of an evaluation is cut, if nothing else is given."""

_I = TypeVar("_I", bound=Iteration, covariant=True)


@dataclass(frozen=True, kw_only=True)
class TaskOptions(EnvOptions):
    """Options of every task; flags of ``reactorl train``."""

    seed: int = 1
    """Seed; all randomness follows from it."""
    eval_every: int = 4_000
    """Environment steps between two evaluations; 0: none."""
    eval_episodes: int = 4
    """Episodes of an evaluation."""
    eval_max_steps: int | None = None
    """Steps after which an episode of an evaluation is cut, so that every evaluation
    ends; also in the final evaluation and in 'reactorl eval'. None: 10,000, or the
    limit of the environment if that is larger."""
    # Not compared: they decide where environments run, not what is computed.
    placement: PlacementOption = field(default="auto", repr=False, compare=False)
    """Where environments run: in threads of this process, in worker processes (one
    for each rollout reactor), or whichever is faster, but threads only if the
    environment is safe in them. Results are the same."""
    env_timeout: float | None = field(default=None, repr=False, compare=False)
    """Limit for one step or reset of an environment, in seconds; None: no limit."""
    env_restart: Restart = field(default="never", repr=False, compare=False)
    """What to do with an environment that fails: stop the training, reset the
    environment, or make a new one."""


@public
@dataclass(frozen=True, kw_only=True)
class Task(TaskOptions, ABC):
    """An environment, an algorithm, and how to evaluate.

    Raises:
        FlowError: An option is invalid.
    """

    env: Any = field(kw_only=False, repr=False)  # a function's repr has its address
    algorithm: Algorithm = field(kw_only=False)
    # Not compared: where settings come from does not change what is computed.
    preset: str = field(default="", repr=False, compare=False)
    """Name of the preset that settings were taken from, for the configuration of the
    run; empty: none. See ``preset``."""

    options_type = TaskOptions
    """Which fields are flags of ``reactorl train``."""

    def __post_init__(self) -> None:
        self.check_environment()
        require(self.seed >= 0, self, "seed", "0 or more")
        require(self.eval_episodes >= 1, self, "eval_episodes", "at least 1")
        require(self.eval_every >= 0, self, "eval_every", "0 or more steps")
        most: Any = self.eval_max_steps
        fits = most is None or most >= 1
        require(fits, self, "eval_max_steps", "at least 1, or None")
        seconds = self.env_timeout
        fits = seconds is None or 0 < seconds <= MAX_TIMEOUT
        rule = f"above 0 and at most {MAX_TIMEOUT:.0f} seconds, or None"
        require(fits, self, "env_timeout", rule)

    def __getstate__(self) -> dict[str, Any]:
        return state_without_cache(self)

    @property
    def name(self) -> str:
        """Name of the algorithm."""
        return self.algorithm.name

    @property
    def preprocessing_steps(self) -> tuple[str, ...]:
        """What happens between the environment and the agent, in words, in order."""
        return ()

    @property
    def env_max_steps(self) -> int | None:
        """Steps after which the environment truncates an episode, if it is known."""
        return self.time_limit

    @property
    def max_eval_steps(self) -> int:
        """Steps after which an episode of an evaluation is cut."""
        if self.eval_max_steps is not None:
            return self.eval_max_steps
        return max(EVAL_MAX_STEPS, self.env_max_steps or 0)

    @property
    def iterations(self) -> int:
        """Number of iterations."""
        return self.algorithm.iterations

    @property
    def steps_per_iteration(self) -> int:
        """Environment steps in an iteration, of all environments."""
        return self.algorithm.steps_per_iteration

    @property
    def eval_interval(self) -> int:
        """Iterations between two evaluations; 0: none."""
        if self.eval_every == 0:
            return 0
        return max(1, self.eval_every // self.steps_per_iteration)

    @abstractmethod
    def check(self) -> None:
        """Check that algorithm and environment fit; makes one environment, once.

        Raises:
            FlowError: They do not.
        """

    def check_federates(self, count: int) -> None:
        """Check that a number of processes can share the training.

        Raises:
            FlowError: They cannot.
        """
        if count != 1:
            msg = f"federates must be 1 for {self.name}, got {count}"
            remedy = "Its parts exchange values at every step of the environments."
            raise FlowError(msg, remedy)

    @abstractmethod
    def main(self, registry: StateRegistry | None = None, first: int = 1) -> Reactor:
        """Return the main reactor, to be driven or contained in another.

        Args:
            registry: State to restore, and where parts register to be saved.
            first: The number of the first tag.
        """

    @abstractmethod
    def start(self, **options: Unpack[RunOptions]) -> DrivenRun[Iteration]:
        """Return a run of the task, a context manager; see ``RunOptions``."""

    @abstractmethod
    def trained_weights(self, saved: Mapping[str, Data]) -> Weights:
        """Return the weights in a saved state; see ``DrivenRun.save``."""

    @abstractmethod
    def play(
        self,
        weights: Weights,
        *,
        episodes: int,
        seed: int,
        watch: Callable[[Any], None] | None = None,
        report: Callable[[PlayProgress], None] | None = None,
    ) -> Sequence[Episode]:
        """Play episodes greedily; each is cut after ``max_eval_steps``.

        Args:
            weights: Of a run.
            episodes: How many.
            seed: Of the first environment; others get the next ones.
            watch: Called with the environment after each reset and step, for rendering;
                there is only one environment then.
            report: Called with the progress after some steps.
        """

    # -- in terms of these ------------------------------------------------------------

    def cut_text(self, episodes: Sequence[Episode]) -> str:
        """Return how many episodes of an evaluation were cut; empty if none was."""
        count = sum(episode.is_cut for episode in episodes)
        if not count:
            return ""
        verb, limit = "was" if count == 1 else "were", self.max_eval_steps
        return f"{count} of {len(episodes)} episodes {verb} cut at {limit:,} steps"

    def program(self) -> Program:
        """Return the elaborated program."""
        from reactorl import elaborate

        return elaborate(self.main())

    def graph(self, program: Program | None = None) -> Graph:
        """Return a diagram of the program; notebooks show it, ``str()`` is its text.

        Args:
            program: The program, if it was elaborated already.
        """
        target = self.main() if program is None else program
        return graph(target, depth=1, title=f"{self.name} flow")

    def run(self, *, workers: int | None = None) -> Weights:
        """Train without a run directory, and return the weights.

        ``start`` does the same iteration by iteration; ``Trainer`` adds metrics,
        checkpoints and a report.
        """
        with self.start(workers=workers) as run:
            for _ in run.iterations():
                pass
            return run.weights
