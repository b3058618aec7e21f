"""HTTP extenders without HTTP: what is sent to them, and what their answers mean (docs/semantics/extenders.md).

Who sends it is not known here. A cycle asks (``Request``), somebody answers (``Answer``), and the cycle goes on.
"""

from __future__ import annotations

from framework.extenders.exchange import Answer, Request, Verb
from framework.extenders.extender import (
    EXTENDER,
    Entry,
    Extender,
    ExtenderError,
    Filtered,
    Prioritized,
    configured_verb,
    made_of,
    url_of,
)

__all__ = [
    "EXTENDER",
    "Answer",
    "Entry",
    "Extender",
    "ExtenderError",
    "Filtered",
    "Prioritized",
    "Request",
    "Verb",
    "configured_verb",
    "made_of",
    "url_of",
]
