# SPDX-License-Identifier: Apache-2.0
"""Small helpers that every layer may use; this package imports nothing of ours."""
