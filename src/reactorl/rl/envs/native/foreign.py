# SPDX-License-Identifier: Apache-2.0
"""Why the state of an environment cannot be taken over by its native body."""

from __future__ import annotations


class ForeignError(Exception):
    """There is something that the native body does not know; the text says what."""


class NotYetError(Exception):
    """The state will be in its usual form after a step or reset in Python."""
