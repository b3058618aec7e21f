"""A stand-in for kube-apiserver 1.36, as far as a scheduler and its readers go: see server.py and decision 0021."""

from __future__ import annotations

from tests.apiserver.server import ApiServer

__all__ = ["ApiServer"]
