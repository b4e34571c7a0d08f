# SPDX-License-Identifier: Apache-2.0
"""Declarations of reactor classes; elaboration turns them into a Program."""
