# SPDX-License-Identifier: Apache-2.0
"""PettingZoo environments: vectors, training and inference of several agents."""
