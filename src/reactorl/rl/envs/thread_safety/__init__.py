# SPDX-License-Identifier: Apache-2.0
"""Whether environments may run concurrently in one process."""
