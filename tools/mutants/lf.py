# SPDX-License-Identifier: Apache-2.0
"""Mutants of the LF front end."""

from __future__ import annotations

from typing import Final

from mutants.mutant import Mutant

_LF: Final = "src/reactorl/lf/"
_PRINTS: Final = (
    "tests/conformance/test_conformance.py::test_program_prints_the_expected_output"
)
_GOLDEN: Final = ("tests/lf/link/test_golden_diagnostics.py",)
_CODE_BLOCK: Final = ("tests/lf/parse/test_code_block.py",)
_PYTHON_BLOCK: Final = ("tests/lf/parse/test_python_block.py",)

LF: Final = (
    Mutant(
        "lf-list-is-a-constant",
        _LF + "lower/values.py",
        "return not isinstance(expr, syntax.Code | syntax.List)",
        "return not isinstance(expr, syntax.Code)",
        (
            "tests/conformance/test_conformance.py::test_program_prints_the_expected_"
            "output[classes/lists_belong_to_one_instance]",
        ),
        "Members of a bank share a list parameter.",
    ),
    Mutant(
        "lf-long-times-overflow",
        _LF + "parse/time_units.py",
        "return max(NEVER, min(length, FOREVER))",
        "return max(NEVER, length)",
        ("tests/lf/link", "tests/lf/parse"),
        "A time beyond forever is not a valid duration.",
    ),
    Mutant(
        "lf-plain-name-before-the-hidden-parameter",
        _LF + "lower/values.py",
        "return params[hidden] if hidden in params else params[name]",
        "return params[name] if name in params else params[hidden]",
        (
            "tests/conformance/test_conformance.py::test_program_prints_the_expected_"
            "output[classes/main_parameters]",
        ),
        "A parameter of the main reactor has another one's value.",
    ),
    Mutant(
        "lf-port-is-twice-on-the-right",
        _LF + "link/rules/connections.py",
        "if key_of(ref) in seen:",
        "if key_of(ref) in set():",
        _GOLDEN,
        "A connection drives a port twice.",
    ),
    Mutant(
        "lf-interleaved-needs-a-bank-or-a-multiport",
        _LF + "link/rules/connections.py",
        "(meaning.is_bank and meaning.is_multiport)",
        "(meaning.is_bank or meaning.is_multiport)",
        _GOLDEN,
        "interleaved is silently without effect.",
    ),
    Mutant(
        "lf-negative-widths-are-accepted",
        _LF + "link/rules/widths.py",
        "            if term < 0:",
        "            if term < -1:",
        _GOLDEN,
        "A diagnostic appears at run time only.",
    ),
    Mutant(
        "lf-width-may-have-a-default-of-any-kind",
        _LF + "link/rules/widths.py",
        "usable = int(default.text) >= 0",
        "usable = int(default.text) >= -9",
        _GOLDEN,
        "A diagnostic appears at run time only.",
    ),
    Mutant(
        "lf-delay-may-be-never",
        _LF + "link/rules/times.py",
        'if value.unit == "never":',
        'if value.unit == "nie":',
        _GOLDEN,
        "A delay is negative.",
    ),
    Mutant(
        "lf-writers-in-one-mode-do-not-conflict",
        _LF + "link/rules/writers.py",
        "        and one.part.mode is not other.part.mode\n",
        "",
        _GOLDEN,
        "A port has two drivers at the same tag.",
    ),
    Mutant(
        "lf-reaction-and-connection-do-not-conflict",
        _LF + "link/rules/writers.py",
        "(one.connection is not None or other.connection is not None)",
        "(one.connection is not None and other.connection is not None)",
        _GOLDEN,
        "A port has two drivers at the same tag.",
    ),
    Mutant(
        "lf-physical-connections-share-a-port",
        _LF + "link/rules/writers.py",
        "    if connection.is_physical:",
        "    if connection.is_physical is None:",
        _GOLDEN,
        "A connection in a mode is not physical.",
    ),
    Mutant(
        "lf-entry-by-history-counts-as-reset",
        _LF + "link/rules/modes.py",
        'if effect.transition == "reset":',
        'if effect.transition != "reset":',
        _GOLDEN,
        "A warning about state comes for the wrong mode.",
    ),
    Mutant(
        "lf-hours-are-minutes",
        _LF + "parse/time_units.py",
        '(3_600 * _SECOND, "h hour hours")',
        '(60 * _SECOND, "h hour hours")',
        (f"{_PRINTS}[literals/units]",),
        "A timer fires sixty times as often.",
    ),
    Mutant(
        "lf-sum-of-a-width-is-its-last-term",
        _LF + "lower/values.py",
        "total += value",
        "total = value",
        (f"{_PRINTS}[multiports/width_is_a_sum]",),
        "A multiport has the wrong width.",
    ),
    Mutant(
        "lf-cycles-are-shown-too-long",
        _LF + "link/cycles.py",
        "len(path) - at)",
        "len(path) + 1)",
        (
            "tests/lf/link/test_golden_diagnostics.py",
            "tests/lf/link/test_resolve.py",
        ),
        "The text of a cycle ends with dots.",
    ),
    Mutant(
        "lf-bank-index-has-its-default",
        _LF + "lower/composition.py",
        '                and (p != "bank_index" or p in given)\n',
        "",
        (
            f"{_PRINTS}[classes/bank_index_nested]",
            f"{_PRINTS}[banks/bank_index]",
        ),
        "All members of a bank have the same index.",
    ),
    Mutant(
        "lf-arguments-are-those-of-the-first-member",
        _LF + "lower/composition.py",
        "(lambda i: arguments(i, constant=False))",
        "(lambda i: arguments(0 * i, constant=False))",
        (
            f"{_PRINTS}[classes/arguments_are_evaluated_per_member]",
            f"{_PRINTS}[banks/arguments_per_member]",
        ),
        "All members of a bank have the same arguments.",
    ),
    Mutant(
        "lf-connections-in-modes-are-always-active",
        _LF + "lower/composition.py",
        "shell.__dict__[mode] if mode else nullcontext(),",
        "nullcontext(),",
        (
            f"{_PRINTS}[modes/connections_sharing_a_destination]",
            f"{_PRINTS}[modes/outputs_of_modes]",
        ),
        "Values pass through connections of inactive modes.",
    ),
    Mutant(
        "lf-reset-state-keeps-its-value",
        _LF + "lower/state.py",
        "if name in given:",
        "if name in given and me is None:",
        (f"{_PRINTS}[modes/reset_state]",),
        "reset state is not reset.",
    ),
    Mutant(
        "lf-mark-in-a-comment-ends-the-block",
        _LF + "parse/code_block.py",
        "(not after[1] or after[1] in KEYWORDS)",
        "(not after[1] or after[1])",
        _CODE_BLOCK,
        "A comment in a body breaks the file.",
    ),
    Mutant(
        "lf-doubled-brace-in-a-format-is-literal",
        _LF + "parse/code_block.py",
        'elif stop == "{" or (stop == "{{" and inside == ":"):',
        'elif stop == "{":',
        _CODE_BLOCK,
        "A body with nested f-strings breaks the file.",
    ),
    Mutant(
        "lf-unclosed-block-ends-at-any-word",
        _LF + "parse/code_block.py",
        "if not match or (match[1] and match[1] not in _LF_WORDS):",
        "if not match:",
        (
            "tests/lf/parse/test_code_block.py",
            "tests/lf/parse/test_recovery.py",
        ),
        "The error for an unclosed block is at the wrong line.",
    ),
    Mutant(
        "lf-first-line-that-opens-a-block-has-no-body",
        _LF + "parse/python_block.py",
        'extra = "    " if _opens_a_block(first) else ""',
        'extra = ""',
        _PYTHON_BLOCK,
        "A body that begins with `if x:` is a syntax error.",
    ),
    Mutant(
        "lf-columns-of-indented-lines-are-shifted",
        _LF + "parse/python_block.py",
        "offsets[n] += cut - len(extra)",
        "offsets[n] += cut",
        _PYTHON_BLOCK,
        "Errors in bodies point to the wrong column.",
    ),
    Mutant(
        "lf-comment-hides-the-colon-of-a-first-line",
        _LF + "parse/python_block.py",
        'line.split(" #")[0].rstrip()',
        "line.rstrip()",
        _PYTHON_BLOCK,
        "A comment after `if x:` makes a body a syntax error.",
    ),
    Mutant(
        "lf-check-keeps-references-to-removed-members",
        _LF + "link/prune.py",
        "if all(map(exists, refs(p.member)))",
        "if any(map(exists, refs(p.member)))",
        ("tests/lf/test_check.py",),
        "One mistake is reported several times.",
    ),
    Mutant(
        "lf-check-uses-defaults-that-are-wrong",
        _LF + "link/prune.py",
        "param if is_correct(param) else replace(param, default=unknown)",
        "param if is_correct(param) or True else replace(param, default=unknown)",
        ("tests/lf/test_check.py",),
        "One mistake is reported several times.",
    ),
    Mutant(
        "lf-words-of-properties-are-case-sensitive",
        _LF + "link/property_kinds.py",
        "text.casefold() in folded",
        "text in folded",
        ("tests/lf/link/test_properties.py",),
        "A valid target property is rejected.",
    ),
    Mutant(
        "lf-zero-is-no-count",
        _LF + "link/property_kinds.py",
        "return number is not None and number >= 0",
        "return number is not None and number > 0",
        ("tests/lf/link/test_properties.py",),
        "`workers: 0` is rejected.",
    ),
)
