# SPDX-License-Identifier: Apache-2.0
"""Where sub-environments live: shards, and the backends that step them."""
