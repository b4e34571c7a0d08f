# SPDX-License-Identifier: Apache-2.0
"""What ``reactorl doctor`` finds out."""
