# SPDX-License-Identifier: Apache-2.0
"""Suggestions for names that do not exist."""

from reactorl._util.suggestions import LONGEST_NAME, closest, did_you_mean


def test_similar_name_is_suggested() -> None:
    assert closest("sensr", ["motor", "sensor"]) == "sensor"
    assert did_you_mean("sensr", {"motor", "sensor"}) == "Did you mean 'sensor'?"


def test_nothing_is_suggested_for_an_unlike_name() -> None:
    assert closest("xyz", ["motor", "sensor"]) == ""
    assert did_you_mean("xyz", ["motor", "sensor"]) == ""


def test_cutoff_is_the_required_similarity() -> None:
    assert closest("sec", ["s", "msec"], cutoff=0.9) == ""
    assert closest("sec", ["s", "msec"], cutoff=0.5) == "msec"


def test_suggestion_does_not_depend_on_the_order_of_names() -> None:
    assert closest("ab", ["aa", "bb"]) == closest("ab", ["bb", "aa"])


def test_very_long_names_get_no_suggestion() -> None:
    name = "a" * (LONGEST_NAME + 1)

    assert closest(name, [name]) == ""
