# SPDX-License-Identifier: Apache-2.0
"""Benchmarks of the vector environment.

``make bench-vector`` steps the same environments with our vector and Gymnasium's, in
turns, and says whether what is promised holds. Results are in ``build/bench-vector``;
``benchmarks/runtime/README.md`` says what makes it fair.
"""
