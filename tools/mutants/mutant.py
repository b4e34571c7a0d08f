# SPDX-License-Identifier: Apache-2.0
"""The form of an entry in the list of mutants."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

CPP: Final = "cpp/"
CPP_TESTS: Final = CPP + "test/"


@dataclass(frozen=True, slots=True)
class Mutant:
    """A change of one place that makes the code wrong."""

    name: str
    """The area of the code and what is wrong."""
    file: str
    """Path from the root of the project."""
    before: str
    """Text that occurs once in the file."""
    after: str
    tests: tuple[str, ...]
    """Test files, or tests, that are run with it: of Python, or all of ``cpp/test``."""
    why: str
    """What users would suffer from if no test noticed."""
    argument: str = ""
    """Why it may survive: no test can notice it, or only one that takes too long."""

    @property
    def area(self) -> str:
        """The part of the code that it changes."""
        return self.name.partition("-")[0]

    @property
    def has_cpp_tests(self) -> bool:
        """Whether its tests are those of the C++ core."""
        return all(test.startswith(CPP_TESTS) for test in self.tests)

    @property
    def needs_extension(self) -> bool:
        """Whether extension modules must be built with it."""
        return self.file.startswith(CPP) and not self.has_cpp_tests
