# SPDX-License-Identifier: Apache-2.0
"""The former place of ``networks.mlp``."""

from reactorl.rl.algorithms.networks.mlp import Layers, apply_mlp, make_mlp

__all__ = ["Layers", "apply_mlp", "make_mlp"]
