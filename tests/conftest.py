# SPDX-License-Identifier: Apache-2.0
"""Fixtures and settings for all tests."""

import os
import signal

import pytest
from hypothesis import settings

from tests.browser import browser_page, chromium
from tests.jax_cache import IGNORED, share_compiled_programs

__all__ = ["browser_page", "chromium"]

# Tests do not depend on how fast the machine is.
settings.register_profile("reactorl", deadline=None)
settings.load_profile("reactorl")

# Tests send these to themselves and to processes that they start. A shell lets its
# background jobs ignore SIGINT, and nohup SIGHUP; programs inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

share_compiled_programs(os.environ)


def pytest_configure(config: pytest.Config) -> None:
    """Add settings that belong to those above."""
    config.addinivalue_line("filterwarnings", IGNORED)
