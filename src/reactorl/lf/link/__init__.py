# SPDX-License-Identifier: Apache-2.0
"""Syntax trees to a linked program: imports, names, inheritance, and all rules."""
