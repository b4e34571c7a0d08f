# SPDX-License-Identifier: Apache-2.0
"""Files of recordings are replaced as a whole or not at all."""

from __future__ import annotations

import errno
import json
import os
from typing import IO, TYPE_CHECKING

import pytest

from reactorl import Recording

if TYPE_CHECKING:
    from pathlib import Path


def test_failed_save_keeps_the_old_recording(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.rec"
    old = Recording(program="p", seed=3)
    old.save(path)

    def half(_body: object, file: IO[str], **_options: object) -> None:
        file.write('{"program": ')
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(json, "dump", half)
        with pytest.raises(OSError, match="No space left") as caught:
            Recording(program="p", seed=4).save(path)

    assert caught.value.filename == str(path)
    assert Recording.load(path) == old
    assert list(tmp_path.iterdir()) == [path]
