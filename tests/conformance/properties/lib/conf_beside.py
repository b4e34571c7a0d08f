# SPDX-License-Identifier: Apache-2.0
"""A module that only the imported file mentions, for files_of_imported.lf."""

TEXT = "beside the imported file"
