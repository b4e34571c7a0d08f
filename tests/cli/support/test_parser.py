# SPDX-License-Identifier: Apache-2.0
"""Wrong arguments: a usage line, an error, and a suggestion."""

from __future__ import annotations

import pytest

from reactorl.cli.main import main


@pytest.mark.parametrize(
    ("args", "what", "help"),
    [
        (["chekc"], "reactorl: error: unknown command 'chekc'", "'check'"),
        (["xyz"], "reactorl: error: unknown command 'xyz'", "reactorl --help"),
        (["--versio"], "reactorl: error: unknown option '--versio'", "--version"),
        (
            ["fmt", "no.lf", "--dif"],
            "reactorl fmt: error: unknown option '--dif'",
            "'--diff'",
        ),
        (["run", "no.lf", "--sede=1"], "reactorl run: error: ", "'--seed'"),
        (["runs", "--q"], "unknown option '--q'", "reactorl runs --help"),
        (
            ["train", "--total-timesteps", "9", "ppo"],
            "reactorl train: error: unknown option '--total-timesteps'",
            "Flags of an algorithm follow its name, as in 'reactorl train ppo --seed",
        ),
    ],
)
def test_similar_names_are_suggested(
    args: list[str], what: str, help: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(args)

    usage, error, remedy = capsys.readouterr().err.splitlines()
    assert exit_.value.code == 2
    assert usage.startswith("usage: reactorl")
    assert what in error
    assert remedy.startswith("  help: ")
    assert help in remedy


def test_usage_line_has_no_options(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["run", "a.lf", "b.lf"])

    assert capsys.readouterr().err == (
        "usage: reactorl run [options] FILE.lf\n"
        "reactorl run: error: unexpected argument 'b.lf'\n"
    )


def test_options_cannot_be_abbreviated() -> None:
    with pytest.raises(SystemExit) as exit_:
        main(["fmt", "--che", "x.lf"])
    assert exit_.value.code == 2
