# SPDX-License-Identifier: Apache-2.0
"""The process of a run: ``python -m benchmarks.results.child REQUEST``.

It trains as the request says, and writes each evaluation as a line of JSON. Engines may
print: they get another stream.
"""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from typing import Any

from benchmarks.results.referee import Referee


def main(request: dict[str, Any]) -> None:
    """Serve a request."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def send(message: Any) -> None:  # noqa: ANN401
        out.write(json.dumps(message) + "\n")
        out.flush()

    runner = import_module(f"benchmarks.results.runners.{request['runner']}")
    send({"more": runner.run(request, Referee(request, send)) or {}})


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
