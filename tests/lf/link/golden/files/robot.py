# SPDX-License-Identifier: Apache-2.0
"""A file of Python, which is not LF."""
