# SPDX-License-Identifier: Apache-2.0
"""How each engine trains: ``run(request, referee)``, in its own environment."""
