# SPDX-License-Identifier: Apache-2.0
"""A module for files_single.lf."""

VALUE = "single"
