# SPDX-License-Identifier: Apache-2.0
"""How fast ``.lf`` programs start, how their size counts, and how fast they run.

``python -m benchmarks.lf --gil PYTHON --ft PYTHON`` measures it and says whether the
front end keeps what it promises.
"""
