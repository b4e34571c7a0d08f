# SPDX-License-Identifier: Apache-2.0
"""The lexer splits a text into tokens, some of which depend on the context."""

from __future__ import annotations

import pytest

from reactorl.lf.parse.keywords import END
from reactorl.lf.parse.lexer import DEEPEST, Lexer, Token


def tokens(text: str) -> list[Token]:
    lexer = Lexer(text)
    found = [lexer.next()]
    while found[-1].kind != END:
        found.append(lexer.next())
    return found[:-1]


def words(text: str) -> list[tuple[str, str]]:
    return [(token.kind, token.text) for token in tokens(text)]


def kinds(text: str) -> list[str]:
    return [token.kind for token in tokens(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("reactor R", [("reactor", "reactor"), ("NAME", "R")]),
        ("-> ~> :: ;;; +", [
            ("->", "->"), ("~>", "~>"), ("::", "::"), (";", ";;;"), ("+", "+")
        ]),
        ("(n+2)", [("(", "("), ("NAME", "n"), ("+", "+"), ("INT", "2"), (")", ")")]),
        ("= +2", [("=", "="), ("INT", "+2")]),
        ("x-2", [("NAME", "x"), ("INT", "-2")]),
        ("1e3 1.5", [("FLOAT", "1e3"), ("FLOAT", "1.5")]),
        ("5 after", [("INT", "5"), ("after", "after")]),
        ("5 x = 3", [("INT", "5"), ("NAME", "x"), ("=", "="), ("INT", "3")]),
        ("5 ms", [("TIME", "5 ms")]),
        ("5\nms", [("TIME", "5\nms")]),
        ("5\nms -> x", [("INT", "5"), ("NAME", "ms"), ("->", "->"), ("NAME", "x")]),
        ("(5\nms = x", [
            ("(", "("), ("TIME", "5\nms"), ("=", "="), ("NAME", "x")
        ]),
        ("5\nfoo", [("INT", "5"), ("NAME", "foo")]),
        ("x = new", [("NEW_NAME", "x"), ("=", "="), ("new", "new")]),
        ("@state", [("@", "@"), ("NAME", "state")]),
        ("a.state", [("NAME", "a"), (".", "."), ("NAME", "state")]),
        ("a.\nstate", [("NAME", "a"), (".", "."), ("state", "state")]),
        ("at a-b.c:1 {", [("at", "at"), ("HOST", "a-b.c:1"), ("{", "{")]),
        ("at // x\n u@[::1]:1", [("at", "at"), ("HOST", "u@[::1]:1")]),
        ("from < p/F.lf >", [("from", "from"), ("PACKAGE", "p/F.lf")]),
        ("a < b >", [("NAME", "a"), ("<", "<"), ("NAME", "b"), (">", ">")]),
        ("{= a =} b", [("CODE", " a "), ("NAME", "b")]),
        ("'''x''' 'y' \"z\"", [("CHAR", "'y'"), ("STRING", '"z"')]),
        ("target Python {a-b: c/d} a", [
            ("target", "target"), ("NAME", "Python"), ("{", "{"), ("WORD", "a-b"),
            (":", ":"), ("WORD", "c/d"), ("}", "}"), ("NAME", "a"),
        ]),
    ],
)  # fmt: skip
def test_kinds_and_texts_of_tokens(text: str, expected: list[tuple[str, str]]) -> None:
    assert words(text) == expected


def test_parenthesis_on_a_new_line_may_begin_a_connection() -> None:
    assert kinds("x\n(a.b, interleaved(c.d))+")[1] == "LEFT"
    assert kinds("x\n(a.b)\n->")[1] == "LEFT"
    assert kinds("x (a.b)+")[1] == "("
    assert kinds("x\n(a.b)")[1] == "("
    assert kinds("reaction\n(a.b) ->")[1] == "("
    assert kinds("reaction n\n(a.b) ->")[2] == "("


def test_unclosed_property_list_ends_at_the_next_reactor() -> None:
    text = "target Python {\n a: b\nmain reactor {"

    assert kinds(text)[-3:] == ["main", "reactor", "{"]


def test_keyword_can_be_the_name_of_a_property() -> None:
    text = "target Python {\nreactor: main,\nmain : reactor\n}"

    assert kinds(text)[3:] == ["WORD", ":", "WORD", ",", "WORD", ":", "WORD", "}"]


@pytest.mark.parametrize(
    ("text", "what", "advice"),
    [
        ("5 msc", "unknown time unit 'msc'", "Did you mean 'msec'?"),
        ("5 MS", "unknown time unit 'MS'", "Did you mean 'ms'?"),
        ("5 m", "unknown time unit 'm'", "Did you mean 'min'?"),
        ("5 µs", "unknown time unit 'µs'", "Did you mean 'us'?"),
        ("5 parsecs", "unknown time unit 'parsecs'", "Did you mean 'secs'?"),
        ("5 xyz", "unknown time unit 'xyz'",
         "Time units are ns, us, ms, s, min, h, d and wk."),
        ("1.5 s", "the number of a time must be an integer, got 1.5",
         "Use a smaller unit, e.g. 1500 ms for 1.5 s."),
        ("-1 s", "a time must not be negative, got -1 s", ""),
        ("9" * 301, "a number must have at most 300 digits, got 301", ""),
        ("'ab'", "single quotes must contain exactly one character",
         'Use double quotes: "ab".'),
        ("''", "single quotes must contain exactly one character",
         'Use double quotes: "".'),
        ("'a", "this quote is not closed",
         'Write strings in double quotes: "text".'),
        ('"a', "this string is not closed",
         'A string must end on its line; use """...""" for several lines.'),
        ('"a\\"', "this string is not closed",
         'A string must end on its line; use """...""" for several lines.'),
        ('"""a', "this string is not closed",
         'A string must end on its line; use """...""" for several lines.'),
        ("/* a", "this comment is not closed", "End it with */"),
        ("''' a", "this comment is not closed", "End it with '''"),
        ("=}", "'=}' without a matching '{='", "Write code blocks as {= ... =}"),
        ("größe", "'größe' is not a valid name",
         "Names consist of the letters a to z and A to Z, digits and _."),
        ("$%", "unexpected '$%'", ""),
        ("`x", "unexpected '`'", 'Did you mean "?'),
        ("- 5", "unexpected '-'",
         "A minus sign must directly precede its number."),
        ("\0", "unexpected character U+0000", ""),
        ("\u00a0x", "unexpected character U+00A0", "Did you mean a space?"),
        ("=>", "'=>' is not an LF arrow", "Write '->'."),
        ("-->", "'-->' is not an LF arrow", "Write '->'."),
        ("\u2192", "'\u2192' is not an LF arrow", "Write '->'."),
        ("[" * (DEEPEST + 1), "brackets must be nested at most 100 deep", ""),
    ],
)  # fmt: skip
def test_lexical_error_is_stored_in_token(text: str, what: str, advice: str) -> None:
    problems = [token.problem for token in tokens(text) if token.problem]

    assert problems[0] == (what, advice)


def test_first_is_set_for_the_first_token_of_a_line() -> None:
    found = [(t.text, t.first) for t in tokens("a b\n c /* \n */ d // e\n f")]

    assert found == [("a", True), ("b", False), ("c", True), ("d", True), ("f", True)]


def test_end_token_is_repeated() -> None:
    lexer = Lexer("a")

    assert [lexer.next().kind for _ in range(3)] == ["NAME", END, END]
