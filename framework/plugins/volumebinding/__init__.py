"""VolumeBinding: matches a pod's claims with volumes, and binds them before the pod."""

from __future__ import annotations

from framework.plugins.volumebinding.plugin import VolumeBinding

__all__ = ["VolumeBinding"]
