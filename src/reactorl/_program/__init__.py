# SPDX-License-Identifier: Apache-2.0
"""Elaboration: from declarations to one frozen Program, and its analyses."""
