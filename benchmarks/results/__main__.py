# SPDX-License-Identifier: Apache-2.0
"""``python -m benchmarks.results``: measure results and report."""

import sys

from benchmarks.results.command import main

if __name__ == "__main__":
    sys.exit(main())
