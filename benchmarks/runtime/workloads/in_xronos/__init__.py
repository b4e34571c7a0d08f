# SPDX-License-Identifier: Apache-2.0
"""The workloads as Xronos programs."""
