# SPDX-License-Identifier: Apache-2.0
"""Syntax trees of all forms of the grammar, and the spans of their nodes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from reactorl.lf.parse import syntax as s
from tests.lf.parsing import (
    attempt,
    expression,
    file,
    member,
    name,
    nodes,
    reactor,
    ref,
)

CODE = s.Code(" pass ")
PROGRAMS = sorted(Path(__file__).parents[2].glob("conformance/**/*.lf"))


# -- values --


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('"a\\"b"', s.String('"a\\"b"')),
        ('"""a\n"b" """', s.String('"""a\n"b" """')),
        ("'x'", s.Char("'x'")),
        ("'\\''", s.Char("'\\''")),
        ("'\\x41'", s.Char("'\\x41'")),
        ("12", s.Number("12")),
        ("-3", s.Number("-3")),
        ("+3", s.Number("+3")),
        ("1.5", s.Number("1.5")),
        ("-.01e0", s.Number("-.01e0")),
        ("6.02e+23", s.Number("6.02e+23")),
        ("true", s.Bool(value=True)),
        ("True", s.Bool(value=True)),
        ("false", s.Bool(value=False)),
        ("False", s.Bool(value=False)),
        ("0", s.Number("0")),
        ("5 ms", s.Time(5, "ms")),
        ("5ms", s.Time(5, "ms")),
        ("5\tweeks", s.Time(5, "weeks")),
        ("forever", s.Time(None, "forever")),
        ("never", s.Time(None, "never")),
        ("p", s.ParamRef("p")),
        ("ms", s.ParamRef("ms")),
        ("{= [1] =}", s.Code(" [1] ")),
        ("{==}", s.Code("")),
        ("[]", s.List(())),
        ("[1, p, [2 s],]", s.List((
            s.Number("1"), s.ParamRef("p"), s.List((s.Time(2, "s"),))
        ))),
        ("[1, // one\n 2 /* two */ ''' three ''' # four\n]", s.List((
            s.Number("1"), s.Number("2")
        ))),
        ("[5\n ms, 3\n s]", s.List((s.Time(5, "ms"), s.Time(3, "s")))),
    ],
)  # fmt: skip
def test_tree_of_a_value(text: str, value: s.Expr) -> None:
    assert expression(text) == value


# -- members --


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("preamble {= pass =}", s.Preamble(CODE)),
        ("private preamble {= pass =}", s.Preamble(CODE, "private")),
        ("public preamble {= pass =};", s.Preamble(CODE, "public")),
        ("state x", s.State(name("x"))),
        ("state x;;", s.State(name("x"))),
        ("reset state x = 1", s.State(name("x"), s.Number("1"), is_reset=True)),
        ("state x: int", s.State(name("x"), type=s.Type("int"))),
        ("state x : a::b<c, d.e>*[3] = 1", s.State(
            name("x"), s.Number("1"), type=s.Type("a::b<c, d.e>*[3]")
        )),
        ("state x: {= a =} = 1", s.State(
            name("x"), s.Number("1"), type=s.Type("{= a =}")
        )),
        ("@a state x", s.State(name("x"), attributes=(s.Attribute(name("a")),))),
        ("method f() {= pass =}", s.Method(name("f"), (), CODE)),
        ("const method f(a, b: int): int {= pass =}", s.Method(
            name("f"),
            (s.MethodParam(name("a")), s.MethodParam(name("b"), s.Type("int"))),
            CODE,
            is_const=True,
            type=s.Type("int"),
        )),
        ("input x", s.Port("input", name("x"))),
        ("input in", s.Port("input", name("in"))),
        ("mutable input x", s.Port("input", name("x"), is_mutable=True)),
        ("output[2 + n] y: int", s.Port(
            "output", name("y"), s.Width((2, name("n"))), type=s.Type("int")
        )),
        ("output[n+2] y", s.Port("output", name("y"), s.Width((name("n"), 2)))),
        ("input[] x", s.Port("input", name("x"), s.Width(()))),
        ("input[{= pass =}] x", s.Port("input", name("x"), s.Width((CODE,)))),
        ("input[widthof(a.b)] x", s.Port(
            "input", name("x"), s.Width((name("widthof(a.b)"),))
        )),
        ("timer t", s.Timer(name("t"))),
        ("timer t(0)", s.Timer(name("t"), s.Number("0"))),
        ("timer t(p, 1 s)", s.Timer(name("t"), s.ParamRef("p"), s.Time(1, "s"))),
        ("logical action a", s.Action(name("a"), "logical")),
        ("physical action a(0)", s.Action(name("a"), "physical", s.Number("0"))),
        ("action a", s.Action(name("a"))),
        ('logical action a(1 s, 2 s, "drop"): int', s.Action(
            name("a"),
            "logical",
            s.Time(1, "s"),
            s.Time(2, "s"),
            s.String('"drop"'),
            type=s.Type("int"),
        )),
        ("watchdog w(1 s) {= pass =}", s.Watchdog(
            name("w"), s.Time(1, "s"), (), CODE
        )),
        ("watchdog w(1 s) -> a, b {= pass =}", s.Watchdog(
            name("w"), s.Time(1, "s"), (ref("a"), ref("b")), CODE
        )),
        ("c = new C()", s.Instance(name("c"), name("C"))),
        ("c = new[2+n] C<int, T>(p = 1, q = {= pass =}) at h", s.Instance(
            name("c"),
            name("C"),
            (s.Argument(name("p"), s.Number("1")), s.Argument(name("q"), CODE)),
            s.Width((2, name("n"))),
            (s.Type("int"), s.Type("T")),
            s.Host("h"),
        )),
        ("a -> b", s.Connection((ref("a"),), (ref("b"),))),
        ("a.x, b.x ~> c.y, d", s.Connection(
            (ref("a.x"), ref("b.x")), (ref("c.y"), ref("d")), is_physical=True
        )),
        ("(a.x, b.x)+ -> c.y", s.Connection(
            (ref("a.x"), ref("b.x")), (ref("c.y"),), broadcast=True
        )),
        ("(a.x)+->c.y", s.Connection((ref("a.x"),), (ref("c.y"),), broadcast=True)),
        ("(a.x, b.x) -> c.y", s.Connection(
            (ref("a.x"), ref("b.x")), (ref("c.y"),)
        )),
        ("interleaved(a.x) -> interleaved(b), c as d", s.Connection(
            (s.Ref(name("x"), name("a"), interleaved=True),),
            (
                s.Ref(name("b"), interleaved=True),
                s.Ref(name("c"), alias=name("d")),
            ),
        )),
        ('@a a.x -> b.y after 0 serializer "proto"', s.Connection(
            (ref("a.x"),),
            (ref("b.y"),),
            after=s.Number("0"),
            serializer=s.String('"proto"'),
            attributes=(s.Attribute(name("a")),),
        )),
        ("reaction() {= pass =}", s.Reaction((), code=CODE)),
        ("reaction {= pass =}", s.Reaction(None, code=CODE)),
        ("reaction n {= pass =}", s.Reaction(None, code=CODE, name=name("n"))),
        ("reaction -> x {= pass =}", s.Reaction(None, (), (ref("x"),), CODE)),
        ("reaction(x)", s.Reaction((ref("x"),))),
        ("mutation(x) {= pass =}", s.Reaction(
            (ref("x"),), code=CODE, keyword="mutation"
        )),
        ("reaction n(startup, shutdown, reset, x, a.b) y, c.d -> z, e.f {= pass =}",
         s.Reaction(
            (
                s.Builtin("startup"),
                s.Builtin("shutdown"),
                s.Builtin("reset"),
                ref("x"),
                ref("a.b"),
            ),
            (ref("y"), ref("c.d")),
            (ref("z"), ref("e.f")),
            CODE,
            name("n"),
        )),
        ("reaction(x) -> reset(M), history(N), O {= pass =}", s.Reaction(
            (ref("x"),),
            (),
            (
                s.ModeChange("reset", name("M")),
                s.ModeChange("history", name("N")),
                ref("O"),
            ),
            CODE,
        )),
        ("reaction(x as y) {= pass =} tardy", s.Reaction(
            (s.Ref(name("x"), alias=name("y")),), code=CODE, tardy=s.Tardy("tardy")
        )),
        ("reaction(x) {= pass =} tardy {= pass =} deadline(p) {= pass =}",
         s.Reaction(
            (ref("x"),),
            code=CODE,
            tardy=s.Tardy("tardy", None, CODE),
            deadline=s.Deadline(s.ParamRef("p"), CODE),
        )),
        ("reaction(x) {= pass =} STAA(1 s) {= pass =}", s.Reaction(
            (ref("x"),), code=CODE, tardy=s.Tardy("STAA", s.Time(1, "s"), CODE)
        )),
        ("reaction(x) {= pass =} STP(0) deadline(1 s)", s.Reaction(
            (ref("x"),),
            code=CODE,
            tardy=s.Tardy("STP", s.Number("0")),
            deadline=s.Deadline(s.Time(1, "s")),
        )),
        ("mode { }", s.Mode(None, ())),
        ("@a initial mode M { state x; reaction(x) -> M {= pass =} }", s.Mode(
            name("M"),
            (s.State(name("x")), s.Reaction((ref("x"),), (), (ref("M"),), CODE)),
            is_initial=True,
            attributes=(s.Attribute(name("a")),),
        )),
        ("@label state x", s.State(
            name("x"), attributes=(s.Attribute(name("label")),)
        )),
        ("@a() @reset(b, 1 s, c = \"d\",) input x", s.Port(
            "input",
            name("x"),
            attributes=(
                s.Attribute(name("a"), ()),
                s.Attribute(name("reset"), (
                    s.AttributeArg(None, s.ParamRef("b")),
                    s.AttributeArg(None, s.Time(1, "s")),
                    s.AttributeArg(name("c"), s.String('"d"')),
                )),
            ),
        )),
    ],
)  # fmt: skip
def test_tree_of_a_member(text: str, tree: s.Member) -> None:
    assert member(text) == tree


def members(text: str) -> list[str]:
    return [type(m).__name__ for m in reactor(f"reactor R {{\n{text}\n}}").members]


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("timer t\n(a.x)+ -> b.y", ["Timer", "Connection"]),
        ("logical action a\n(a.x, interleaved(b.x)) -> b.y", ["Action", "Connection"]),
        ("state x\n(a.x)+ ~> b.y", ["State", "Connection"]),
        ("state x = 5\ns = new R()", ["State", "Instance"]),
        ("state x = 5\ns.out -> t.in", ["State", "Connection"]),
        ("state x = 5 s.out -> t.in", ["State", "Connection"]),
        ("reaction(x)\nc = new C()", ["Reaction", "Instance"]),
        ("reaction(x) -> y\n@a c.x -> d.y", ["Reaction", "Connection"]),
        ("reaction\n(x) -> y {= =}", ["Reaction"]),
        ("reaction n\n(x) -> y {= =}", ["Reaction"]),
        ("a.x -> b.y c.x -> d.y", ["Connection", "Connection"]),
    ],
)
def test_members_are_separated_without_punctuation(text: str, kinds: list[str]) -> None:
    assert members(text) == kinds


def test_members_on_one_line_need_no_separator() -> None:
    assert members("input x output y state z = 5 ms timer t") == [
        "Port", "Port", "State", "Timer",
    ]  # fmt: skip


# -- a file --


def test_tree_of_a_file() -> None:
    tree = file(
        "target Python { timeout: 1 s, }\n"
        'import A, B as C from "x.lf";\n'
        "import D from < my-pkg/File.lf >\n"
        "preamble {= pass =}\n"
        "reactor E {}\n"
        "main reactor {}\n"
    )

    assert tree == s.File(
        s.Target(name("Python"), s.Dict((s.Entry("timeout", s.Time(1, "s")),))),
        (
            s.Import(
                (s.ImportedName(name("A")), s.ImportedName(name("B"), name("C"))),
                s.String('"x.lf"'),
            ),
            s.Import((s.ImportedName(name("D")),), s.Package("my-pkg/File.lf")),
        ),
        (s.Preamble(CODE),),
        (s.Reactor(name("E")), s.Reactor(None, kind="main")),
    )


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("log", s.Path("log")),
        ("GEDF_NP", s.Path("GEDF_NP")),
        ("a/b-c.py", s.Path("a/b-c.py")),
        ("../x.lf", s.Path("../x.lf")),
        ("./x", s.Path("./x")),
        ("/abs/dir/", s.Path("/abs/dir/")),
        ("state", s.Path("state")),
        ("true", s.Bool(value=True)),
        ("forever", s.Time(None, "forever")),
        ("10 ms", s.Time(10, "ms")),
        ("3.10", s.Number("3.10")),
        ("-1", s.Number("-1")),
        ('"x"', s.String('"x"')),
        ("{}", s.Dict(())),
        ("[a, \"b\", 1,]", s.ItemList((s.Path("a"), s.String('"b"'), s.Number("1")))),
        ("[]", s.ItemList(())),
        ("{a-b: 1, \"c d\": [e],}", s.Dict((
            s.Entry("a-b", s.Number("1")),
            s.Entry('"c d"', s.ItemList((s.Path("e"),))),
        ))),
    ],
)  # fmt: skip
def test_tree_of_a_property_value(text: str, value: s.Item) -> None:
    tree = file(f"target Python {{ reactor: {text} }} reactor R {{}}")

    assert tree.target == s.Target(name("Python"), s.Dict((s.Entry("reactor", value),)))


def test_comment_ends_a_property_value() -> None:
    tree = file("target Python {\n a: log// b\n, c: d/* e */, f: g # h\n}")

    assert tree.target is not None
    assert tree.target.properties == s.Dict(
        (
            s.Entry("a", s.Path("log")),
            s.Entry("c", s.Path("d")),
            s.Entry("f", s.Path("g")),
        )
    )


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("reactor R {}", s.Reactor(name("R"))),
        ("reactor R() {}", s.Reactor(name("R"))),
        ("main reactor {}", s.Reactor(None, kind="main")),
        ("federated realtime reactor F {}", s.Reactor(
            name("F"), kind="federated", is_realtime=True
        )),
        ("realtime main reactor {}", s.Reactor(None, kind="main", is_realtime=True)),
        ("@a(1) reactor R<S, T>(p, @b q = 1, r: time = 2 s) at u@h.x:1 extends A, B {}",
         s.Reactor(
            name("R"),
            generics=(name("S"), name("T")),
            params=(
                s.Param(name("p")),
                s.Param(name("q"), s.Number("1"), (s.Attribute(name("b")),)),
                s.Param(name("r"), s.Time(2, "s"), type=s.Type("time")),
            ),
            host=s.Host("u@h.x:1"),
            bases=(name("A"), name("B")),
            attributes=(
                s.Attribute(name("a"), (s.AttributeArg(None, s.Number("1")),)),
            ),
        )),
        ("reactor R at 127.0.0.1 {}", s.Reactor(name("R"), host=s.Host("127.0.0.1"))),
        ("reactor R at [::1]:80 {}", s.Reactor(name("R"), host=s.Host("[::1]:80"))),
        ("reactor R at pi-4.local {}", s.Reactor(
            name("R"), host=s.Host("pi-4.local")
        )),
    ],
)  # fmt: skip
def test_tree_of_a_reactor(text: str, tree: s.Reactor) -> None:
    assert reactor(text) == tree


def test_time_units_can_be_names() -> None:
    tree = reactor("reactor s(ms = 5 ms) { input h; h -> d; min = new us() }")

    assert [m.name.text for m in tree.members if not isinstance(m, s.Connection)] == [
        "h", "min",
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["", " \r\n\t\f", "\ufeff", "// only", "''' a '''"])
def test_text_without_tokens_is_an_empty_file(text: str) -> None:
    assert file(text) == s.File()


def test_windows_line_ends_give_the_same_tree() -> None:
    text = "target Python\nreactor R {\n state x = 5 // five\n\n timer t(0, 1\ns)\n}\n"

    tree = file(text.replace("\n", "\r\n"))

    assert tree == file(text)
    assert tree.comments[0].text == "// five"


def test_byte_order_mark_is_skipped() -> None:
    assert file("\ufefftarget Python").target == s.Target(name("Python"))


def test_comments_are_kept_in_order() -> None:
    text = "/* a\n b */ reactor R { // c\n # d }\n state x = '''e''' 1 {= no =}"
    tree, _ = attempt(text)

    assert [c.text for c in tree.comments] == [
        "/* a\n b */",
        "// c",
        "# d }",
        "'''e'''",
    ]
    for comment in tree.comments:
        assert text[comment.span.start : comment.span.end] == comment.text


# -- places --


def spans(text: str) -> dict[str, str]:
    """Return the text of the last node of each type."""
    return {
        type(node).__name__: text[node.span.start : node.span.end]
        for node in nodes(file(text))
    }


def test_span_of_each_node_type() -> None:
    text = (
        'target Python { a: b/c } import A as B from <p/F.lf> import A from "f.lf" ; '
        "@m( q = 3 ) main reactor R(p : int = 1 s) at h:1 extends Q { "
        "reset state x = [1] ; c = new[n + 2] C(p = z) ; "
        "(a.x)+ -> c.y after 'x' ; mutable input[n] i ; timer t(0) ; "
        'logical action d(0, 1 s, "u") ; method f(g : G) {= h =} ; '
        "mode M { reaction(startup) -> reset(M) {= k =} tardy deadline(true) {= =} ; "
        "} ; }"
    )

    found = spans(text)

    assert found["File"] == text
    assert found["Target"] == "target Python { a: b/c }"
    assert found["Dict"] == "{ a: b/c }"
    assert found["Entry"] == "a: b/c"
    assert found["Path"] == "b/c"
    assert found["Package"] == "<p/F.lf>"
    assert found["Import"] == 'import A from "f.lf"'
    assert found["ImportedName"] == "A"
    assert found["Attribute"] == "@m( q = 3 )"
    assert found["AttributeArg"] == "q = 3"
    assert found["Reactor"] == text[text.index("@m") :]
    assert found["Param"] == "p : int = 1 s"
    assert found["Host"] == "h:1"
    assert found["State"] == "reset state x = [1]"
    assert found["List"] == "[1]"
    assert found["Instance"] == "c = new[n + 2] C(p = z)"
    assert found["Argument"] == "p = z"
    assert found["ParamRef"] == "z"
    assert found["Connection"] == "(a.x)+ -> c.y after 'x'"
    assert found["Ref"] == "c.y"
    assert found["Char"] == "'x'"
    assert found["Port"] == "mutable input[n] i"
    assert found["Width"] == "[n]"
    assert found["Timer"] == "timer t(0)"
    assert found["Action"] == 'logical action d(0, 1 s, "u")'
    assert found["Time"] == "1 s"
    assert found["String"] == '"u"'
    assert found["Method"] == "method f(g : G) {= h =}"
    assert found["MethodParam"] == "g : G"
    assert found["Type"] == "int"
    assert found["Mode"] == text[text.index("mode M") : -4]
    assert found["Reaction"] == text[text.index("reaction(") : -8]
    assert found["Builtin"] == "startup"
    assert found["ModeChange"] == "reset(M)"
    assert found["Tardy"] == "tardy"
    assert found["Deadline"] == "deadline(true) {= =}"
    assert found["Bool"] == "true"
    assert found["Code"] == "{= =}"
    assert found["Name"] == "q"


def test_span_of_a_property_key() -> None:
    text = 'target Python { "a b" : 1 }'
    tree = file(text)

    assert tree.target is not None
    assert tree.target.properties is not None
    key = tree.target.properties.entries[0].key_span
    assert text[key.start : key.end] == '"a b"'


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_spans_of_children_are_within_the_parents_span(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    tree, _ = attempt(text)

    for node in nodes(tree):
        inner: list[Any] = [n for n in nodes(node) if n is not node]
        for child in inner:
            if not isinstance(child, s.Comment):
                assert node.span.start <= child.span.start
                assert child.span.end <= node.span.end
        if isinstance(node, s.Name):
            assert text[node.span.start : node.span.end] == node.text


def test_threads_can_parse_concurrently() -> None:
    texts = [
        "\n".join(f"reactor R{n}_{k} {{ state x = {n} }}" for k in range(50))
        for n in range(8)
    ]
    alone = [file(text) for text in texts]

    with ThreadPoolExecutor(8) as threads:
        together = list(threads.map(file, texts))

    assert together == alone
