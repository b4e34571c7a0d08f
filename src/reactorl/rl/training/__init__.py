# SPDX-License-Identifier: Apache-2.0
"""Training as dataflow: rollouts, replay, learner and evaluation are reactors."""
