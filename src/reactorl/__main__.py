# SPDX-License-Identifier: Apache-2.0
"""``python -m reactorl``: the same as ``reactorl``."""

from reactorl.cli.main import entry

if __name__ == "__main__":
    entry()
