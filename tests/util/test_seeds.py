# SPDX-License-Identifier: Apache-2.0
"""Seeds depend only on the run's seed and the full name of a reactor."""

from reactorl._util.seeds import derive, numpy_stream, python_stream


def test_seed_depends_on_the_whole_name() -> None:
    seeds = {derive(1, name) for name in ("main.a.x", "main.b.x", "main.a", "main.x")}

    assert len(seeds) == 4


def test_seed_depends_on_the_seed_of_the_run() -> None:
    assert derive(1, "main.a") != derive(2, "main.a")
    assert derive(1, "1") != derive(11, "")


def test_equal_seeds_give_equal_streams() -> None:
    seed = derive(1, "main.a")

    assert python_stream(seed).random() == python_stream(seed).random()
    assert numpy_stream(seed).random() == numpy_stream(seed).random()
