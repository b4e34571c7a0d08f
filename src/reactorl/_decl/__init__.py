# SPDX-License-Identifier: Apache-2.0
"""What a reactor class says. Nothing here runs; elaboration turns it into a Program."""
