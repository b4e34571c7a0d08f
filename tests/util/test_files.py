# SPDX-License-Identifier: Apache-2.0
"""Files are replaced atomically."""

import errno
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from reactorl._util.files import atomic_writer, remove_unfinished, write_atomic


def test_new_content_replaces_old(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"old")

    write_atomic(path, b"new")

    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


def test_text_is_written_as_utf_8(tmp_path: Path) -> None:
    with atomic_writer(tmp_path / "a.txt", "w") as file:
        file.write("µ\n")

    assert (tmp_path / "a.txt").read_bytes() == b"\xc2\xb5\n"


def test_path_keeps_its_content_until_the_block_ends(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"old")

    with atomic_writer(path) as file:
        file.write(b"new")
        file.flush()

        assert path.read_bytes() == b"old"


@pytest.mark.parametrize("error", [ValueError("no"), KeyboardInterrupt()])
def test_error_in_the_block_keeps_old_content(
    tmp_path: Path, error: BaseException
) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"old")

    def fail() -> None:
        with atomic_writer(path) as file:
            file.write(b"new")
            raise error

    with pytest.raises(type(error)):
        fail()

    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_full_disk_keeps_old_content_and_names_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"old")

    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left") as caught:
        write_atomic(path, b"new")

    assert caught.value.filename == str(path)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_missing_directory_names_the_path(tmp_path: Path) -> None:
    path = tmp_path / "absent" / "a.txt"

    with pytest.raises(FileNotFoundError) as caught:
        write_atomic(path, b"new")

    assert caught.value.filename == str(path)


def test_error_about_another_file_keeps_its_name(tmp_path: Path) -> None:
    other = tmp_path / "other"

    with (
        pytest.raises(FileNotFoundError) as caught,
        atomic_writer(tmp_path / "a.txt") as file,
    ):
        file.write(other.read_bytes())

    assert caught.value.filename == str(other)


def test_new_files_have_the_mode_of_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_atomic(tmp_path / "a.txt", b"")
    finally:
        os.umask(before)

    assert stat.S_IMODE((tmp_path / "a.txt").stat().st_mode) == 0o640


def test_a_replaced_file_leaves_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "secret.txt"
    path.write_bytes(b"old")
    path.chmod(0o600)

    write_atomic(path, b"new")

    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_a_replaced_file_leaves_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"old")
    os.chown(path, 1234, 1234)

    write_atomic(path, b"new")

    assert (path.stat().st_uid, path.stat().st_gid) == (1234, 1234)


def test_a_symbolic_link_stays_and_its_file_is_replaced(tmp_path: Path) -> None:
    target = tmp_path / "other" / "a.txt"
    target.parent.mkdir()
    target.write_bytes(b"old")
    link = tmp_path / "link"
    link.symlink_to("other/a.txt")
    dangling = tmp_path / "dangling"
    dangling.symlink_to("other/b.txt")

    write_atomic(link, b"new")
    write_atomic(dangling, b"made")

    assert link.is_symlink()
    assert dangling.is_symlink()
    assert target.read_bytes() == b"new"
    assert target.with_name("b.txt").read_bytes() == b"made"
    assert sorted(p.name for p in target.parent.iterdir()) == ["a.txt", "b.txt"]


def test_a_pipe_receives_the_content_and_stays(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    found: list[bytes] = []
    reader = threading.Thread(
        target=lambda: found.append(path.read_bytes()), daemon=True
    )
    reader.start()

    write_atomic(path, b"content")

    reader.join(60)
    assert found == [b"content"]
    assert stat.S_ISFIFO(path.stat().st_mode)


def test_a_device_receives_the_content_and_stays(tmp_path: Path) -> None:
    path = tmp_path / "null"
    try:
        os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        path.write_bytes(b"")
    except OSError:
        pytest.skip("devices cannot be made here")

    write_atomic(path, b"content")

    assert stat.S_ISCHR(path.stat().st_mode)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_an_open_file_receives_the_content(name: str, tmp_path: Path) -> None:
    if not Path(name).exists():
        pytest.skip(f"there is no {name} here")
    code = (
        "import sys; from pathlib import Path; "
        "from reactorl._util.files import write_atomic; "
        "write_atomic(Path(sys.argv[1]), b'first\\n'); "
        "open('/dev/stdout', 'ab').write(b'second\\n')"
    )
    out = tmp_path / "out"
    with out.open("wb") as file:
        subprocess.run([sys.executable, "-c", code, name], stdout=file, check=True)

    assert out.read_bytes() == b"first\nsecond\n"
    assert list(tmp_path.iterdir()) == [out]


def test_a_directory_is_refused_by_its_name(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError) as caught:
        write_atomic(tmp_path, b"")

    assert caught.value.filename == str(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["a" * 255, "\N{SNOWMAN}" * 85, "a[0]?*.txt"])
def test_any_name_that_the_file_system_has_can_be_written(
    name: str, tmp_path: Path
) -> None:
    path = tmp_path / name

    write_atomic(path, b"content")
    remove_unfinished(path)

    assert path.read_bytes() == b"content"
    assert list(tmp_path.iterdir()) == [path]


def test_concurrent_writers_do_not_mix_content(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    both = threading.Barrier(2, timeout=60)

    def write(letter: bytes) -> None:
        for _ in range(20):
            with atomic_writer(path) as file:
                file.write(letter * 1000)
                both.wait()
                file.write(letter * 1000)

    threads = [threading.Thread(target=write, args=(x,)) for x in (b"a", b"b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert path.read_bytes() in (b"a" * 2000, b"b" * 2000)
    assert list(tmp_path.iterdir()) == [path]


def test_unfinished_files_of_killed_writers_are_removed(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    (tmp_path / ".a.txt.1-1.new").write_bytes(b"part")
    (tmp_path / ".b.txt.1-1.new").write_bytes(b"part")
    path.write_bytes(b"old")

    remove_unfinished(path)

    assert {p.name for p in tmp_path.iterdir()} == {"a.txt", ".b.txt.1-1.new"}
