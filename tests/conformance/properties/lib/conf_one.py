# SPDX-License-Identifier: Apache-2.0
"""A module for files.lf."""

ONE = 1
