# SPDX-License-Identifier: Apache-2.0
"""Files of metrics."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

FULL = textwrap.dedent("""
    import resource, sys
    from pathlib import Path
    from reactorl.rl.runs.metrics import MetricsWriter

    metrics = MetricsWriter(Path(sys.argv[1]), iterations=1)
    most = int(sys.argv[2])
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    try:
        try:
            for step in range(100_000):
                metrics.write(step, "charts/SPS", 1.0)
        finally:
            metrics.close()
    except OSError as error:
        print(Path(error.filename).name.split(".")[0])
""")


def test_a_full_disk_is_one_error_that_names_the_file(tmp_path: Path) -> None:
    # A limit to the size of files is as good as a full disk.
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path), "20000"],
        capture_output=True,
        check=False,
        text=True,
    )

    assert done.returncode == 0
    assert done.stdout.strip() in ("metrics", "events")
    assert done.stderr == ""
