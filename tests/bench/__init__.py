# SPDX-License-Identifier: Apache-2.0
"""Tests of the evidence: what it measures with, what it keeps, what it writes."""
