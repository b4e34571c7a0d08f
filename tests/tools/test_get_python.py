# SPDX-License-Identifier: Apache-2.0
"""An interpreter is found, or built whole, or the reason is given.

Nothing here uses the network or compiles: mirrors are directories, the source package
holds a two-line configure script, and interpreters are shell scripts.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pytest

import cpython_build
import get_python
from cpython_build import FREE_THREADED, GIL, Cache, Unavailable, Variant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TOOLS = Path(cpython_build.__file__).parent

CONFIGURE = """#!/bin/sh
echo "$@" >> {count}
prefix=$(echo "$1" | sed 's/--prefix=//')
sed "s|@prefix@|$prefix|" Makefile.in > Makefile
"""

MAKEFILE = """all:
\techo gcc -c fake.c
\t{compile}
install:
\tmkdir -p $(DESTDIR)@prefix@/bin
\tcp python $(DESTDIR)@prefix@/bin/{executable}
"""

# A compiler that waits until the test lets it go on.
AT_GATE = "touch {gate}.reached; until [ -e {gate} ]; do sleep 0.02; done"

# Runs the tool with the fake releases and mirror of a test.
DRIVER = """
import sys
sys.path.insert(0, {tools!r})
import cpython_build, get_python
cpython_build.RELEASES.clear()
cpython_build.RELEASES.update({releases!r})
cpython_build.HEADERS.clear()
cpython_build.debian_mirrors = lambda: [{mirror!r}]
get_python.ways_to = lambda _: [("cache", cpython_build.from_cache),
                                ("source", cpython_build.from_source)]
sys.exit(get_python.main([{variant!r}, "--cache", {cache!r}]))
"""

NEEDS_COMPILER = pytest.mark.skipif(
    shutil.which("gcc") is None, reason="the tool first looks for a compiler"
)


def fake_python(
    *,
    version: tuple[int, int] = (3, 14),
    free_threaded: bool = True,
    optimized: bool = False,
    headers: bool = True,
) -> str:
    """A shell script that answers the probe with these facts."""
    facts = {
        "version": version,
        "free_threaded": free_threaded,
        "optimized": optimized,
        "headers": headers,
    }
    return f"#!/bin/sh\necho '{json.dumps(facts)}'\n"


def write_script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def cache_at(
    path: Path, variant: Variant = FREE_THREADED, *, optimize: bool = False
) -> Cache:
    return Cache(path, variant, optimize)


class Source:
    """A Debian mirror with one source package, and the tool pointed at it."""

    def __init__(self, root: Path, compile_command: str, variant: Variant) -> None:
        self._gate = root / "gate"
        self._processes: list[subprocess.Popen[str]] = []
        self.cache = root / "cache"
        self.count = root / "count"  # arguments of configure, a line for each build
        pool = root / "mirror/pool/main/p/python3.14"
        pool.mkdir(parents=True)
        archive = pool / "python3.14_3.14.7.orig.tar.xz"
        files = {
            "configure": CONFIGURE.format(count=self.count),
            "Makefile.in": MAKEFILE.format(
                compile=compile_command.format(gate=self._gate),
                executable=variant.executable,
            ),
            "python": fake_python(free_threaded=variant.free_threaded),
        }
        with tarfile.open(archive, "w:xz") as tar:
            for name, text in files.items():
                info = tarfile.TarInfo(f"Python-3.14.7/{name}")
                info.size, info.mode = len(text), 0o755
                tar.addfile(info, io.BytesIO(text.encode()))
        self._driver = root / "driver.py"
        self._driver.write_text(
            DRIVER.format(
                tools=str(TOOLS),
                releases={"3.14.7": hashlib.sha256(archive.read_bytes()).hexdigest()},
                mirror=f"{(root / 'mirror').as_uri()}/",
                cache=str(self.cache),
                variant=variant.name,
            )
        )

    def start(self) -> subprocess.Popen[str]:
        """Start the tool in a process of its own."""
        process = subprocess.Popen(
            [sys.executable, self._driver],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            # Jobs in the background of a shell ignore Ctrl-C, and hand that down.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        self._processes.append(process)
        return process

    def open_gate(self) -> None:
        self._gate.touch()

    def close(self) -> None:
        self.open_gate()
        for process in self._processes:
            process.kill()
            process.communicate()

    def builds(self) -> int:
        return len(self.count.read_text().splitlines()) if self.count.exists() else 0

    def wait_at_gate(self) -> None:
        wait_until(self._gate.with_name("gate.reached").exists)


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def read_until(process: subprocess.Popen[str], text: str) -> str:
    """Read the process's stderr up to the line that has ``text``."""
    assert process.stderr is not None
    lines = ""
    for line in process.stderr:
        lines += line
        if text in line:
            break
    return lines


class MakeSource(Protocol):
    def __call__(
        self, *, compile_command: str = "true", variant: Variant = FREE_THREADED
    ) -> Source: ...


@pytest.fixture
def make_source(tmp_path: Path) -> Iterator[MakeSource]:
    """Make one source package; whatever the test leaves running ends with it."""
    if shutil.which("gcc") is None:
        pytest.skip("the tool first looks for a compiler")
    made = []

    def make(
        *, compile_command: str = "true", variant: Variant = FREE_THREADED
    ) -> Source:
        made.append(Source(tmp_path, compile_command, variant))
        return made[-1]

    yield make
    for source in made:
        source.close()


# --- Choosing -------------------------------------------------------------------------


@pytest.mark.parametrize(("variant", "name"), [(FREE_THREADED, "3.14t"), (GIL, "3.14")])
def test_ways_are_tried_from_cheapest_to_most_expensive(
    variant: Variant, name: str
) -> None:
    names = [name for name, _ in get_python.ways_to(variant)]

    assert names == [
        f"python{name} on PATH",
        "an earlier build",
        f"uv python install {name}",
        "build from Debian's source package",
    ]


def test_first_way_that_works_is_taken_and_no_other_tried(tmp_path: Path) -> None:
    tried = []

    def closed(_: Cache) -> Path:
        tried.append("closed")
        cpython_build.fail("no")

    def works(_: Cache) -> Path:
        tried.append("works")
        return Path("/somewhere/python3.14t")

    def never(_: Cache) -> Path:
        raise AssertionError

    ways = [("a", closed), ("b", works), ("c", never)]
    found = get_python.find(cache_at(tmp_path), ways)

    assert found == Path("/somewhere/python3.14t")
    assert tried == ["closed", "works"]


def test_error_lists_every_way_and_why_it_failed(tmp_path: Path) -> None:
    def closed(_: Cache) -> Path:
        cpython_build.fail("not there")

    def broken(_: Cache) -> Path:
        raise PermissionError(13, "Permission denied", "/cache")

    with pytest.raises(Unavailable) as caught:
        get_python.find(cache_at(tmp_path), [("PATH", closed), ("build", broken)])

    assert str(caught.value) == (
        "free-threaded CPython 3.14 could not be installed. Tried:\n"
        "  PATH: not there\n"
        "  build: [Errno 13] Permission denied: '/cache'\n"
        "Fix one of these, or put python3.14t on PATH."
    )


def test_stdout_is_the_path_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    python = write_script(tmp_path / "bin/python3.14t", fake_python())
    monkeypatch.setenv("PATH", f"{python.parent}{os.pathsep}{os.environ['PATH']}")

    status = get_python.main(["3.14t", "--cache", str(tmp_path)])

    assert status == 0
    assert capsys.readouterr().out == f"{python}\n"


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        (fake_python(version=(3, 13)), "is Python 3.13"),
        (fake_python(free_threaded=False), "has the GIL"),
        (fake_python(headers=False), "has no headers"),
        ("#!/bin/sh\necho no module ssl >&2; exit 1\n", "no module ssl"),
        ("#!/no/such/interpreter\n", "does not start"),
    ],
)
def test_unusable_interpreter_on_path_is_rejected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, reason: str
) -> None:
    write_script(tmp_path / "python3.14t", script)
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(Unavailable, match=reason):
        get_python.from_path(cache_at(tmp_path))


def test_free_threaded_python314_is_rejected_where_one_with_a_gil_is_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = write_script(tmp_path / "python3.14", fake_python())
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")

    with pytest.raises(Unavailable, match=r"python3\.14 is free-threaded"):
        get_python.from_path(cache_at(tmp_path, GIL))
    write_script(python, fake_python(free_threaded=False))
    assert get_python.from_path(cache_at(tmp_path, GIL)) == python


def test_plain_build_is_rejected_where_an_optimized_one_is_wanted(
    tmp_path: Path,
) -> None:
    plain = write_script(tmp_path / "plain", fake_python())
    optimized = write_script(tmp_path / "optimized", fake_python(optimized=True))

    found = cpython_build.check(optimized, FREE_THREADED, optimize=True)
    assert found == optimized
    with pytest.raises(Unavailable, match="was not built with"):
        cpython_build.check(plain, FREE_THREADED, optimize=True)


def test_each_kind_of_build_has_its_own_directory(tmp_path: Path) -> None:
    plain = cache_at(tmp_path)
    python = write_script(plain.prefix("3.14.6") / "bin/python3.14t", fake_python())

    assert cpython_build.from_cache(plain) == python
    for other in (cache_at(tmp_path, optimize=True), cache_at(tmp_path, GIL)):
        with pytest.raises(Unavailable, match="none in"):
            cpython_build.from_cache(other)


def test_uv_is_told_to_leave_path_alone_and_its_failure_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    uv = '#!/bin/sh\n[ "$1" = --version ] && exit 0\necho "$@" >> {log}\n{rest}\n'
    log = tmp_path / "log"
    rest = (
        "printf 'error: cannot install\\n  cause: a\\n  cause: no host\\n' >&2; exit 2"
    )
    write_script(tmp_path / "bin/uv", uv.format(log=log, rest=rest))
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")

    with pytest.raises(Unavailable, match=r"^error: cannot install; cause: no host$"):
        get_python.from_uv(cache_at(tmp_path))

    assert log.read_text() == "python install --no-bin --no-progress 3.14t\n"


# --- Downloading ----------------------------------------------------------------------


def test_file_with_another_checksum_is_rejected_and_not_kept(tmp_path: Path) -> None:
    published = tmp_path / "source.tar.xz"
    published.write_bytes(b"tampered")
    directory = tmp_path / "cache"
    directory.mkdir()

    with pytest.raises(Unavailable, match=r"checksum is [0-9a-f]{64}, expected 00"):
        cpython_build.download(published.as_uri(), "00", directory)

    assert list(directory.iterdir()) == []


@pytest.mark.parametrize("error", [ConnectionResetError("reset"), KeyboardInterrupt()])
def test_interrupted_download_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    class Breaking(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            raise error

    monkeypatch.setattr("urllib.request.urlopen", lambda *_, **__: Breaking())

    with pytest.raises((Unavailable, KeyboardInterrupt)):
        cpython_build.download("http://mirror/source.tar.xz", "00", tmp_path)

    assert list(tmp_path.iterdir()) == []


def test_damaged_file_from_before_is_fetched_again(tmp_path: Path) -> None:
    (tmp_path / "mirror").mkdir()
    published = tmp_path / "mirror/source.tar.xz"
    published.write_bytes(b"whole")
    (tmp_path / "source.tar.xz").write_bytes(b"who")
    sha256 = hashlib.sha256(b"whole").hexdigest()

    fetched = cpython_build.download(published.as_uri(), sha256, tmp_path)

    assert fetched.read_bytes() == b"whole"


def test_release_the_mirrors_have_dropped_makes_way_for_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = tmp_path / "mirror/pool/main/p/python3.14"
    pool.mkdir(parents=True)
    (pool / "python3.14_3.14.6.orig.tar.xz").write_bytes(b"whole")
    sha256 = hashlib.sha256(b"whole").hexdigest()
    monkeypatch.setattr(cpython_build, "RELEASES", {"3.14.7": "00", "3.14.6": sha256})
    mirrors = [f"{tmp_path.as_uri()}/empty/", f"{tmp_path.as_uri()}/mirror/"]

    version, archive = cpython_build.download_any(mirrors, tmp_path)

    assert version == "3.14.6"
    assert archive.read_bytes() == b"whole"


# --- Building -------------------------------------------------------------------------


@NEEDS_COMPILER
def test_missing_headers_are_named_by_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    headers = {"stdio.h": "libc6-dev", "no/such.h": "no-such-dev", "x.h": "x11-dev"}
    monkeypatch.setattr(cpython_build, "HEADERS", headers)

    with pytest.raises(Unavailable, match=r"^first run: apt-get install no-such-dev x"):
        cpython_build.from_source(cache_at(tmp_path))


@NEEDS_COMPILER
@pytest.mark.parametrize("variant", [FREE_THREADED, GIL], ids=["ft", "gil"])
def test_build_appears_in_the_cache_and_is_used_from_then_on(
    make_source: MakeSource, variant: Variant
) -> None:
    source = make_source(variant=variant)

    first, _ = source.start().communicate(timeout=60)
    second, _ = source.start().communicate(timeout=60)

    prefix = Cache(source.cache, variant).prefix("3.14.7")
    assert first == f"{prefix}/bin/{variant.executable}\n"
    assert second == first
    assert source.builds() == 1
    assert ("--disable-gil" in source.count.read_text()) == variant.free_threaded
    left = {path.name for path in source.cache.iterdir()}
    assert left == {prefix.name, f"{prefix.name}.log", "lock"}


def test_second_process_waits_for_the_first_ones_build(
    make_source: MakeSource,
) -> None:
    source = make_source(compile_command=AT_GATE)

    first = source.start()
    source.wait_at_gate()
    second = source.start()
    said = read_until(second, "waiting for it to finish")
    source.open_gate()
    answers = {process.communicate(timeout=60)[0] for process in (first, second)}

    assert "Another process is building" in said
    assert len(answers) == 1
    assert source.builds() == 1


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_build_is_cleared_away_with_its_children(
    tmp_path: Path, make_source: MakeSource, signum: signal.Signals
) -> None:
    pid = tmp_path / "pid"  # of a process that the compiler starts
    source = make_source(compile_command=f"echo $$$$ > {pid}; exec sleep 600")
    process = source.start()
    wait_until(lambda: pid.exists() and pid.read_text().strip() != "")

    process.send_signal(signum)
    out, err = process.communicate(timeout=60)

    assert process.returncode == 130
    assert out == ""
    assert "Interrupted" in err
    assert not list(source.cache.glob("build-*"))
    assert not list(source.cache.glob("3.14.7t-*/"))
    wait_until(lambda: not Path("/proc", pid.read_text().strip()).exists())


def test_what_a_killed_build_left_is_removed_by_the_next(
    make_source: MakeSource,
) -> None:
    source = make_source()
    leftover = source.cache / "build-abc" / "Python-3.14.7"
    leftover.mkdir(parents=True)

    out, _ = source.start().communicate(timeout=60)

    assert Path(out.strip()).exists()
    assert not leftover.parent.exists()


def test_children_of_a_killed_build_keep_the_lock_while_they_run(
    make_source: MakeSource,
) -> None:
    source = make_source(compile_command=AT_GATE)
    killed = source.start()
    source.wait_at_gate()

    killed.kill()
    killed.communicate(timeout=60)
    second = source.start()
    read_until(second, "waiting for it to finish")
    source.open_gate()
    out, _ = second.communicate(timeout=60)

    assert Path(out.strip()).exists()


def test_failed_build_shows_its_last_lines_and_where_the_rest_is(
    make_source: MakeSource,
) -> None:
    source = make_source(compile_command="echo fatal: out of luck; false")

    process = source.start()
    out, err = process.communicate(timeout=60)

    assert process.returncode == 1
    assert out == ""
    assert "fatal: out of luck" in err
    assert re.search(r"source: `make -j\d+` failed; its output is in .*\.log", err)
    assert not list(source.cache.glob("3.14.7t-*/"))
