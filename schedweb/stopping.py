"""Whether this process was told to end. Who waits for something, or works for long, looks, and leaves it to others."""

from __future__ import annotations

import threading
from typing import Final

STOPPING: Final = threading.Event()
