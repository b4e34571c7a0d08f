# SPDX-License-Identifier: Apache-2.0
"""Texts fall into words; what a word is depends on its place."""

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
def test_words(text: str, expected: list[tuple[str, str]]) -> None:
    assert words(text) == expected


def test_parenthesis_on_a_new_line_may_begin_a_connection() -> None:
    assert kinds("x\n(a.b, interleaved(c.d))+")[1] == "LEFT"
    assert kinds("x\n(a.b)\n->")[1] == "LEFT"
    assert kinds("x (a.b)+")[1] == "("
    assert kinds("x\n(a.b)")[1] == "("
    assert kinds("reaction\n(a.b) ->")[1] == "("
    assert kinds("reaction n\n(a.b) ->")[2] == "("


def test_property_list_that_is_left_open_ends_at_a_reactor() -> None:
    text = "target Python {\n a: b\nmain reactor {"

    assert kinds(text)[-3:] == ["main", "reactor", "{"]


def test_property_may_be_called_like_a_word_of_lf() -> None:
    text = "target Python {\nreactor: main,\nmain : reactor\n}"

    assert kinds(text)[3:] == ["WORD", ":", "WORD", ",", "WORD", ":", "WORD", "}"]


@pytest.mark.parametrize(
    ("text", "what", "advice"),
    [
        ("5 msc", "'msc' is not a unit of time", "Did you mean 'msec'?"),
        ("5 MS", "'MS' is not a unit of time", "Did you mean 'ms'?"),
        ("5 m", "'m' is not a unit of time", "Did you mean 'min'?"),
        ("5 µs", "'µs' is not a unit of time", "Did you mean 'us'?"),
        ("5 parsecs", "'parsecs' is not a unit of time", "Did you mean 'secs'?"),
        ("5 xyz", "'xyz' is not a unit of time",
         "Units are: ns, us, ms, s, min, h, d, wk."),
        ("1.5 s", "a time needs a whole number, not 1.5",
         "Use a smaller unit, e.g. 1500 ms for 1.5 s."),
        ("-1 s", "a time cannot be negative", ""),
        ("9" * 301, "a number of 301 digits is too long", ""),
        ("'ab'", "single quotes hold exactly one character",
         'Use double quotes: "ab".'),
        ("''", "single quotes hold exactly one character", 'Use double quotes: "".'),
        ("'a", "this quote has no partner on its line",
         'Strings are written "like this".'),
        ('"a', "this string is not closed",
         'Strings end on their line; those between """ and """ may be longer.'),
        ('"a\\"', "this string is not closed",
         'Strings end on their line; those between """ and """ may be longer.'),
        ('"""a', "this string is not closed",
         'Strings end on their line; those between """ and """ may be longer.'),
        ("/* a", "this comment is not closed", "End it with */"),
        ("''' a", "this comment is not closed", "End it with '''"),
        ("=}", "'=}' closes nothing", "A code block is written {= ... =}"),
        ("größe", "'größe' is not a name",
         "Names consist of letters from a to z and A to Z, digits and _."),
        ("$%", "'$%' means nothing here", ""),
        ("`x", "'`' means nothing here", 'Did you mean "?'),
        ("- 5", "'-' means nothing here",
         "A minus sign stands directly before its number."),
        ("\0", "the character U+0000 means nothing here", ""),
        ("\u00a0x", "the character U+00A0 means nothing here", "Did you mean a blank?"),
        ("=>", "'=>' is not an arrow of LF", "Write '->'."),
        ("-->", "'-->' is not an arrow of LF", "Write '->'."),
        ("\u2192", "'\u2192' is not an arrow of LF", "Write '->'."),
        ("[" * (DEEPEST + 1), "brackets are nested more than 100 deep", ""),
    ],
)  # fmt: skip
def test_what_is_wrong_travels_with_the_word(text: str, what: str, advice: str) -> None:
    problems = [token.problem for token in tokens(text) if token.problem]

    assert problems[0] == (what, advice)


def test_first_word_of_a_line_knows_it() -> None:
    found = [(t.text, t.first) for t in tokens("a b\n c /* \n */ d // e\n f")]

    assert found == [("a", True), ("b", False), ("c", True), ("d", True), ("f", True)]


def test_after_the_end_comes_the_end() -> None:
    lexer = Lexer("a")

    assert [lexer.next().kind for _ in range(3)] == ["NAME", END, END]
