# SPDX-License-Identifier: Apache-2.0
"""From declarations to one frozen Program, and what can be computed from it."""
