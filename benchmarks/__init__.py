# SPDX-License-Identifier: Apache-2.0
"""Benchmarks of ReactoRL; not part of the package."""
