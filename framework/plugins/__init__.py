"""The built-in plugins, one module or folder each. They know nothing of each other; ``registry`` lists them all."""

from __future__ import annotations
