# SPDX-License-Identifier: Apache-2.0
"""A number for property_dict.lf."""

SEVEN = 7
