# SPDX-License-Identifier: Apache-2.0
"""Federates on a Ray cluster: Ray places and starts them, and carries no values."""
