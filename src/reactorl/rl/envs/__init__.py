# SPDX-License-Identifier: Apache-2.0
"""Where sub-environments live: shards in threads or processes, and the backends that step them."""
