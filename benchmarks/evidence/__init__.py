# SPDX-License-Identifier: Apache-2.0
"""The evidence: ReactoRL beside Ray and today's peers, in one run. See README.md."""
