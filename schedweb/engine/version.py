"""The engine's version: it changes whenever the same journal may lead to other decisions or another digest."""

from __future__ import annotations

from typing import Final

ENGINE_VERSION: Final = "18"
