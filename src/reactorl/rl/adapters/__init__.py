# SPDX-License-Identifier: Apache-2.0
"""Interfaces of other libraries on top of the vector environment."""
