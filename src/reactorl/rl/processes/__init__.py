# SPDX-License-Identifier: Apache-2.0
"""Environments in other processes."""
