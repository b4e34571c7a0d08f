# SPDX-License-Identifier: Apache-2.0
"""How fast the runtime is, beside plain Python and other runtimes.

``python -m benchmarks.runtime --gil PYTHON --ft PYTHON`` measures every workload with
every engine and says whether the runtime keeps what it promises.
"""
