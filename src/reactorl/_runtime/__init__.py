# SPDX-License-Identifier: Apache-2.0
"""Running programs; the only importer of the compiled core."""
