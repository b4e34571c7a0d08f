# SPDX-License-Identifier: Apache-2.0
"""The reactor program of a ``Flow``: clock, rollouts, replay, learner, evaluation."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from reactorl import MultiOutput, Output, Reactor, Timer, msec, param, reaction
from reactorl.rl.flow.evaluation import Evaluated, Evaluation, EvaluationPlan
from reactorl.rl.flow.learner import Learner, LearnerPlan
from reactorl.rl.flow.parameter_server import GradientLearner, Server
from reactorl.rl.flow.replay import Gather, Replay
from reactorl.rl.flow.rollout import Rollout, RolloutPlan
from reactorl.rl.flow.shard_envs import EvaluationEnvs
from reactorl.rl.flow.trajectory import Trajectory

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reactorl.rl.checkpoint.registry import StateRegistry
    from reactorl.rl.flow.algorithm import Weights
    from reactorl.rl.flow.flow import Flow

PERIOD: Final = msec(1)
"""Logical time of an iteration."""
EVALUATION_SEED: Final = 1_000_000
"""Added to the seed for evaluation, so that it plays other episodes than rollouts."""


class Clock(Reactor):
    """Sends the number of an iteration at the tag at which it begins."""

    iteration = Output[int]()
    offset: int = param(PERIOD)
    tick = Timer(offset, PERIOD)

    @reaction(tick, effects=[iteration])
    def begin(self) -> None:
        """Begin an iteration."""
        self.iteration.set(self.elapsed // PERIOD)


class TrainingLoop(Reactor):
    """The main reactor of a training run; its outputs are the results of iterations."""

    trajectories = MultiOutput[Trajectory](lambda self: self.flow.num_rollouts)
    metrics = Output[dict[str, float]]()
    evaluated = Output[Evaluated]()

    flow: Flow = param()
    registry: StateRegistry = param()
    first: int = param(1)

    def build(self) -> None:
        """Add the reactors and connect them."""
        flow, registry, parts = self.flow, self.registry, self.flow.parts
        algorithm = flow.algorithm
        state = algorithm.init(flow.spaces, flow.seed)
        saved = registry.saved(flow.learner_path)
        if saved is not None:
            state = algorithm.deserialize(state, saved["state"])
        weights = algorithm.weights(state)

        clock = self.add("clock", Clock, offset=self.first * PERIOD)
        rollout = self.add_bank(
            "rollout",
            parts.get("rollout", Rollout)(plan=self._rollout_plan(weights)),
            width=flow.num_rollouts,
        )
        if algorithm.replay is None:
            replay: Any = self.add("replay", parts.get("replay", Gather))
        else:
            kind: Any = parts.get("replay", Replay)
            plan = replace(
                algorithm.replay, updates=flow.learners or algorithm.replay.updates
            )
            replay = self.add("replay", kind, plan=plan, registry=registry)
        learner = self._add_learner(
            LearnerPlan(algorithm, state, algorithm.lag, registry), replay
        )

        late = max(algorithm.lag, 1) * PERIOD
        self.connect(clock.iteration, rollout.iteration, broadcast=True)
        after = PERIOD if algorithm.lag else None
        self.connect(rollout.trajectory, replay.trajectories, after=after)
        self.connect(learner.weights, rollout.weights, after=late, broadcast=True)
        if algorithm.replay is not None:
            self.connect(learner.errors, replay.errors, after=PERIOD)
        self.connect(rollout.trajectory, self.trajectories)
        self.connect(learner.metrics, self.metrics)
        if flow.eval_interval:
            kind = parts.get("evaluation", Evaluation)
            evaluation = self.add(
                "evaluation", kind, plan=self._evaluation_plan(weights)
            )
            self.connect(clock.iteration, evaluation.iteration)
            self.connect(learner.weights, evaluation.weights, after=late)
            self.connect(evaluation.result, self.evaluated)

    def _add_learner(self, plan: LearnerPlan, replay: Any) -> Any:  # noqa: ANN401
        """Add the learner, or several with a parameter server.

        Returns:
            The reactor with the outputs ``weights``, ``metrics`` and ``errors``.
        """
        flow, parts = self.flow, self.flow.parts
        kind: Any
        if flow.learners is None:
            kind = parts.get("learner", Learner)
            alone: Any = self.add("learner", kind, plan=plan)
            self.connect(replay.batches, alone.batches)
            return alone
        server: Any = self.add("server", parts.get("server", Server), plan=plan)
        kind = parts.get("learner", GradientLearner)
        learner = self.add_bank("learner", kind(plan=plan), width=flow.learners)
        self.connect(replay.batches, learner.batches, broadcast=True)
        self.connect(learner.gradients, server.gradients)
        self.connect(server.state_sent, learner.current, after=PERIOD, broadcast=True)
        return server

    def _rollout_plan(self, weights: Weights) -> RolloutPlan:
        flow, algorithm = self.flow, self.flow.algorithm
        return RolloutPlan(
            flow.shards,
            flow.spaces,
            algorithm,
            algorithm.num_envs // flow.num_rollouts,
            algorithm.num_steps,
            algorithm.iterations,
            weights,
            flow.seed,
            self.registry,
            flow.task_env.clip_rewards,
        )

    def _evaluation_plan(self, weights: Weights) -> EvaluationPlan:
        flow, algorithm = self.flow, self.flow.algorithm
        count = min(flow.eval_episodes, algorithm.num_envs // flow.num_rollouts)
        return EvaluationPlan(
            flow.eval_interval,
            flow.eval_episodes,
            count,
            algorithm.num_steps,
            flow.seed + EVALUATION_SEED,
            lambda: EvaluationEnvs(
                flow.shards, flow.spaces, count, algorithm, flow.max_eval_steps
            ),
            weights,
            self.registry,
        )


def in_flight(flow: Flow, registry: StateRegistry) -> Iterator[tuple[str, Any, int]]:
    """Yield what was under way on delayed connections when a run was saved.

    Yields:
        The full name of the port, the value, and the time at which it was sent.
    """
    learner = registry.saved(flow.learner_path)
    if learner is None:
        return
    for sent, weights in learner["under_way"]:
        yield f"{flow.learner_path}.weights", weights, sent
    if learner["errors"] is not None and flow.algorithm.replay is not None:
        sent, errors = learner["errors"]
        yield f"{flow.learner_path}.errors", errors, sent
    if not flow.algorithm.lag:
        return
    for index in range(flow.num_rollouts):
        rollout = registry.saved(f"main.rollout[{index}]")
        if rollout is not None and rollout["sent"] is not None:
            found = Trajectory.deserialize(rollout["sent"])
            yield f"main.rollout[{index}].trajectory", found, rollout["sent_at"]
