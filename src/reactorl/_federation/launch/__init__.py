# SPDX-License-Identifier: Apache-2.0
"""Starts the processes of federates."""
