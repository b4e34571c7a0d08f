# SPDX-License-Identifier: Apache-2.0
"""Algorithms, each in one file that can be read from top to bottom."""
