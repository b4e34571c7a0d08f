# SPDX-License-Identifier: Apache-2.0
"""Checkpoints: format, environment state, identity."""
