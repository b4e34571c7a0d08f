# SPDX-License-Identifier: Apache-2.0
"""Mutants of training as a reactor program."""

from __future__ import annotations

from typing import Final

from mutants.mutant import Mutant

_FLOW: Final = "src/reactorl/rl/flow/"

RL_FLOW: Final = (
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
        "self.envs.steps_greedily(self.judged, every, left, tag)",
        "self.envs.steps_greedily(self.latest, every, left, tag)",
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
        "flow-mask-of-one-component-may-forbid-all",
        _FLOW + "action_masks.py",
        "if not self._allowed(flags).all():",
        "if not self._allowed(flags).any():",
        ("tests/rl/flow/test_action_masks.py",),
        "An action is sampled although none is allowed.",
    ),
    Mutant(
        "flow-lost-life-is-no-termination",
        _FLOW + "rollout.py",
        "terminations[envs.lives_lost] = True",
        "terminations[envs.lives_lost] |= False",
        (
            "tests/rl/flow/test_environment.py",
            "tests/rl/flow/test_flow.py",
        ),
        "life_loss has no effect on learning.",
    ),
    Mutant(
        "flow-last-observation-is-of-the-next-episode",
        _FLOW + "rollout.py",
        "                reached[who] = last  # the next episode has begun already\n",
        "",
        (
            "tests/rl/flow/test_environment.py",
            "tests/rl/flow/test_flow.py",
        ),
        "Bootstrapping through truncation uses another episode.",
    ),
    Mutant(
        "flow-progress-is-one-iteration-early",
        _FLOW + "rollout.py",
        "(self.iteration.value - 1) / plan.iterations",
        "self.iteration.value / plan.iterations",
        ("tests/rl/flow/test_environment.py",),
        "Schedules never have their first value.",
    ),
    Mutant(
        "flow-gradients-are-summed",
        _FLOW + "parameter_server.py",
        "return total / len(parts)",
        "return total",
        ("tests/rl/flow/test_parameter_server.py",),
        "The learning rate grows with the number of learners.",
    ),
    Mutant(
        "flow-discount-goes-on-after-the-episode",
        _FLOW + "transition_store.py",
        "discounts = np.where(more, discounts * gamma, discounts)",
        "discounts = discounts * gamma",
        ("tests/rl/flow/test_transition_store.py",),
        "n-step targets at the end of an episode are too small.",
    ),
    Mutant(
        "flow-places-of-replaced-observations-are-lost",
        _FLOW + "transition_store.py",
        "self._free.extend((-1 - links[links < 0]).tolist())",
        "self._free.extend(())",
        ("tests/rl/flow/test_transition_store.py",),
        "The replay buffer grows without bound.",
    ),
    Mutant(
        "flow-restored-transitions-are-not-linked",
        _FLOW + "transition_store.py",
        'self._newest = {int(key): numbers for key, numbers in saved["newest"]}',
        "self._newest = {}",
        ("tests/rl/flow/test_transition_store.py",),
        "A resumed run learns from other n-step returns.",
    ),
    Mutant(
        "flow-checkpoints-depend-on-who-shares-an-array",
        "src/reactorl/rl/checkpoint/codec.py",
        "if known is None:  # the first of its kind",
        "if True:  # the first of its kind",
        ("tests/rl/flow/test_federates.py",),
        "The checkpoint of several processes is not that of one.",
    ),
    Mutant(
        "flow-states-of-other-federates-are-not-saved",
        _FLOW + "run.py",
        "                parts |= federate\n",
        "                pass\n",
        ("tests/rl/flow/test_federates.py",),
        "A checkpoint lacks rollouts.",
    ),
    Mutant(
        "flow-other-federates-get-no-saved-states",
        "src/reactorl/rl/checkpoint/registry.py",
        '            if name.partition("[")[0] in self._sent\n',
        "            if False\n",
        ("tests/rl/flow/test_federates.py",),
        "Rollouts of a resumed run begin with new episodes.",
    ),
    Mutant(
        "flow-clock-is-in-one-process",
        _FLOW + "federates.py",
        "replicas=[CLOCK]",
        "replicas=[]",
        ("tests/rl/flow/test_federates.py",),
        "Rollouts wait for the head in every iteration, whatever the policy lag is.",
    ),
    Mutant(
        "flow-training-restarts-without-a-checkpoint",
        "src/reactorl/rl/runs/trainer.py",
        "lost and left and session.has_checkpoint",
        "lost and left",
        ("tests/rl/runs/test_federates.py",),
        "The error says that a checkpoint is missing, not which federate was lost.",
    ),
)
