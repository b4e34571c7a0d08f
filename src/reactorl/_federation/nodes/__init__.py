# SPDX-License-Identifier: Apache-2.0
"""The machines of a cluster: whether they agree, and how fast they reach each other."""
