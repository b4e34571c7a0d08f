"""Linking: files, imports, packages, inheritance, and the number of messages."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from reactorl import Severity
from reactorl.lf.diagnostics import Report
from reactorl.lf.link.packages import project_root
from reactorl.lf.link.resolve import resolve
from reactorl.lf.parse import syntax
from reactorl.lf.source import MAX_BYTES

if TYPE_CHECKING:
    from reactorl.lf.link.program import LinkedProgram


def write(directory: Path, files: dict[str, str]) -> Path:
    """Write files and return the path of the first."""
    for name, text in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return directory / next(iter(files))


def linked(path: Path) -> LinkedProgram:
    report = Report()
    found = resolve(path, report)
    assert [d.render() for d in report.in_order()] == []
    assert found is not None
    return found


def errors(path: Path) -> list[str]:
    report = Report()
    resolve(path, report)
    return [d.what for d in report.in_order() if d.severity is Severity.ERROR]


def program(directory: Path, body: str) -> Path:
    return write(directory, {"P.lf": f"target Python\n{body}\nmain reactor {{ }}\n"})


# -- files ---------------------------------------------------------------------------


def test_each_file_is_read_once_under_any_path(tmp_path: Path) -> None:
    main = write(
        tmp_path,
        {
            "Main.lf": "target Python\n"
            'import A from "A.lf"\n'
            'import B as C from "x/../B.lf"\n'
            "main reactor { a = new A()  c = new C() }\n",
            "A.lf": 'target Python\nimport B from "Link.lf"\n'
            "reactor A { b = new B() }\n",
            "B.lf": "target Python\nreactor B { }\n",
            "x/Unused.lf": "",
        },
    )
    (tmp_path / "Link.lf").symlink_to(tmp_path / "B.lf")

    found = linked(main)

    assert [f.source.path.name for f in found.files] == ["Main.lf", "A.lf", "B.lf"]
    assert found.main is not None
    assert found.main.children["c"] is found.files[1].own[0].children["b"]


def test_main_of_an_imported_file_is_ignored(tmp_path: Path) -> None:
    main = write(
        tmp_path,
        {
            "Main.lf": 'target Python\nimport R from "Other.lf"\nreactor S { }\n',
            "Other.lf": "target Python\nreactor R { }\nmain reactor { }\n",
        },
    )

    assert linked(main).main is None


def test_long_chain_of_imports(tmp_path: Path) -> None:
    length = 1500
    files = {
        f"F{n}.lf": f'target Python\nimport R{n + 1} from "F{n + 1}.lf"\n'
        f"reactor R{n} {{ r = new R{n + 1}() }}\n"
        for n in range(length)
    }
    files[f"F{length}.lf"] = f"target Python\nreactor R{length} {{ }}\n"

    assert len(linked(write(tmp_path, files)).files) == length + 1


def test_unreadable_file_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = program(tmp_path, "")

    for trouble, what in (
        (PermissionError(13, "x"), "reading the file failed: permission denied"),
        (
            OSError(5, "Input/output error"),
            "reading the file failed: input/output error",
        ),
    ):

        def fail(*_: object, trouble: OSError = trouble) -> bytes:
            raise trouble

        monkeypatch.setattr(Path, "open", fail)
        assert errors(path) == [what]


def test_invalid_paths_are_reported(tmp_path: Path) -> None:
    path = program(tmp_path, "")

    assert errors(path / "x.lf") == ["a parent of the path is a file, not a directory"]
    assert errors(tmp_path / "a\0b.lf") == ["the path contains a NUL character"]
    assert errors(tmp_path / ("x" * 5000)) == [
        "reading the file failed: file name too long"
    ]


def test_main_reactors_of_files_whose_names_are_no_text_are_refused(
    tmp_path: Path,
) -> None:
    path = tmp_path / os.fsdecode(b"bad\xff.lf")
    try:
        path.write_text("target Python\nmain reactor {}\n")
    except OSError:
        pytest.skip("the file system has names in UTF-8 only")

    assert errors(path) == ["the file name 'bad\\udcff.lf' must be UTF-8"]


def test_pipes_and_devices_are_not_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.lf"
    os.mkfifo(pipe)
    importing = tmp_path / "main.lf"
    importing.write_text(
        'target Python\nimport A from "pipe.lf"\nmain reactor { a = new A() }\n'
    )

    assert errors(pipe) == ["the path is not a regular file"]
    assert errors(Path("/dev/zero")) == ["the path is not a regular file"]
    assert errors(importing) == [
        'cannot import from "pipe.lf": the path is not a regular file'
    ]


def test_huge_file_is_not_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "huge.lf"
    with path.open("wb") as file:
        file.truncate(2**40)  # sparse

    assert errors(path) == [f"the file must be at most {MAX_BYTES} bytes long"]


def test_imports_of_invalid_paths_are_reported(tmp_path: Path) -> None:
    long = "x" * 5000
    path = write(
        tmp_path,
        {
            "P.lf": f'target Python {{files: "{long}"}}\nimport A from "{long}.lf"\n'
            f"import B from <{long}>\nimport C from <p/{long}>\nmain reactor {{ }}\n"
        },
    )

    assert len(errors(path)) == 4


def test_code_that_python_cannot_compile_is_an_error(tmp_path: Path) -> None:
    deep = program(tmp_path, f"reactor R {{ state s = {{= {'-' * 20_000}1 =}} }}")

    assert len(errors(deep)) == 1


# -- packages ------------------------------------------------------------------------


def test_search_order_of_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = ["build/lfc_include", "lf-packages", "third", "fourth"]
    main = write(
        tmp_path,
        {
            "src/deep/Main.lf": "target Python\nimport R from <my-pkg2/R.lf>\n"
            "main reactor { r = new R() }\n",
            **{
                f"{place}/my-pkg2/src/lib/R.lf": "target Python\nreactor R { }\n"
                for place in places
            },
        },
    )
    monkeypatch.setenv("LF_PACKAGES", f"{tmp_path}/third:{tmp_path}/fourth")

    for place in places:
        file = tmp_path / place / "my-pkg2/src/lib/R.lf"
        assert linked(main).files[1].source.path == file
        file.unlink()

    assert errors(main) == ["no package 'my-pkg2' with a file 'R.lf'"]


def test_package_file_named_like_the_class_is_searched_first(tmp_path: Path) -> None:
    main = write(
        tmp_path,
        {
            "src/Main.lf": "target Python\nimport R, S from <pkg>\nmain reactor { }\n",
            "lf-packages/pkg/src/lib/A.lf": "target Python\nreactor R { }\n",
            "lf-packages/pkg/src/lib/R.lf": "target Python\nreactor R { }\n",
            "lf-packages/pkg/src/lib/T.lf": "target Python\nreactor S { }\n",
        },
    )

    names = linked(main).root.names

    assert names["R"].file.source.path.name == "R.lf"
    assert names["S"].file.source.path.name == "T.lf"


def test_project_root_is_the_parent_of_the_nearest_src(tmp_path: Path) -> None:
    assert project_root(tmp_path / "src" / "a" / "src" / "b" / "M.lf") == (
        tmp_path / "src" / "a"
    )
    assert project_root(tmp_path / "b" / "M.lf") == tmp_path / "b"


# -- classes -------------------------------------------------------------------------


def test_lineage_order(tmp_path: Path) -> None:
    path = program(
        tmp_path,
        "reactor A extends B, C { }\nreactor B extends D { }\n"
        "reactor C extends D, E { }\nreactor D { }\nreactor E { }\n",
    )

    (a, *_) = linked(path).root.own

    assert [unit.name for unit in a.lineage] == ["D", "B", "E", "C", "A"]


def test_last_declaration_of_a_parameter_wins(tmp_path: Path) -> None:
    path = program(
        tmp_path,
        "reactor A(p = 1, q = 2) { }\nreactor B(q = 3, r = 4) extends A { }",
    )

    params = linked(path).root.own[1].params()

    values = {n: p.default.text for n, p in params.items() if _number(p.default)}
    assert values == {"p": "1", "q": "3", "r": "4"}


def _number(value: syntax.Expr | None) -> bool:
    assert isinstance(value, syntax.Number)
    return True


def test_unnamed_main_reactor_has_the_name_of_its_file(tmp_path: Path) -> None:
    main = linked(program(tmp_path, "")).main

    assert main is not None
    assert main.name == "P"


# -- one mistake, one message --------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        # A class, base or child that is unknown.
        "reactor R extends Q { reaction(x) y -> z, c.w {= x.set(1) =} }",
        "reactor R { c = new Q(a = 1) reaction(c.x) -> c.y {= c.z =}  c.o -> c.i }",
        # A child whose class is damaged.
        "reactor Q { input }\nreactor R { c = new Q(a = 1)  reaction(c.x) {= =} }",
        # A name that is taken.
        "reactor R { input x  output x  reaction(x) {= print(x.value) =} }",
        # A keyword as a name, used.
        "reactor R { input in  reaction(in) {= pass =} }",
        # A body that is not Python.
        "reactor R { input x  output y  reaction(x) {= y.set(1 =} }",
        # A parameter without a default, used as a time and a width.
        "reactor R(p) { timer t(p, p)  input[p] x }",
        "reactor R(p = None) { timer t(p)  output[p] x }",
    ],
)
def test_one_error_gives_one_message(tmp_path: Path, body: str) -> None:
    assert len(errors(program(tmp_path, body))) == 1


@pytest.mark.parametrize(
    "body",
    [
        # Bodies may schedule an action that only triggers them.
        "reactor R { logical action a  reaction(a) {= a.schedule(0) =} }",
        # Names from preambles, Python and enclosing functions.
        "preamble {=\nfrom os import *\n=}\nreactor R { input x  "
        "reaction(startup) {= print(x) =} }",
        "preamble {=\ndef f():\n  global x\n  x = 1\n=}\nreactor R { input x  "
        "reaction(startup) {= f(); print(x) =} }",
        "reactor R { input x  reaction(startup) {=\nfor x in range(3): print(x)\n=} }",
        "reactor R { input x  reaction(startup) {=\nimport math as x\nx.pi\n=} }",
        "reactor R { input x  reaction(startup) {= print([x for x in 'ab']) =} }",
        "reactor R { input x  reaction(startup) {=\ntry: pass\n"
        "except OSError as x: print(x)\n=} }",
        "reactor R { input x  reaction(startup) {= print((x := 3), x) =} }",
        "reactor R { input len  reaction(startup) {= print(len('abc')) =} }",
        "reactor R { input lf  reaction(startup) {= print(lf.tag()) =} }",
        # State and ports may share a name; a method may replace that of a base.
        "reactor R { output x  state x = 0  "
        "reaction(startup) -> x {= x.set(self.x) =} }",
        "reactor Q { method m() {= =} }\nreactor R extends Q { method m() {= =} }",
        # Reactions of one reactor share an output; a diamond counts once.
        "reactor R { output y  reaction(startup) -> y {= =}  "
        "reaction(startup) -> y {= =} }",
        "reactor A { input x  output y  x -> y }\nreactor B extends A { }\n"
        "reactor C extends A { }\nreactor D extends B, C { reaction(x) {= =} }",
        # A block that begins on the line of its mark.
        "reactor R { reaction(startup) {= if True:\n    print(1)\n    print(2)\n=} }",
        "reactor R { reaction(startup) {= print(1)\n      print(2)\n=} }",
        # The value of a child's port may be an object with a method set.
        "reactor Q { output y }\nreactor R { q = new Q()  "
        "reaction(q.y) {= q.y.value.set(1); q.y.value.y.set(2) =} }",
        # Attributes of what replaces a child inside the body.
        "reactor Q { output y  input x }\nreactor R { q = new Q()  "
        "reaction(q.y) {=\nfor q in []: q.x.set(1)\n=} }",
        "reactor R { input x  watchdog w(1 s) {= pass =}  "
        "reaction(x) -> w {= w.start(0) =}  reaction(w) {= pass =} }",
    ],
)
def test_correct_program_gives_no_message(tmp_path: Path, body: str) -> None:
    report = Report()

    resolve(program(tmp_path, body), report)

    assert [d.render() for d in report.in_order()] == []
