# SPDX-License-Identifier: Apache-2.0
"""Mutants of environments: backends, vectors and wrappers."""

from __future__ import annotations

from typing import Final

from mutants.mutant import Mutant

_ENVS: Final = "src/reactorl/rl/envs/"
_RESTART: Final = "tests/rl/envs/test_restart.py::test_"

RL_ENVS: Final = (
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
    Mutant(
        "envs-info-of-an-ended-episode-is-shared",
        _ENVS + "autoreset.py",
        '"final_info": own_copy(info)',
        '"final_info": info',
        ("tests/rl/vector/test_equality.py",),
        "The reset changes the info of the episode that ended.",
    ),
    Mutant(
        "envs-replacements-have-the-same-seed",
        _ENVS + "restart_state.py",
        'text = f"{self.seed}/{count}".encode()',
        'text = f"{self.seed}".encode()',
        ("tests/rl/envs/test_restart.py",),
        "Every replacement of an environment plays the same episodes.",
    ),
    Mutant(
        "envs-failure-after-the-end-truncates-the-next-episode",
        _ENVS + "restart_state.py",
        "if self._pending is None or not self._pending_ends_episode:",
        "if self._pending is None:",
        ("tests/rl/envs/test_restart.py",),
        "An episode of length 0 is reported.",
    ),
    Mutant(
        "envs-lent-buffer-is-used-again",
        _ENVS + "buffer_pool.py",
        "        self._is_lent[buffer - 1] = True\n",
        "",
        ("tests/rl/envs/test_buffer_pool.py",),
        "Observations that a caller keeps change with the next step.",
    ),
    Mutant(
        "envs-released-buffer-is-never-free",
        _ENVS + "buffer_pool.py",
        "self._is_lent[buffer - 1] = False",
        "self._is_lent[buffer - 1] |= False",
        ("tests/rl/envs/test_buffer_pool.py",),
        "Large observations are copied after a few steps.",
    ),
    Mutant(
        "vector-masks-of-environments-are-data",
        "src/reactorl/rl/vector/infos.py",
        'if name == "final_obs" or str(name).startswith("_"):',
        'if name == "final_obs":',
        ("tests/rl/vector/test_infos.py",),
        "Infos differ from those of Gymnasium.",
    ),
    Mutant(
        "wrappers-frames-of-the-last-episode-stay",
        "src/reactorl/rl/wrappers/frame_stack.py",
        'self._frames[: size - 1] = observation if self.padding_type == "reset" else 0',
        'self._frames[: size - 2] = observation if self.padding_type == "reset" else 0',
        ("tests/rl/wrappers/test_frame_stack.py",),
        "The first stack shows the episode before.",
    ),
    Mutant(
        "wrappers-moved-frames-are-shifted-by-one",
        "src/reactorl/rl/wrappers/frame_stack.py",
        "self._next = size - 1\n        frames",
        "self._next = size\n        frames",
        ("tests/rl/wrappers/test_frame_stack.py",),
        "Every few steps a stack has an old frame.",
    ),
    Mutant(
        "wrappers-flicker-is-not-removed",
        "src/reactorl/rl/wrappers/atari.py",
        "            np.maximum(self._last, self._last_but_one, out=self._last)\n",
        "            np.copyto(self._last, self._last)\n",
        ("tests/rl/wrappers/test_atari.py",),
        "Objects are missing in frames of Atari games.",
    ),
)
