"""What replicas do not share stands in two places of their spec: their node, and the volume with their token."""

from __future__ import annotations

import re
from typing import Final

PLACEHOLDER: Final = "kube-api-access-*****"
"""Stands for the name of the token's volume; no object may be called so."""
PLACE: Final = PLACEHOLDER.encode()
MARK: Final = b"kube-api-access-"
TOKEN: Final = re.compile(MARK + rb"[a-z0-9]{5}(?![a-z0-9-])")
_NODE_KEY: Final = b'"nodeName"'
_NODE: Final = re.compile(rb'"nodeName"\s*:\s*"([-a-z0-9.]+)"')


def with_gaps(spec: bytes) -> tuple[bytes, str, str]:
    """(the text without the node's name and with PLACEHOLDER, the node, the token's name), as they seem to be."""
    node = token = ""
    if (at := spec.find(_NODE_KEY)) >= 0 and (found := _NODE.match(spec, at)) is not None:
        node = found[1].decode()
        spec = spec[: found.start(1)] + spec[found.end(1) :]
    if (at := spec.find(MARK)) >= 0 and (found := TOKEN.match(spec, at)) is not None and spec.find(PLACE, at) < 0:
        token = found[0].decode()
        spec = spec.replace(found[0], PLACE)
    return spec, node, token
