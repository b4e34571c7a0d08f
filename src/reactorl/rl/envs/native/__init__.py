# SPDX-License-Identifier: Apache-2.0
"""Gymnasium's own environments in native code, with the same bits."""
