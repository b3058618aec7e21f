"""NodeVolumeLimits: how many volumes a node's CSI drivers can attach."""

from __future__ import annotations

from framework.plugins.nodevolumelimits.plugin import NodeVolumeLimits

__all__ = ["NodeVolumeLimits"]
