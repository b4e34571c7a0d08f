# SPDX-License-Identifier: Apache-2.0
"""The command line: ``reactorl run``, ``check``, ``fmt``; one file per command."""
