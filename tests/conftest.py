# SPDX-License-Identifier: Apache-2.0
"""Fixtures for all tests."""

from tests.browser import browser_page, chromium

__all__ = ["browser_page", "chromium"]
