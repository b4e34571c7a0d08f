# SPDX-License-Identifier: Apache-2.0
"""Fixtures and settings for all tests."""

from hypothesis import settings

from tests.browser import browser_page, chromium

__all__ = ["browser_page", "chromium"]

# Tests do not depend on how fast the machine is.
settings.register_profile("reactorl", deadline=None)
settings.load_profile("reactorl")
