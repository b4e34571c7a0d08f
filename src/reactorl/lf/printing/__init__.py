# SPDX-License-Identifier: Apache-2.0
"""The parts of the printer: what it puts, where comments go, how lines are made.

tree ──members, expressions──> pieces ──comments──> pieces ──layout──> text
"""
