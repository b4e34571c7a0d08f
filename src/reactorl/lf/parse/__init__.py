# SPDX-License-Identifier: Apache-2.0
"""Text to syntax tree: lexer, LALR parser, recovery from syntax errors."""
