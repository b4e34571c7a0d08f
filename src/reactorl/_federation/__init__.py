# SPDX-License-Identifier: Apache-2.0
"""Federates: one program in several processes, connected by authenticated links."""
