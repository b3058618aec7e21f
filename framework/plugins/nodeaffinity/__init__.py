"""NodeAffinity: node selectors and node affinity."""

from __future__ import annotations

from framework.plugins.nodeaffinity.plugin import NodeAffinity

__all__ = ["NodeAffinity"]
