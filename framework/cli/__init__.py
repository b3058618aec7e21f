"""The framework's commands: ``decide`` and ``simulate``. The only part of it that touches files and processes."""

from __future__ import annotations
