# SPDX-License-Identifier: Apache-2.0
"""A Gymnasium vector environment on the reactor runtime."""
