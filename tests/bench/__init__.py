# SPDX-License-Identifier: Apache-2.0
"""Tests of the benchmarks: harness, suites, and every workload at smoke size."""
