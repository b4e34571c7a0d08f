# SPDX-License-Identifier: Apache-2.0
"""Results: how good policies become, and how long that takes, beside other libraries.

A run is one process: an engine trains one task with one seed until a greedy evaluation
reaches the task's threshold. Runs are stored one by one, so that a suite of hours can
be measured in pieces. The slices and turns of ``benchmarks.harness`` do not fit this;
its environments, facts and display do.
"""
