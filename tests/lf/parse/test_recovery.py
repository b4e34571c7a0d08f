# SPDX-License-Identifier: Apache-2.0
"""Syntax errors have specific messages, and parsing continues after them."""

from __future__ import annotations

import pytest

from reactorl.lf.parse import syntax as s
from reactorl.lf.parse.parser import MOST_ERRORS, MOST_SKIPPED
from tests.lf.parsing import attempt, name, problems


def in_reactor(text: str) -> list[str]:
    """Return the errors of members, which are on line 1."""
    tree, found = attempt(f"reactor R {{ {text}\n}} reactor Next {{ }}")
    # Whatever is wrong, the next reactor is there.
    assert [r.name for r in tree.reactors] == [name("R"), name("Next")]
    return found


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("input", "1:13: expected a name or '[' after 'input', found '}'"),
        ("input = 5", "1:19: expected a name or '[' after 'input', found '='"),
        ("input[n x", "1:21: expected ']' after 'n', found 'x'"),
        ("input[n-1] x",
         "1:20: expected '+' or ']' after 'n', found -1 "
         "| A width must be a number, a parameter, or a sum of these."),
        ("input int x",
         "1:19: expected one name, found 'int x' "
         "| The Python target has no types. Write: input x"),
        ("output state", "1:20: 'state' is a keyword and cannot be a name"),
        ("state x 5", "1:21: expected '=' after 'x', found 5"),
        ("state x = ;", "1:23: expected a value after '=', found ';'"),
        ("state x = [1, 2;", "1:28: expected ']' after 2, found ';'"),
        ("state x(0)", "1:20: an initial value must be given with '=' | Write: = 0"),
        ("state x{1, 2}",
         "1:20: an initial value must be given with '=' | Write: = [1, 2]"),
        ("timer t(0, 5 msc)",
         "1:24: unknown time unit 'msc' | Did you mean 'msec'?"),
        ("timer t(0, 1 s", "1:24: expected ')' after 1 s, found '}'"),
        ("timer t()", "1:21: expected a value after '(', found ')'"),
        ("action", "1:13: expected a name after 'action', found '}'"),
        ("logical a", "1:21: expected 'action' after 'logical', found 'a'"),
        ("c = C()",
         "1:17: expected 'new' after '=', found 'C' "
         "| Write an instance as: name = new C()"),
        ("c = new C",
         "1:21: missing parentheses after 'C' | Write: c = new C()"),
        ("c = new C(5)",
         "1:23: an argument must have the form 'parameter = value' "
         "| Write: parameter = 5"),
        ("a.x b.y",
         "1:17: expected '->' after 'x', found 'b' "
         "| Write a connection as: a.out -> b.in"),
        ("a.x => b.y", "1:17: '=>' is not an LF arrow | Write '->'."),
        ("a.x -> ", "1:17: expected a name or 'interleaved' after '->', found '}'"),
        ("a.x -> b.y after", "1:24: expected a value after 'after', found '}'"),
        ("a.x = b.y",
         "1:17: expected ',', '->' or '~>' after 'x', found '=' "
         "| Connect ports with '->'; write an instance as: name = new R()"),
        ("reaction(a b) {= =}", "1:24: expected ',' after 'a', found 'b'"),
        ("reaction(a -> b {= =}", "1:24: expected ')' after 'a', found '->'"),
        ("reaction(a) -> {= =}",
         "1:28: expected a name, 'history', 'interleaved' or 'reset' after '->', "
         "found a code block"),
        ("reaction(a) -> b { b.set('}') }",
         "1:30: a code block must begin with '{=', got '{' | Write {= ... =}"),
        ("reaction(a): b.set(1)",
         "1:24: expected '->' or '{=' after ')', found ':' "
         "| Write the body between {= and =}"),
        ("method f(a)",
         "1:23: expected '{=' after ')', found '}' | Write the body as {= ... =}"),
        ("reaction(a) {= =} deadline {= =}",
         "1:40: expected '(' after 'deadline', found a code block"),
        ("reaction(a) {= =} deadline(0) {= =} tardy {= =}",
         "1:49: expected '}' or a member of the reactor after a code block, "
         "found 'tardy' | Write 'tardy' after the body and before 'deadline'."),
        ("def f(self): pass",
         "1:13: 'def' is Python, not LF "
         "| Write a method as: method name(a, b) {= ... =}"),
        ("import os",
         "1:13: 'import' inside of a reactor | Move it to the top of the "
         "file. Write Python imports in a preamble: preamble {= import a =}"),
        ("$ state x", "1:13: unexpected '$'"),
        ("state x = 'abc'",
         "1:23: single quotes must contain exactly one character "
         '| Use double quotes: "abc".'),
        ("x =} -> z",
         "1:15: '=}' without a matching '{=' | Write code blocks as {= ... =}"),
        ("5", "1:13: expected '}' or a member of the reactor after '{', found 5"),
    ],
)  # fmt: skip
def test_error_in_a_member(text: str, problem: str) -> None:
    assert in_reactor(text) == [problem]


def test_misspelt_keyword_gets_a_suggestion() -> None:
    assert in_reactor("\n inptu x\n state y") == [
        "2:2: unknown keyword 'inptu' | Did you mean 'input'?"
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("recator A { }", ["1:1: unknown keyword 'recator' | Did you mean 'reactor'?"]),
        ("reactor A { } }", ["1:15: '}' without a matching '{'"]),
        ("reaction(x) {= =}",
         ["1:1: 'reaction' outside of a reactor "
          "| Move it into a reactor."]),
        ('reactor A { }\nimport B from "b.lf"',
         ["2:1: imports must come before reactors | A file consists of the target, "
          "imports, preambles and reactors, in this order."]),
        ("preamble {= =}\ntarget Python",
         ["2:1: the target declaration must come before preambles | A file consists of "
          "the target, imports, preambles and reactors, in this order."]),
        ("target Python\ntarget Python",
         ["2:1: a file must have only one target declaration"]),
        ("import numpy as np\nreactor A { }",
         ["1:17: expected ',' or 'from' after 'np', found 'reactor' | Import reactors "
          'from files: import R from "file.lf". Write Python imports in a preamble: '
          "preamble {= import a =}"]),
        ("from a import b\nreactor A { }",
         ["1:1: 'from' is Python, not LF | Write Python imports in a preamble: "
          "preamble {= from a import b =}"]),
        ("class A:\n  pass",
         ["1:1: 'class' is Python, not LF | Write a reactor as: reactor Name { ... }"]),
        ("reactor A {", ["1:11: this '{' is not closed | Add the missing '}'."]),
        ("reactor A {\n state x\nreactor B { }",
         ["1:11: this '{' is not closed | Add the missing '}'."]),
        ("reactor A {\n state x\n@label\nmain reactor B { }",
         ["1:11: this '{' is not closed | Add the missing '}'."]),
        ("reactor A {\n mode M {\n state x\nreactor B { }",
         ["1:11: this '{' is not closed | Add the missing '}'.",
          "2:9: this '{' is not closed | Add the missing '}'."]),
        ("reactor A { reaction(a", ["1:21: this '(' is not closed"]),
        ("reactor A { state x = [1,", ["1:23: this '[' is not closed"]),
        ("reactor A { input",
         ["1:13: expected a name or '[' after 'input', found the end of the file"]),
        ("reactor A {\n state x /* no end\n}",
         ["2:10: this comment is not closed | End it with */"]),
        ("main main reactor A { }", ["1:6: unexpected modifier 'main'"]),
        ("main federated reactor A { }", ["1:6: unexpected modifier 'federated'"]),
        ("reactor A(p 5) { }", ["1:13: expected '=' after 'p', found 5"]),
        ("reactor A(p q) { }", ["1:13: expected ',' after 'p', found 'q'"]),
        ("target Python { a 5, b: , c: [1, d: 2 } reactor R { }",
         ["1:19: expected ':' after 'a', found 5",
          "1:25: expected a value after ':', found ','",
          "1:35: expected ',' or ']' after 'd', found ':'"]),
        ("target Python {\n a: 5\nreactor R { }",
         ["1:15: this '{' is not closed | Add the missing '}'."]),
        ("target Python {\n a:\nreactor R { }",
         ["1:15: this '{' is not closed | Add the missing '}'.",
          "2:3: expected a value after ':', found 'reactor'"]),
        ("target { a: 5 }", ["1:8: expected a name after 'target', found '{'"]),
        ("5", ["1:1: expected 'import', 'preamble' or a reactor, found 5"]),
    ],
)  # fmt: skip
def test_error_in_a_file(text: str, found: list[str]) -> None:
    assert problems(text) == found


def test_errors_are_reported_in_order_and_the_rest_is_parsed() -> None:
    tree, found = attempt(
        "target Python { timeout: }\n"
        "reactor A(p = ) {\n"
        "  input\n"
        "  output y\n"
        "  timer t(0, 5 msc)\n"
        "  reaction(t -> y {= pass =}\n"
        "  state x(0)\n"
        "}\n"
        "reactor B {\n"
        "  a = new A(\n"
        "  mode M {\n"
        "    state = 3\n"
        "    state s = 4\n"
        "  }\n"
        "}\n"
    )

    assert found == [
        "1:26: expected a value after ':', found '}'",
        "2:15: expected a value after '=', found ')'",
        "3:3: expected a name or '[' after 'input', found 'output'",
        "5:14: unknown time unit 'msc' | Did you mean 'msec'?",
        "6:14: expected ')' after 't', found '->'",
        "7:10: an initial value must be given with '=' | Write: = 0",
        "10:12: expected ')' after '(', found 'mode'",
        "12:11: expected a name after 'state', found '='",
    ]
    first, second = tree.reactors
    assert first.members == (
        s.Port("output", name("y")),
        s.Timer(name("t"), s.Number("0"), s.Time(5, "msec")),
        s.Reaction((s.Ref(name("t")),), (), (s.Ref(name("y")),), s.Code(" pass ")),
        s.State(name("x"), s.Number("0")),
    )
    assert second.members == (
        s.Instance(name("a"), name("A")),
        s.Mode(name("M"), (s.State(name("s"), s.Number("4")),)),
    )


def test_reactor_with_an_error_in_its_head_keeps_name_and_members() -> None:
    tree, found = attempt("@a main reactor A(p = = 1) { state x }")

    assert found == ["1:23: expected a value after '=', found '='"]
    assert tree.reactors == (
        s.Reactor(
            name("A"),
            (s.State(name("x")),),
            kind="main",
            attributes=(s.Attribute(name("a")),),
        ),
    )


def test_error_does_not_discard_the_complete_member_before_it() -> None:
    tree, found = attempt("reactor A { timer t 5\n state x = 1 ? 2\n input y }")

    assert len(found) == 3
    assert [type(m).__name__ for m in tree.reactors[0].members] == [
        "Timer", "State", "Port",
    ]  # fmt: skip


def test_messages_do_not_contain_names_of_terminals() -> None:
    internal = ["$END", "NAME", "INT", "TIME", "WORD", "LEFT", "CODE", "HOST", "_"]
    texts = [
        f"{start} {word}"
        for start in (
            "", "target", "target P {", "import", "import A from", "reactor",
            "reactor A (", "reactor A at", "reactor A extends", "reactor A {",
            "reactor A { @a(", "reactor A { input[", "reactor A { x: y",
            "reactor A { c = new C<", "reactor A { a.b ->", "reactor A { a",
            "reactor A { reaction", "reactor A { reaction(a", "reactor A { timer t(",
            "reactor A { reaction(a) -> reset", "reactor A { state x = [",
            "reactor A { mode", "reactor A { method f(", "reactor A { action a(0",
        )
        for word in ("", "5", "{", "}", ")", "=", '"s"', "reactor", "state", "->")
    ]  # fmt: skip

    for text in texts:
        for problem in problems(text):
            assert not any(word in problem for word in internal), (text, problem)


def test_rest_of_file_is_skipped_after_many_errors() -> None:
    found = problems("reactor A {\n" + "input\n" * 100 + "}")

    assert len(found) == MOST_ERRORS + 1
    assert found[-1] == "51:1: more than 50 errors: the rest of the file is skipped"


def test_rest_of_file_is_skipped_after_many_unexpected_tokens() -> None:
    tree, found = attempt("reactor A { } 5" + " x" * MOST_SKIPPED + "\nreactor B { }")

    assert [problem.partition(": ")[2] for problem in found] == [
        "expected 'import', 'preamble' or a reactor after '}', found 5 x",
        "20000 unexpected tokens in a row: the rest of the file is skipped",
    ]
    assert tree.reactors == (s.Reactor(name("A")),)


@pytest.mark.parametrize("bracket", ["[", "(", "{", "{ a:", "@a(", "a<", "mode M {"])
def test_deep_nesting_is_an_error(bracket: str) -> None:
    for start in ("", "reactor A { ", "reactor A { state x = ", "target Python { a: "):
        tree, found = attempt(start + bracket * 3000)

        assert found
        assert repr(tree)
        assert hash(tree) == hash(tree)


def test_number_with_too_many_digits_is_an_error() -> None:
    digits = "9" * 5000

    assert problems(f"reactor A {{ input[{digits}] x; timer t({digits} s) }}") == [
        "1:19: a number must have at most 300 digits, got 5000",
        "1:5032: a number must have at most 300 digits, got 5000",
    ]
