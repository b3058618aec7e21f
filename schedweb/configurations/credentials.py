"""Configurations without what gives access to their extenders, for whoever may read but not edit them."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any, Final

from framework.configuration.source import Node, read_source
from framework.reading.addresses import OF_EXTENDERS, text_without_credentials
from schedweb.accounts.roles import Role, role_of

NO_KEY: Final = "Kioq"
"""``***`` in base64, as keys are."""


def text_for(user: Any, text: str) -> str:
    """A configuration that was stored: as it is for editors, else without users, passwords, query values and keys."""
    role = role_of(user)
    return text if role is not None and role >= Role.EDITOR else without_credentials(text)


@lru_cache(maxsize=64)
def without_credentials(text: str) -> str:
    """``text``: a configuration without errors. Lines stay where they are; comments lose what URLs in them have."""
    hidden: dict[str, str] = {}
    spans: dict[tuple[int, int], str] = {}
    extenders = read_source(text).root.get("extenders")
    for extender in [] if extenders is None else extenders.items:
        for node, value in _hidden_fields(extender):
            spans[node.start, node.end] = value
            hidden[node.value] = value
    # From the end, so that what stands before stays where it is.
    for (start, end), value in sorted(spans.items(), reverse=True):
        text = f"{text[:start]}{json.dumps(value)}{text[end:]}"
    # What an alias or a comment repeats.
    for secret, value in hidden.items():
        text = text.replace(secret, value)
    return text_without_credentials(text)


def _hidden_fields(extender: Node) -> list[tuple[Node, str]]:
    """The scalars that have something to hide, with what is shown instead."""
    found = []
    for name, hide in OF_EXTENDERS.items():
        node = extender.get(name)
        if node is not None and isinstance(node.value, str) and (shown := hide(node.value)) != node.value:
            found.append((node, shown))
    tls = extender.get("tlsConfig")
    key = None if tls is None else tls.get("keyData")
    if key is not None and key.value:
        found.append((key, NO_KEY))
    return found
