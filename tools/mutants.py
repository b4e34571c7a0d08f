# SPDX-License-Identifier: Apache-2.0
"""The mutants that ``mutate.py`` applies: wrong code that tests must notice.

A name is the area of the code and what is wrong. ``before`` occurs exactly once in the
file, which a test checks, so a change of the code updates the list.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Mutant:
    """A change of one place that makes the code wrong."""

    name: str
    file: str
    """Path from the root of the project."""
    before: str
    """Text that occurs once in the file."""
    after: str
    tests: tuple[str, ...]
    """Test files, or tests, that are run with it."""
    why: str
    """What users would suffer from if no test noticed."""


_PROGRAM: Final = "src/reactorl/_program/"
_RUNTIME: Final = "src/reactorl/_runtime/"
_ENVS: Final = "src/reactorl/rl/envs/"
_FLOW: Final = "src/reactorl/rl/flow/"
_ALGORITHMS: Final = "src/reactorl/rl/algorithms/"
_LF: Final = "src/reactorl/lf/"
_RESTART: Final = "tests/rl/envs/test_restart.py::test_"

_TRAINING: Final = (
    Mutant(
        "flow-seeds-of-rollouts-overlap",
        _FLOW + "rollout.py",
        "first = plan.env_seed + self.bank_index * plan.num_envs",
        "first = plan.env_seed + self.bank_index",
        ("tests/rl/flow/test_flow.py",),
        "Several rollouts collect the same episodes.",
    ),
    Mutant(
        "flow-evaluation-uses-newer-weights",
        _FLOW + "evaluation.py",
        "self.envs.step_greedily(self.judged, every, tag)",
        "self.envs.step_greedily(self.latest, every, tag)",
        ("tests/rl/flow/test_evaluation.py",),
        "A reported return belongs to no policy.",
    ),
    Mutant(
        "flow-evaluation-prefers-short-episodes",
        _FLOW + "evaluation.py",
        """\
            if all(len(each) >= self._quota for each in self.episodes):
                found = [e for each in self.episodes for e in each[: self._quota]]
""",
        """\
            if sum(map(len, self.episodes)) >= self.plan.episodes:
                found = [e for each in self.episodes for e in each]
""",
        ("tests/rl/flow/test_evaluation.py",),
        "Returns are biased towards short episodes.",
    ),
    Mutant(
        "flow-play-prefers-short-episodes",
        _FLOW + "evaluation.py",
        "active = [k for k in active if len(played[k]) < shares[k]]",
        "active = [k for k in active if sum(map(len, played)) < episodes]",
        ("tests/rl/flow/test_evaluation.py",),
        "Returns are biased towards short episodes.",
    ),
    Mutant(
        "flow-weights-in-flight-are-lost-by-a-resume",
        _FLOW + "learner.py",
        'self.under_way.extend((time, value) for time, value in saved["under_way"])',
        "pass",
        (
            "tests/rl/contract/test_algorithm.py::test_a_resumed_run_saves_the_state_"
            "that_it_started_from",
        ),
        "A run that is resumed twice ends with other weights.",
    ),
    Mutant(
        "algorithms-torch-uses-several-threads",
        _ALGORITHMS + "torch.py",
        "torch.set_num_threads(1)",
        "pass",
        ("tests/rl/algorithms/test_torch.py",),
        "Weights depend on the number of processors.",
    ),
    Mutant(
        "algorithms-importance-weights-are-ignored",
        _ALGORITHMS + "dqn.py",
        'jnp.mean(batch["importance"] * measure(td_errors))',
        "jnp.mean(measure(td_errors))",
        ("tests/rl/algorithms/test_dqn.py",),
        "Prioritized replay is biased.",
    ),
    Mutant(
        "flow-uniform-sampling-misses-the-last-row",
        _FLOW + "replay.py",
        "return random.integers(size, size=shape)",
        "return random.integers(max(size - 1, 1), size=shape)",
        ("tests/rl/flow/test_replay.py",),
        "A transition is never learned from.",
    ),
    Mutant(
        "flow-prioritized-sampling-misses-the-last-row",
        _FLOW + "replay.py",
        "chosen = np.minimum(found, size - 1)",
        "chosen = np.minimum(found, max(size - 2, 0))",
        ("tests/rl/flow/test_replay.py",),
        "A transition is never learned from.",
    ),
    Mutant(
        "flow-importance-weights-are-inverted",
        _FLOW + "replay.py",
        "importance = (size * probability) ** -beta",
        "importance = (size * probability) ** beta",
        ("tests/rl/flow/test_replay.py",),
        "The correction of prioritized replay doubles the bias.",
    ),
    Mutant(
        "algorithms-exploration-fraction-is-ignored",
        _ALGORITHMS + "epsilon_greedy.py",
        "done = min(1.0, progress / schedule.exploration_fraction)",
        "done = min(1.0, progress)",
        ("tests/rl/algorithms/test_dqn.py", "tests/rl/algorithms/test_q_learning.py"),
        "Training explores longer than asked for.",
    ),
)

_ENVIRONMENTS: Final = (
    Mutant(
        "envs-end-of-an-episode-is-read-after-the-loss",
        _ENVS + "process/shard.py",
        "self._ended_before = self._arrays.terminations | self._arrays.truncations",
        "pass",
        (_RESTART + "episode_that_ends_in_the_step_of_a_loss_is_truncated",),
        "An episode that ends in the step of a crash never ends for the learner.",
    ),
    Mutant(
        "envs-seeded-reset-keeps-the-number-of-restarts",
        _ENVS + "restart_state.py",
        "self.seed, self.count, self._next_seed = seed, 0, None",
        "self.seed, self._next_seed = seed, None",
        (_RESTART + "seeded_reset_repeats_the_episodes_after_restarts",),
        "The same seed gives other episodes after a restart.",
    ),
    Mutant(
        "envs-new-process-seems-to-run-what-killed-the-last",
        _ENVS + "process/worker.py",
        "current[layout.worker] = IDLE",
        "current[layout.worker] += 0",
        (
            "tests/rl/envs/test_process_backend.py::test_process_lost_at_its_start_"
            "names_no_running_env",
        ),
        "An error names an environment that did not run.",
    ),
    Mutant(
        "envs-deferred-failure-hides-a-newer-one",
        _ENVS + "managed_env.py",
        "return found, failure or deferred",
        "return found, deferred or failure",
        (_RESTART + "reset_reports_its_own_failure_instead_of_a_deferred_one",),
        "The info of a reset reports an old failure instead of its own.",
    ),
    Mutant(
        "envs-ctrl-c-reaches-worker-processes",
        _ENVS + "process/child.py",
        "signal.signal(signal.SIGINT, signal.SIG_IGN)",
        "pass",
        ("tests/rl/envs/test_worker_process.py",),
        "Ctrl-C in a terminal prints tracebacks of worker processes and loses "
        "the last checkpoint.",
    ),
    Mutant(
        "vector-infos-share-masks",
        "src/reactorl/rl/vector/infos.py",
        'found[f"_{name}"] = mask.copy()',
        'found[f"_{name}"] = mask',
        ("tests/rl/vector/test_infos.py",),
        "A caller that changes a mask changes all later ones.",
    ),
    Mutant(
        "envs-received-objects-are-not-copied",
        _ENVS + "observation_buffer.py",
        "return deepcopy(concatenate(self._space, chosen, out))",
        "return concatenate(self._space, chosen, out)",
        ("tests/rl/envs/test_observation_buffer.py", "tests/rl/vector/test_async.py"),
        "Observations that a caller keeps change with the next step.",
    ),
)

_PROGRAMS: Final = (
    Mutant(
        "program-mode-and-outside-of-modes-are-exclusive",
        _PROGRAM + "levels.py",
        "return outside not in (one.scope, other.scope)",
        "return outside is not None",
        ("tests/program/test_precedence.py",),
        "A causality loop is accepted.",
    ),
    Mutant(
        "program-reaction-outside-of-modes-shares-a-target",
        _PROGRAM + "wiring.py",
        "if outside in (reaction.scope, scope) or reaction.scope == scope:",
        "if outside == scope or reaction.scope == scope:",
        ("tests/program/test_wiring.py",),
        "A port has two drivers at the same tag.",
    ),
    Mutant(
        "program-connection-with-one-end-in-its-mode-is-not-forwarded",
        _PROGRAM + "wiring.py",
        "return not (all(map(inside, wire.sources)) or all(map(inside, wire.targets)))",
        "return not (any(map(inside, wire.sources)) or any(map(inside, wire.targets)))",
        ("tests/program/test_wiring.py",),
        "Values arrive after the mode of their connection was left.",
    ),
    Mutant(
        "runtime-recording-is-written-in-place",
        _RUNTIME + "recording.py",
        'with atomic_writer(Path(path), "w") as file:',
        'with Path(path).open("w", encoding="utf-8") as file:',
        ("tests/runtime/test_recording.py",),
        "A failed save destroys the last recording.",
    ),
    Mutant(
        "runtime-checking-blames-the-next-reaction",
        _RUNTIME + "checking.py",
        "self._verify(list(self._sent), node, before=True)",
        "pass",
        ("tests/runtime/test_checking.py",),
        "An error names a reaction that did nothing wrong.",
    ),
    Mutant(
        "runtime-checking-misses-replaced-values",
        _RUNTIME + "checking.py",
        "if self._session.value(slot) is not value and slot not in writes:",
        "if self._session.value(slot) is not value:",
        ("tests/runtime/test_checking.py",),
        "A nondeterministic program passes the checking mode.",
    ),
    Mutant(
        "runtime-stopped-watchdog-expires",
        _RUNTIME + "watchdogs.py",
        """\
                if self._due.get(node.id) != time or self._ending:
                    return
                del self._due[node.id]
""",
        """\
                if self._ending:
                    return
                self._due.pop(node.id, None)
""",
        ("tests/runtime/test_watchdogs.py",),
        "A watchdog that was stopped in time runs its handler.",
    ),
    Mutant(
        "runtime-alarm-is-recorded-one-reaction-late",
        _RUNTIME + "watchdogs.py",
        ".append(turn.reactions)",
        ".append(turn.reactions + 1)",
        ("tests/runtime/test_watchdogs.py",),
        "A replay differs from the recorded run.",
    ),
    Mutant(
        "runtime-reactions-overlap-with-watchdog-handlers",
        _RUNTIME + "watchdogs.py",
        """\
        with turn.lock:
            try:
                body(instance)
""",
        """\
        if turn.lock is not None:
            try:
                body(instance)
""",
        ("tests/runtime/test_watchdogs.py",),
        "A handler and a reaction change the same state concurrently.",
    ),
    Mutant(
        "util-seeds-depend-on-the-last-name-only",
        "src/reactorl/_util/seeds.py",
        'text = f"{run_seed}\\0{path}".encode()',
        "text = f\"{run_seed}\\0{path.rpartition('.')[2]}\".encode()",
        ("tests/util/test_seeds.py",),
        "Reactors of the same name draw the same random numbers.",
    ),
    Mutant(
        "lf-list-is-a-constant",
        _LF + "lower/values.py",
        "return not isinstance(expr, syntax.Code | syntax.List)",
        "return not isinstance(expr, syntax.Code)",
        (
            "tests/conformance/test_conformance.py::test_program_prints_the_expected_"
            "output[classes/lists_belong_to_one_instance]",
        ),
        "Members of a bank share a list parameter.",
    ),
)

_OTHERS: Final = (
    Mutant(
        "algorithms-gae-reaches-into-the-next-episode",
        _ALGORITHMS + "gae.py",
        "same_episode = 1 - (terminations | truncations)",
        "same_episode = 1 - terminations",
        ("tests/rl/algorithms/test_ppo.py",),
        "Advantages of a truncated episode have those of the next one.",
    ),
    Mutant(
        "algorithms-statistics-forget-the-difference-of-means",
        _ALGORITHMS + "normalization.py",
        "squares = squares + delta**2 * self.count * count / total",
        "squares = squares + 0 * delta",
        ("tests/rl/algorithms/test_normalization.py",),
        "Normalized observations have the wrong variance if their mean drifts.",
    ),
    Mutant(
        "algorithms-returns-go-on-after-an-episode",
        _ALGORITHMS + "normalization.py",
        "return jnp.where(end, 0, found), found",
        "return found, found",
        ("tests/rl/algorithms/test_normalization.py",),
        "Normalized rewards depend on the length of earlier episodes.",
    ),
    Mutant(
        "algorithms-td3-smoothing-noise-is-not-clipped",
        _ALGORITHMS + "td3.py",
        "noise = jnp.clip(noise, -self.noise_clip, self.noise_clip)",
        "noise = jnp.clip(noise, -9.0, 9.0)",
        ("tests/rl/algorithms/test_off_policy.py",),
        "noise_clip has no effect.",
    ),
    Mutant(
        "algorithms-td3-actor-uses-the-second-critic",
        _ALGORITHMS + "td3.py",
        "self._q_values(state.critics[:1], inputs, choices)",
        "self._q_values(state.critics[1:], inputs, choices)",
        ("tests/rl/algorithms/test_off_policy.py",),
        "TD3 differs from its paper.",
    ),
    Mutant(
        "algorithms-sac-entropy-target-has-the-wrong-sign",
        _ALGORITHMS + "sac.py",
        "gradient = -jnp.exp(state.log_alpha) * (log_prob + target)",
        "gradient = jnp.exp(state.log_alpha) * (log_prob + target)",
        ("tests/rl/algorithms/test_off_policy.py",),
        "alpha moves away from the target entropy.",
    ),
    Mutant(
        "flow-n-step-returns-are-not-discounted",
        _FLOW + "transition_store.py",
        "np.where(more, discounts * rewards[last], 0.0)",
        "np.where(more, rewards[last], 0.0)",
        ("tests/rl/flow/test_transition_store.py",),
        "n-step targets are too large.",
    ),
    Mutant(
        "flow-replaced-transitions-are-linked",
        _FLOW + "transition_store.py",
        "alive = before >= max(0, self.count - self.capacity)",
        "alive = before >= 0",
        ("tests/rl/flow/test_transition_store.py",),
        "The next observation of a transition is from another episode.",
    ),
    Mutant(
        "flow-new-transitions-have-no-priority",
        _FLOW + "replay.py",
        "self.highest = max(self.highest, float(found.max()))",
        "self.highest = max(self.highest, 0.0)",
        ("tests/rl/flow/test_replay.py",),
        "New transitions are drawn less often than old ones.",
    ),
    Mutant(
        "flow-clipped-rewards-are-not-clipped",
        _FLOW + "rollout.py",
        "np.sign(rewards) if plan.clip_rewards else rewards",
        "rewards",
        ("tests/rl/flow/test_environment.py",),
        "clip_rewards has no effect.",
    ),
    Mutant(
        "envs-info-of-an-ended-episode-is-shared",
        _ENVS + "autoreset.py",
        '"final_info": own_copy(info)',
        '"final_info": info',
        ("tests/rl/vector/test_equality.py",),
        "The reset changes the info of the episode that ended.",
    ),
    Mutant(
        "program-deadlines-are-not-inherited",
        _PROGRAM + "levels.py",
        "inferred[reaction] = min(inferred[reaction], inferred[other])",
        "inferred[reaction] = min(inferred[reaction], FOREVER)",
        ("tests/program/test_precedence.py",),
        "Reactions upstream of a deadline run late.",
    ),
    Mutant(
        "program-interleaved-is-member-major",
        _PROGRAM + "wiring.py",
        """\
                for channel in range(widest)
                for node in nodes
                if channel""",
        """\
                for node in nodes
                for channel in range(widest)
                if channel""",
        ("tests/program/test_wiring.py",),
        "Values arrive at the wrong channels.",
    ),
    Mutant(
        "runtime-preloaded-values-arrive-at-once",
        _RUNTIME + "drive.py",
        "arrival = nanoseconds(sent) + (stage.delay or 0)",
        "arrival = nanoseconds(sent)",
        ("tests/runtime/test_preload.py",),
        "A resumed run gets its weights too early.",
    ),
    Mutant(
        "runtime-session-ends-after-a-failure",
        _RUNTIME + "drive.py",
        "if error is None and self._open and not self._failed:",
        "if error is None and self._open:",
        ("tests/runtime/test_drive.py",),
        "A driven program that failed runs its final tag.",
    ),
    Mutant(
        "lf-long-times-overflow",
        _LF + "parse/time_units.py",
        "return max(NEVER, min(length, FOREVER))",
        "return max(NEVER, length)",
        ("tests/lf/link", "tests/lf/parse"),
        "A time beyond forever is not a valid duration.",
    ),
    Mutant(
        "lf-plain-name-before-the-hidden-parameter",
        _LF + "lower/values.py",
        "return params[hidden] if hidden in params else params[name]",
        "return params[name] if name in params else params[hidden]",
        (
            "tests/conformance/test_conformance.py::test_program_prints_the_expected_"
            "output[classes/main_parameters]",
        ),
        "A parameter of the main reactor has another one's value.",
    ),
)

MUTANTS: Final[tuple[Mutant, ...]] = (
    *_TRAINING,
    *_ENVIRONMENTS,
    *_PROGRAMS,
    *_OTHERS,
)
