# SPDX-License-Identifier: Apache-2.0
"""The formatter behind ``reactorl fmt``.

syntax tree ──printer, members, expressions──> tokens ──comments, layout──> text
"""
