# SPDX-License-Identifier: Apache-2.0
"""A linked program to reactor classes, and these to a ``Program``."""
