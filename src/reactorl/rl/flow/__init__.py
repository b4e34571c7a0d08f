# SPDX-License-Identifier: Apache-2.0
"""The training program: rollouts, replay, learner and evaluation as reactors."""
