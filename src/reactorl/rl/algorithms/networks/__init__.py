# SPDX-License-Identifier: Apache-2.0
"""Networks: their initialization and application, in NumPy and JAX."""
