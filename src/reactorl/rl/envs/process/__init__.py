# SPDX-License-Identifier: Apache-2.0
"""Shards in worker processes."""
