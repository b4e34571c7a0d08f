# SPDX-License-Identifier: Apache-2.0
"""``python -m reactorl``: the same as ``reactorl``."""

import sys

from reactorl.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
