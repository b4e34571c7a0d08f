# SPDX-License-Identifier: Apache-2.0
"""Presets: tuned settings of an algorithm for an environment or a family of them.

One TOML file for each algorithm; ``lookup`` reads them, ``families`` says which family
an environment belongs to.
"""
