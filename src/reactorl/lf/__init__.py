# SPDX-License-Identifier: Apache-2.0
"""Lingua Franca programs of the Python target: read, checked, run; no Java, no build.

    text ──parse──> syntax ──resolve──> library ──lower──> reactor classes ──> Program

Every stage notes what is wrong in a ``Report`` and goes on, so that one look shows
everything. What comes out is ordinary reactor classes: from there on an LF program
and one that was written in Python are the same thing.
"""
