"""The engine's version: it changes whenever the same journal may lead to other decisions or another digest, and
whenever a class that a checkpoint pickles has another name or place.
"""

from __future__ import annotations

from typing import Final

ENGINE_VERSION: Final = "28"
