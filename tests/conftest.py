# SPDX-License-Identifier: Apache-2.0
"""Fixtures and settings for all tests."""

import signal

from hypothesis import settings

from tests.browser import browser_page, chromium

__all__ = ["browser_page", "chromium"]

# Tests do not depend on how fast the machine is.
settings.register_profile("reactorl", deadline=None)
settings.load_profile("reactorl")

# Tests send these to themselves and to processes that they start. A shell lets its
# background jobs ignore SIGINT, and nohup SIGHUP; programs inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
