# SPDX-License-Identifier: Apache-2.0
"""Values of string literals."""

from __future__ import annotations

import ast
import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reactorl.lf.parse import syntax


def value_of_string(literal: syntax.String | syntax.Char) -> str:
    r"""Return the value of a string literal, whose escape sequences are Python's.

    Raises:
        SyntaxError: An escape sequence is incomplete or unknown, for example ``\x``.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a backslash that is not an escape sequence
        value: str = ast.literal_eval(literal.text)
    return value
