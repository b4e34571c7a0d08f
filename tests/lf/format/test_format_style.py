# SPDX-License-Identifier: Apache-2.0
"""What formatted programs look like."""

from __future__ import annotations

from textwrap import dedent

import pytest

from tests.lf.format.test_format import formatted
from tests.lf.format.test_round_trip import read


def check(source: str, expected: str) -> None:
    """Assert the form of a text, and that it is final."""
    expected = dedent(expected).lstrip("\n")
    assert formatted(dedent(source)) == expected
    assert formatted(expected) == expected


def test_one_member_per_line_with_canonical_spaces() -> None:
    check(
        """
        target   Python{timeout:5ms,fast:true}
        import A,B as C from"x.lf"
        reactor R(a=1,b={=f( )=})extends A,C{input[2+n]x;output y
        logical   action a(0,1 s,"drop");timer t(0,5sec)
        reset state s=[1,[2,],];reaction(x,t)s->y,reset(M){=pass=}deadline(1ms){= =}
        c=new[4]R(a=-2)at host:80;(c.x,interleaved(c.y))+->x after 0;initial mode M{}}
        """,
        """
        target Python {timeout: 5 ms, fast: true}

        import A, B as C from "x.lf"

        reactor R(a = 1, b = {= f( ) =}) extends A, C {
          input[2 + n] x
          output y
          logical action a(0, 1 s, "drop")
          timer t(0, 5 sec)
          reset state s = [1, [2]]
          reaction(x, t) s -> y, reset(M) {= pass =} deadline(1 ms) {= =}
          c = new[4] R(a = -2) at host:80
          (c.x, interleaved(c.y))+ -> x after 0
          initial mode M {
          }
        }
        """,
    )


def test_spelling_of_literals_is_kept() -> None:
    check(
        """
        target Python
        realtime main reactor { state a = True
        state b = false
        timer t(007msecs, 1 minute) }
        """,
        """
        target Python

        realtime main reactor {
          state a = True
          state b = false
          timer t(007 msecs, 1 minute)
        }
        """,
    )


def test_list_with_a_line_break_after_its_bracket_has_one_item_per_line() -> None:
    check(
        """
        target Python {
        keepalive: true, files: ["a.py",
           "b.py"],
        }
        reactor R(
           // the first
           a = 1, b = 2 // the second
           ) {
        }
        """,
        """
        target Python {
          keepalive: true,
          files: ["a.py", "b.py"]
        }

        reactor R(
          // the first
          a = 1,
          b = 2  // the second
        ) {
        }
        """,
    )


def test_long_signatures_break_after_commas() -> None:
    names = ", ".join(f"quite_a_long_name_{n}" for n in range(6))

    result = formatted(f"reactor R {{ reaction({names}) -> out {{=\n pass\n=}} }}")

    assert result == (
        "reactor R {\n"
        "  reaction(quite_a_long_name_0, quite_a_long_name_1, quite_a_long_name_2,"
        " quite_a_long_name_3,\n"
        "      quite_a_long_name_4, quite_a_long_name_5) -> out {=\n"
        "    pass\n"
        "  =}\n"
        "}\n"
    )
    assert max(map(len, result.split("\n"))) <= 100


def test_code_blocks_are_indented_as_a_whole() -> None:
    check(
        """
        reactor R {
          reaction(x) {=
                if x:
                    print("}")

                # done
              =}
          method f(a) {= y = a
              return y =}
        }
        """,
        """
        reactor R {
          reaction(x) {=
            if x:
                print("}")

            # done
          =}
          method f(a) {=
            y = a
            return y
          =}
        }
        """,
    )


@pytest.mark.parametrize(
    "code",
    [
        '\n       s = """\n   a\n    b\n  """\n  ',
        "\n      s = '''\n\n  x'''\n",
        '\n      s = "a\\\n   b"\n      ',
        "\n\tif x:\n        y = 1\n",
        "\n   unfinished = '''\n",
    ],
)
def test_code_whose_meaning_depends_on_indentation_is_not_moved(code: str) -> None:
    text = f"reactor R {{\n  preamble {{={code}=}}\n}}\n"

    tree, report = read(text)

    assert not report.failed
    assert formatted(text) == text
    assert read(formatted(text))[0] == tree


def test_comments_stay_at_their_tokens() -> None:
    check(
        """
        // head

        /* before target */ target Python // behind


        # before R
        reactor R { // opening

          // first


          // second
          input a // behind a

          /* two
             lines */
          input b
          state l = [1, // one
            /* two */ 2
            // three
            , 3]
          reaction(a) /* in */ -> b // before code
          {= =}
          // last

        }
        reactor Empty {
        ''' nothing
              here '''
        }   // behind
        // end
        """,
        """
        // head

        /* before target */ target Python  // behind

        # before R
        reactor R {  // opening
          // first

          // second
          input a  // behind a

          /* two
             lines */
          input b
          state l = [1,  // one
              /* two */ 2,
              // three
              3]
          reaction(a) /* in */ -> b  // before code
              {= =}
          // last
        }

        reactor Empty {
          ''' nothing
                here '''
        }  // behind
        // end
        """,
    )


def test_commas_and_braces_come_before_a_comment_at_the_line_end() -> None:
    check(
        """
        reactor R(a = 1 // why
            , b = 2) // who
        {
        }
        """,
        """
        reactor R(a = 1,  // why
            b = 2) {  // who
        }
        """,
    )


def test_line_ends_are_kept_and_one_is_added_at_the_end() -> None:
    assert formatted("target Python\r\nreactor R {\r\n}") == (
        "target Python\r\n\r\nreactor R {\r\n}\r\n"
    )
    assert formatted("target Python\nreactor R {\r\n}") == (
        "target Python\n\nreactor R {\n}\n"
    )


def test_file_of_comments() -> None:
    assert formatted("\n\n  // nothing yet  \n\n\n# more") == (
        "// nothing yet\n\n# more\n"
    )


def test_comment_before_an_item_in_braces() -> None:
    check(
        """
        target Python {
          a: [
            1, /* one */ {}]
        }
        """,
        """
        target Python {
          a: [
            1, /* one */
            {}
          ]
        }
        """,
    )
