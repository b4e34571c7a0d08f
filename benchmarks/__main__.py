# SPDX-License-Identifier: Apache-2.0
"""``python -m benchmarks``: measure a suite and report."""

import sys

from benchmarks.harness.command import main

if __name__ == "__main__":
    sys.exit(main())
