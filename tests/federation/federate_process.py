# SPDX-License-Identifier: Apache-2.0
"""A federate of the tests as a process: case, index, directory, pipe of the secret."""

from __future__ import annotations

import sys
from pathlib import Path

from reactorl._federation.endpoint import Address
from reactorl._federation.member import Member, Membership
from reactorl._federation.secret import RunSecret
from tests.federation.networked import ALL


def main() -> int:
    name, index, directory, fd = sys.argv[1:]
    secret = RunSecret.receive(int(fd))
    program, cut, options = ALL[name].parts()
    membership = Membership(
        int(index),
        Address(path=str(Path(directory, "coordinator"))),
        Address(path=str(Path(directory, f"federate-{index}"))),
        secret,
    )
    return 0 if Member(program, cut, options, membership).run() else 3


if __name__ == "__main__":
    sys.exit(main())
