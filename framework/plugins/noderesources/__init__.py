"""NodeResourcesFit and NodeResourcesBalancedAllocation: what fits, and where it fits best."""

from __future__ import annotations

from framework.plugins.noderesources.balanced import NodeResourcesBalancedAllocation
from framework.plugins.noderesources.fit import NodeResourcesFit

__all__ = ["NodeResourcesBalancedAllocation", "NodeResourcesFit"]
