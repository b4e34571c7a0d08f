# SPDX-License-Identifier: Apache-2.0
"""A module of a directory that is an entry itself, for files.lf."""

LEAF = 3
