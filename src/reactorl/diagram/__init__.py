# SPDX-License-Identifier: Apache-2.0
"""Pictures of programs."""

from __future__ import annotations

from reactorl.diagram.mermaid import Mermaid, mermaid

__all__ = ["Mermaid", "mermaid"]
