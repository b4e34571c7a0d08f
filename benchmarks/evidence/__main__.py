# SPDX-License-Identifier: Apache-2.0
"""``python -m benchmarks.evidence``: the command without the package."""

from __future__ import annotations

import sys

from benchmarks.evidence.command import main

if __name__ == "__main__":
    sys.exit(main())
