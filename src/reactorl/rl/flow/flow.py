# SPDX-License-Identifier: Apache-2.0
"""Flow: from a short description to a reactor program that trains.

::

    clock --round--> rollout[0..n) --trajectory--> replay --batches--> learner
                        ^                                                 |
                        +------------- weights, a round later ------------+

A round is one millisecond of logical time; round k is at k ms. With ``lag=0`` the
learner of a round learns from what was collected in it: rollouts and learner take
turns. With ``lag=k`` trajectories take a round to the learner and weights take k back:
rollouts of a round and the learner depend on nothing of each other, and run side by
side, with weights that are k rounds older than they could be. The lag is a number in
the program, not a matter of timing, so the results are the same every time.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Unpack

import gymnasium as gym

from reactorl import (
    MultiOutput,
    Output,
    Reactor,
    Timer,
    elaborate,
    msec,
    param,
    reaction,
)
from reactorl.diagram import Graph, graph
from reactorl.rl._public import public
from reactorl.rl.checkpoint.registry import Records
from reactorl.rl.envs.factory import Recipe, find_spec
from reactorl.rl.envs.shard_factory import ShardFactory
from reactorl.rl.flow.algorithm import ChecksRounds, FlowError, Spaces
from reactorl.rl.flow.evaluation import Evaluated, Evaluation, EvaluationPlan, play
from reactorl.rl.flow.learner import Learner, LearnerPlan
from reactorl.rl.flow.mailbox import Mailbox
from reactorl.rl.flow.parameter_server import GivesGradients, GradientLearner, Server
from reactorl.rl.flow.replay import Gather, Replay, ReplayConfig
from reactorl.rl.flow.rollout import Rollout, RolloutPlan
from reactorl.rl.flow.run import Driven, RunOptions
from reactorl.rl.flow.shard_envs import EvaluationEnvs
from reactorl.rl.flow.task import Round
from reactorl.rl.flow.trajectory import Trajectory

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from reactorl import Program
    from reactorl.rl.checkpoint.registry import Data
    from reactorl.rl.envs.factory import Maker
    from reactorl.rl.envs.placement import PlacementOption
    from reactorl.rl.envs.rules import Restart
    from reactorl.rl.flow.algorithm import Algorithm, State, Weights
    from reactorl.rl.flow.trajectory import Episode

ROUND: Final = msec(1)
"""How long a round is, in logical time."""

EVALUATION_SEED: Final = 1_000_000
"""What evaluation adds to the seed, so that it never plays what rollouts play."""


class Clock(Reactor):
    """Says the number of a round at the tag at which it begins."""

    round = Output[int]()
    offset: int = param(ROUND)
    tick = Timer(offset, ROUND)

    @reaction(tick, effects=[round])
    def begin(self) -> None:
        """Begin a round."""
        self.round.set(self.elapsed // ROUND)


@public
@dataclass(frozen=True)
class Flow:
    """What is trained, on what, and how its parts are synchronised.

    Attributes:
        env: The environment: an id, or a function that makes one.
        algorithm: How to act and to learn.
        num_envs: How many environments, in all.
        rollouts: How many reactors have them; it divides ``num_envs``.
        steps: How many steps each environment does in a round.
        rounds: How many rounds the training has.
        replay: How steps are kept and drawn; only with an algorithm that does so.
        learners: How many compute gradients for a parameter server, each from a batch
            of its own; None: one learner, which does everything, without a server.
        lag: How many rounds older than necessary weights may be; see above.
        evaluate_every: How many rounds from one evaluation to the next; 0: none.
        evaluation_episodes: How many episodes an evaluation has.
        seed: Everything random follows from it.
        env_kwargs: Arguments for the environment, if it is an id.
        parts: Reactor classes in place of ours: ``rollout``, ``replay``, ``learner``,
            ``server``, ``evaluation``; with the same ports and parameters.
        placement: Where the environments live; results are the same everywhere.
            ``"thread"``: in this process; ``"process"``: a worker process for each
            rollout, for environments in Python where the interpreter has a GIL;
            ``"auto"``: whichever is faster.
        env_timeout: Limit for one step or reset of an environment, in seconds.
        env_restart: What to do with an environment that fails: ``"never"`` stops the
            training, ``"reset"`` resets it, ``"recreate"`` makes a new one.
    """

    env: str | Maker = field(repr=False)  # a function's text has its address
    algorithm: Algorithm
    num_envs: int = 16
    rollouts: int = 4
    steps: int = 16
    rounds: int = 100
    replay: ReplayConfig | None = None
    learners: int | None = None
    lag: int = 0
    evaluate_every: int = 0
    evaluation_episodes: int = 10
    seed: int = 1
    env_kwargs: Mapping[str, Any] = field(default_factory=dict)
    parts: Mapping[str, type[Reactor]] = field(default_factory=dict)
    # Not compared: they decide where environments run, not what is computed.
    placement: PlacementOption = field(default="auto", repr=False, compare=False)
    env_timeout: float | None = field(default=None, repr=False, compare=False)
    env_restart: Restart = field(default="never", repr=False, compare=False)

    # -- what follows from the description --------------------------------------------

    @cached_property
    def maker(self) -> Maker:
        """Makes one environment."""
        if not isinstance(self.env, str):
            return self.env
        try:
            spec = find_spec(self.env)
        except (gym.error.Error, ImportError) as error:
            reason = str(error).rstrip(".")
            msg = f"there is no environment {self.env!r}: {reason}"
            raise FlowError(msg, "`gymnasium.pprint_registry()` lists them.") from error
        return Recipe(spec, dict(self.env_kwargs))

    @cached_property
    def spaces(self) -> Spaces:
        """What the environment shows and takes; one is made to see that."""
        env = self.maker()
        try:
            return Spaces(env.observation_space, env.action_space)
        finally:
            env.close()

    @cached_property
    def shards(self) -> ShardFactory:
        """Makes the environments of rollouts and evaluation."""
        return ShardFactory(
            self.maker,
            self.placement,
            timeout=self.env_timeout,
            restart=self.env_restart,
            num_envs=self.num_envs // self.rollouts,
            num_shards=self.rollouts,
        )

    @property
    def name(self) -> str:
        """What people call the algorithm."""
        return self.algorithm.name

    @property
    def steps_per_round(self) -> int:
        """How many steps all environments do in a round, together."""
        return self.num_envs * self.steps

    @property
    def teacher(self) -> str:
        """The full name of the part that has what was learned."""
        return "main.learner" if self.learners is None else "main.server"

    @property
    def delay(self) -> int:
        """How many rounds weights are on their way."""
        return max(self.lag, 1)

    def check(self) -> None:
        """Refuse what does not fit together, before anything runs.

        Raises:
            FlowError: Something does not.
        """
        for name in ("num_envs", "rollouts", "steps", "rounds"):
            if getattr(self, name) < 1:
                msg = f"{name} is {getattr(self, name)}"
                raise FlowError(msg, "It is 1 or more.")
        if self.num_envs % self.rollouts:
            msg = f"{self.num_envs} environments do not divide by {self.rollouts}"
            raise FlowError(msg, "Choose a number of rollouts that divides num_envs.")
        if self.lag < 0:
            msg = f"lag is {self.lag} rounds"
            raise FlowError(msg, "It is 0 (rollouts and learner take turns) or more.")
        self._check_replay()
        self._check_learners()
        known = {"rollout", "replay", "learner", "server", "evaluation"}
        part: Any
        for name, part in self.parts.items():
            if name not in known:
                msg = f"a flow has no part {name!r}"
                raise FlowError(msg, f"It has: {', '.join(sorted(known))}.")
            if not (isinstance(part, type) and issubclass(part, Reactor)):
                msg = f"part {name!r} is {part!r}"
                raise FlowError(msg, "A part is a reactor class.")
        _ = self.shards  # checks placement, timeout and restart
        self.algorithm.check(self.spaces)
        if isinstance(self.algorithm, ChecksRounds):
            self.algorithm.check_round(self.steps, self.num_envs)

    def _check_replay(self) -> None:
        replay, algorithm = self.replay, self.algorithm
        if algorithm.uses_replay and replay is None:
            msg = f"{algorithm.name} learns from a replay buffer, and there is none"
            raise FlowError(msg, "Give replay=ReplayConfig(...).")
        if not algorithm.uses_replay and replay is not None:
            msg = f"{algorithm.name} learns from what was just collected"
            raise FlowError(msg, "Leave replay out.")
        if replay is None:
            return
        kept = (self.lag + 1) * self.steps_per_round
        if replay.capacity < kept:
            msg = (
                f"the replay buffer has room for {replay.capacity} steps, and "
                f"{self.lag + 1} rounds of {self.steps_per_round} steps are under way"
            )
            raise FlowError(msg, f"Make it {kept} or more, or the lag smaller.")
        if replay.starts_at > self.rounds * self.steps_per_round:
            msg = (
                f"learning starts after {replay.starts_at} steps, and the training has "
                f"{self.rounds * self.steps_per_round}"
            )
            raise FlowError(msg, "Let it start earlier, or train longer.")

    def _check_learners(self) -> None:
        count, algorithm, replay = self.learners, self.algorithm, self.replay
        if count is None:
            return
        if count < 1:
            msg = f"learners is {count}"
            raise FlowError(msg, "It is 1 or more; None is one without a server.")
        if not isinstance(algorithm, GivesGradients) or replay is None:
            msg = f"{algorithm.name} cannot share its updates among several learners"
            remedy = "Leave learners out, or take one that can, such as DQN."
            raise FlowError(msg, remedy)
        if replay.updates != 1:
            msg = (
                f"learners exchange gradients once a round, and the replay buffer is "
                f"to give batches for {replay.updates} updates"
            )
            remedy = "Leave updates at 1, and do fewer steps in a round if need be."
            raise FlowError(msg, remedy)

    # -- the program ------------------------------------------------------------------

    def main(self, records: Records | None = None, first: int = 1) -> Reactor:
        """Return the main reactor; an ordinary one, to be driven or contained.

        Args:
            records: What parts begin with, and where they can be asked.
            first: The number of the first round.
        """
        self.check()
        return Training(flow=self, records=records or Records(), first=first)

    def start(self, **options: Unpack[RunOptions]) -> Run:
        """Return a training of it; the options are those of ``Run``."""
        return Run(self, **options)

    def program(self) -> Program:
        """Return the program, for looking at it."""
        return elaborate(self.main())

    def graph(self) -> Graph:
        """Return a picture of the program; notebooks show it, ``str()`` is its text."""
        return graph(self.main(), depth=1, title=f"{self.algorithm.name} flow")

    def run(self, *, workers: int | None = None) -> Weights:
        """Train, and return what was learned.

        ``Run`` does the same round by round.
        """
        with Run(self, workers=workers) as run:
            for _ in run.rounds():
                pass
            return run.weights

    # -- what was learned -------------------------------------------------------------

    def learned(self, saved: Mapping[str, Data]) -> Weights:
        """Return what acting needs of what ``Run.save`` returned."""
        like = self.algorithm.begin(self.spaces, self.seed)
        state = saved["parts"][self.teacher]["state"]
        return self.algorithm.weights(self.algorithm.restored(like, state))

    def play(
        self,
        weights: Weights,
        *,
        episodes: int,
        seed: int,
        watch: Callable[[Any], None] | None = None,
    ) -> list[Episode]:
        """Play episodes without exploring; see ``reactorl.rl.flow.task``."""
        maker = self.maker
        if watch is not None and isinstance(maker, Recipe):
            drawn = {**maker.kwargs, "render_mode": "rgb_array"}
            maker = replace(maker, kwargs=drawn)

        shards = ShardFactory(maker)
        return play(
            lambda count: EvaluationEnvs(shards, self.spaces, count, self.algorithm),
            weights,
            episodes=episodes,
            seed=seed,
            watch=watch,
        )


class Training(Reactor):
    """All parts of a flow. Its outputs are what a round gives."""

    trajectories = MultiOutput[Trajectory](lambda self: self.flow.rollouts)
    metrics = Output[dict[str, float]]()
    evaluated = Output[Evaluated]()

    flow: Flow = param()
    records: Records = param()
    first: int = param(1)

    def build(self) -> None:
        """Add the parts and connect them."""
        flow, records = self.flow, self.records
        algorithm = flow.algorithm
        state = algorithm.begin(flow.spaces, flow.seed)
        weights = algorithm.weights(state)
        parts = flow.parts

        clock = self.add("clock", Clock, offset=self.first * ROUND)
        rollout = self.add_bank(
            "rollout",
            parts.get("rollout", Rollout)(
                plan=RolloutPlan(
                    flow.shards,
                    flow.spaces,
                    algorithm,
                    flow.num_envs // flow.rollouts,
                    flow.steps,
                    flow.rounds,
                    weights,
                    flow.seed,
                    records,
                )
            ),
            width=flow.rollouts,
        )
        if flow.replay is None:
            replay: Any = self.add("replay", parts.get("replay", Gather))
        else:
            kind: Any = parts.get("replay", Replay)
            drawn = replace(flow.replay, updates=flow.learners or flow.replay.updates)
            replay = self.add("replay", kind, plan=drawn, records=records)
        plan = LearnerPlan(algorithm, state, flow.lag, records)
        if flow.learners is None:
            learner: Any = self.add("learner", parts.get("learner", Learner), plan=plan)
            self.connect(replay.batches, learner.batches)
        else:
            learner = self._add_server(flow.learners, plan, replay)

        self.connect(clock.round, rollout.round, broadcast=True)
        self._connect_trajectories(rollout, replay)
        mail = self._connect_back(learner, rollout, replay)
        self.connect(rollout.trajectory, self.trajectories)
        self.connect(learner.metrics, self.metrics)
        if flow.evaluate_every:
            self._add_evaluation(clock, mail, weights)

    def _add_server(self, count: int, plan: LearnerPlan, replay: Any) -> Any:  # noqa: ANN401
        """Add learners that compute gradients, and a server that applies them."""
        parts = self.flow.parts
        server: Any = self.add("server", parts.get("server", Server), plan=plan)
        saved = self.records.saved(self.flow.teacher)
        if saved is not None:
            # What the server sent last arrives before learners need it.
            state = plan.algorithm.restored(plan.state, saved["state"])
            plan = replace(plan, state=state)
        kind: Any = parts.get("learner", GradientLearner)
        learner = self.add_bank("learner", kind(plan=plan), width=count)
        self.connect(replay.batches, learner.batches, broadcast=True)
        self.connect(learner.found, server.found)
        self.connect(server.known, learner.known, after=ROUND, broadcast=True)
        return server

    def _connect_trajectories(self, rollout: Any, replay: Any) -> None:  # noqa: ANN401
        flow = self.flow
        if flow.lag == 0:
            self.connect(rollout.trajectory, replay.trajectories)
            return
        saved = [self.records.saved(f"main.rollout[{k}]") for k in range(flow.rollouts)]
        post = self.add_bank(
            "post",
            Mailbox,
            width=flow.rollouts,
            each=lambda k: {"restored": _sent(saved[k])},
        )
        self.connect(rollout.trajectory, post.late, after=ROUND)
        self.connect(post.out, replay.trajectories)

    def _connect_back(self, learner: Any, rollout: Any, replay: Any) -> Mailbox:  # noqa: ANN401
        """Let weights, and errors for a replay buffer, go back to where they count.

        Returns where weights arrive.
        """
        saved = self.records.saved(self.flow.teacher)
        late = self.flow.delay * ROUND
        under_way = [] if saved is None else saved["under_way"]
        weights = [(time + late, found) for time, found in under_way]
        mail = self.add("mail", Mailbox, restored=weights)
        self.connect(learner.weights, mail.late, after=late)
        self.connect(mail.out, rollout.weights, broadcast=True)
        if self.flow.replay is None:
            return mail
        errors = []
        if saved is not None and saved["errors"] is not None:
            time, found = saved["errors"]
            errors = [(time + ROUND, found)]
        back = self.add("back", Mailbox, restored=errors)
        self.connect(learner.errors, back.late, after=ROUND)
        self.connect(back.out, replay.errors)
        return mail

    def _add_evaluation(self, clock: Any, mail: Any, weights: Weights) -> None:  # noqa: ANN401
        flow = self.flow
        count = min(flow.evaluation_episodes, flow.num_envs // flow.rollouts)
        plan = EvaluationPlan(
            flow.evaluate_every,
            flow.evaluation_episodes,
            count,
            flow.steps,
            flow.seed + EVALUATION_SEED,
            lambda: EvaluationEnvs(flow.shards, flow.spaces, count, flow.algorithm),
            weights,
            self.records,
        )
        kind: Any = flow.parts.get("evaluation", Evaluation)
        evaluation = self.add("evaluation", kind, plan=plan)
        self.connect(clock.round, evaluation.round)
        self.connect(mail.out, evaluation.weights)
        self.connect(evaluation.result, self.evaluated)


def _sent(saved: Data | None) -> list[tuple[int, Any]]:
    """Return what a rollout had sent that had not arrived."""
    if saved is None or saved["sent"] is None:
        return []
    return [(saved["sent_at"] + ROUND, Trajectory.restored(saved["sent"]))]


@public
class Run(Driven[Round]):
    """A training under way; a context manager.

    Args:
        flow: What to train.
        options: How to run: ``workers``, ``trace``, ``saved``, ``timing``, ``at_start``
            and ``at_end``; see ``RunOptions``.
    """

    def __init__(self, flow: Flow, **options: Unpack[RunOptions]) -> None:
        self.flow = flow
        super().__init__(
            flow.main,
            seed=flow.seed,
            period=ROUND,
            rounds=flow.rounds,
            options=options,
        )

    def step(self) -> Round:
        """Do one round."""
        outputs = self._next()
        self.done += 1
        found: list[Trajectory] = outputs["trajectories"]
        return Round(
            self.done,
            sum(t.steps for t in found),
            tuple(e for t in found for e in t.episodes),
            outputs.get("metrics"),
            outputs.get("evaluated"),
        )

    @property
    def state(self) -> State:
        """What has been learned so far."""
        teacher: Any = self.records.keeper(self.flow.teacher)
        return teacher.state

    @property
    def weights(self) -> Weights:
        """What acting needs of it."""
        return self.flow.algorithm.weights(self.state)
