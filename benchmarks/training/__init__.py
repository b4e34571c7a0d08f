# SPDX-License-Identifier: Apache-2.0
"""Benchmarks of training.

``make bench-training`` compares flows with and without a lag, and with the same
algorithm written as an ordinary loop. Results are in ``build/bench-training``;
``benchmarks/runtime/README.md`` says what makes it fair.
"""
