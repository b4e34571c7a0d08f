# SPDX-License-Identifier: Apache-2.0
"""The algorithms, one file each."""
