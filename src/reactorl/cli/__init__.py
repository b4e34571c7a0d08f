# SPDX-License-Identifier: Apache-2.0
"""The command line: ``reactorl run``, ``train`` and others; one file per command."""
