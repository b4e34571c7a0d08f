# SPDX-License-Identifier: Apache-2.0
"""The benchmark harness: plan, measure in turns, store, judge, report."""
