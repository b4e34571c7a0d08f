# SPDX-License-Identifier: Apache-2.0
"""Names that code blocks can use at run time: ``lf``, ``self``, tags, trace points."""
