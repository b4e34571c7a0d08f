# SPDX-License-Identifier: Apache-2.0
"""The tests, and what they share."""
